/** The documents that follow from a run's journal and from accounting: manifest and cost file. */
@NullMarked
package dev.nexa.slurm.records.documents;

import org.jspecify.annotations.NullMarked;
