/** Files that are never half-written: atomic write, exclusive claim, lock, append; and JSON. */
@NullMarked
package dev.nexa.slurm.files;

import org.jspecify.annotations.NullMarked;
