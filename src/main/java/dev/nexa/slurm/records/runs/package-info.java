/**
 * The workspace and its runs: run folders, journals, stored plans and scripts, and names on storage
 * tiers.
 */
package dev.nexa.slurm.records.runs;
