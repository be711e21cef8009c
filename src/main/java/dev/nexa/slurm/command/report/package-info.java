/** {@code report}: one HTML file about the workspace. */
@NullMarked
package dev.nexa.slurm.command.report;

import org.jspecify.annotations.NullMarked;
