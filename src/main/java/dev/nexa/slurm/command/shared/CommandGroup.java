package dev.nexa.slurm.command.shared;

import picocli.CommandLine.ParameterException;

/** A command that does nothing but lead to its subcommands. */
public abstract class CommandGroup extends Subcommand {
  private final String usage;

  /**
   * Makes the command.
   *
   * @param usage what is said to a person who types no subcommand
   */
  protected CommandGroup(String name, String description, String usage, String... examples) {
    super(name, description, examples);
    this.usage = usage;
  }

  @Override
  public final Integer call() {
    throw new ParameterException(spec().commandLine(), usage);
  }
}
