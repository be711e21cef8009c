/** What runs inside the allocation; found through ServiceLoader. */
@NullMarked
package dev.nexa.slurm.backend;

import org.jspecify.annotations.NullMarked;
