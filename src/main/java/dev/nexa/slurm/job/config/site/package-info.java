/**
 * The files of a site: cluster profiles, policies, price books, the GPU catalog, failure
 * signatures.
 */
@NullMarked
package dev.nexa.slurm.job.config.site;

import org.jspecify.annotations.NullMarked;
