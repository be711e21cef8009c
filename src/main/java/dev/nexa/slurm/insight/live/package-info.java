/** Runs and pipelines as they are at this moment, for the views that are refreshed. */
@NullMarked
package dev.nexa.slurm.insight.live;

import org.jspecify.annotations.NullMarked;
