/**
 * The files of a site: cluster profiles, policies, price books, the GPU catalog, failure
 * signatures.
 */
package dev.nexa.slurm.job.config.site;
