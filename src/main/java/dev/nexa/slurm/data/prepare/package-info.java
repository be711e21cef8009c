/** {@code data prepare}: raw files become a clean dataset (docs/data.md). */
@NullMarked
package dev.nexa.slurm.data.prepare;

import org.jspecify.annotations.NullMarked;
