/**
 * Reads the YAML files that a user writes. A package below has the records of each kind of file:
 * runs, sites, steps of data stages, pipelines, the files of other tools.
 */
package dev.nexa.slurm.job.config;
