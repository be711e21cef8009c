/** DuckDB, embedded: how it is loaded, what it may use, and how its results become files. */
package dev.nexa.slurm.data.engine;
