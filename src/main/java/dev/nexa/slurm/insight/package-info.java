/** Shows what happened: the report as one HTML file. */
package dev.nexa.slurm.insight;
