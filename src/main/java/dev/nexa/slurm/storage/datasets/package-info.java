/** The registry of datasets: its versions, the checksums of their files. */
@NullMarked
package dev.nexa.slurm.storage.datasets;

import org.jspecify.annotations.NullMarked;
