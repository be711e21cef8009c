/** The content of the report: sums, runs, pipelines and releases, read from the workspace. */
package dev.nexa.slurm.insight.report;
