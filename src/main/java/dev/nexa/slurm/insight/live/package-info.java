/** The present state of runs and pipelines, for the views that are refreshed. */
@NullMarked
package dev.nexa.slurm.insight.live;

import org.jspecify.annotations.NullMarked;
