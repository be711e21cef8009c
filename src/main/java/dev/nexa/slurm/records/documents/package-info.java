/** The documents that follow from a run's journal and from accounting: manifest and cost file. */
package dev.nexa.slurm.records.documents;
