/** Reads YAML files strictly against a schema. Every error names the file, the line and the key. */
package dev.nexa.slurm.job.config.yaml;
