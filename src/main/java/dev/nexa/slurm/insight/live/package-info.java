/** The present state of runs and pipelines, for the views that are refreshed. */
package dev.nexa.slurm.insight.live;
