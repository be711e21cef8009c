/** What the report holds: sums, runs, pipelines and releases, read from the workspace. */
@NullMarked
package dev.nexa.slurm.insight.report;

import org.jspecify.annotations.NullMarked;
