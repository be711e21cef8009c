/** The command line: picocli's commands, by family. No other package uses picocli. */
package dev.nexa.slurm.command;
