/** {@code data collect}: answers of a batch are matched with their requests (docs/data.md). */
@NullMarked
package dev.nexa.slurm.data.collect;

import org.jspecify.annotations.NullMarked;
