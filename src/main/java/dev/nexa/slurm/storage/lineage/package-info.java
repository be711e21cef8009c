/** Which runs and datasets were made of which others. */
@NullMarked
package dev.nexa.slurm.storage.lineage;

import org.jspecify.annotations.NullMarked;
