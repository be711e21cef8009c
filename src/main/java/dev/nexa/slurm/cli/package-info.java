/** The command line: translates, and does nothing else. */
@NullMarked
package dev.nexa.slurm.cli;

import org.jspecify.annotations.NullMarked;
