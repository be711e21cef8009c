/** Many files as one tar archive with Zstandard, written and read part by part. */
@NullMarked
package dev.nexa.slurm.storage.bundle;

import org.jspecify.annotations.NullMarked;
