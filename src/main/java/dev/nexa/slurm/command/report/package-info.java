/** {@code report}: one HTML file about the workspace. */
package dev.nexa.slurm.command.report;
