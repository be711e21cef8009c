/**
 * Records for each YAML file: a run's config, cluster profile, price book, policy, GPU catalog,
 * dataset registry, and the files of other tools.
 */
@NullMarked
package dev.nexa.slurm.job.config;

import org.jspecify.annotations.NullMarked;
