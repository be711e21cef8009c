/** Strict YAML to records, with every problem of a file told at once. */
@NullMarked
package dev.nexa.slurm.config;

import org.jspecify.annotations.NullMarked;
