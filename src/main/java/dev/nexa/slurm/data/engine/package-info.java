/** DuckDB, embedded: how it is loaded, what it may use, and how its results become files. */
@NullMarked
package dev.nexa.slurm.data.engine;

import org.jspecify.annotations.NullMarked;
