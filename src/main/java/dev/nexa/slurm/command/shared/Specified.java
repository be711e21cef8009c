package dev.nexa.slurm.command.shared;

import picocli.CommandLine.Model.CommandSpec;

/**
 * A command of the command line.
 *
 * <p>This is an interface, so that the JVM's verifier need not load every command class (15
 * classes, 5 ms of {@code java -jar}).
 */
public interface Specified {
  /** Returns the command as picocli's model. */
  CommandSpec spec();
}
