/** Filters, groups and adds up finished runs. */
package dev.nexa.slurm.money.summary;
