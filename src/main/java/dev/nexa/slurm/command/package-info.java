/** The command line: picocli's commands, by family. No other package uses picocli. */
@NullMarked
package dev.nexa.slurm.command;

import org.jspecify.annotations.NullMarked;
