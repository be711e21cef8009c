/** Reads YAML files strictly against a schema. Every error names the file, the line and the key. */
@NullMarked
package dev.nexa.slurm.job.config.yaml;

import org.jspecify.annotations.NullMarked;
