package dev.nexa.slurm.cli;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Supplier;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;

/**
 * Every command. Only the one that was asked for is loaded: reading all of their annotations costs
 * 50 ms.
 */
final class Commands {
  private static final Map<String, Supplier<Object>> COMMANDS = commands();

  private Commands() {}

  private static Map<String, Supplier<Object>> commands() {
    Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
    commands.put("submit", SubmitCommand::new);
    commands.put("estimate", EstimateCommand::new);
    commands.put("render", RenderCommand::new);
    commands.put("status", StatusCommand::new);
    commands.put("logs", LogsCommand::new);
    commands.put("cancel", CancelCommand::new);
    commands.put("reconcile", ReconcileCommand::new);
    commands.put("runs", RunsCommand::new);
    commands.put("init", InitCommand::new);
    commands.put("generate-completion", GenerateCompletion::new);
    return commands;
  }

  /** The command line for these arguments. */
  static CommandLine commandLine(String[] args, Map<String, String> environment) {
    CommandLine root = new CommandLine(new RootCommand(environment));
    Supplier<Object> asked = args.length == 0 ? null : COMMANDS.get(args[0]);
    if (asked != null && !args[0].equals("generate-completion")) {
      root.addSubcommand(args[0], asked.get());
    } else {
      COMMANDS.forEach((name, command) -> root.addSubcommand(name, command.get()));
    }
    return root.setExecutionExceptionHandler(new Failures())
        .setParameterExceptionHandler(new UsageErrors())
        .setUsageHelpAutoWidth(true);
  }
}
