/** What a person reads: tables and sentences. Pure. */
@NullMarked
package dev.nexa.slurm.report;

import org.jspecify.annotations.NullMarked;
