package dev.nexa.slurm.cli;

import java.util.List;
import java.util.Map;
import picocli.AutoComplete.GenerateCompletion;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/** Every command. Only the one that was asked for is loaded, so that it starts quickly. */
final class Commands {
  private static final List<String> NAMES =
      List.of(
          "submit",
          "estimate",
          "approve",
          "approvals",
          "render",
          "status",
          "logs",
          "cancel",
          "interrupt",
          "rerun",
          "reconcile",
          "audit",
          "cron",
          "runs",
          "usage",
          "costs",
          "prices",
          "policy",
          "serve",
          "init");

  private Commands() {}

  /**
   * What {@link #command} gives. An interface, so that the verifier need not load every command to
   * see that it is one: 15 classes, 5 ms of {@code java -jar}.
   */
  interface Specified {
    /** The command as picocli's model. */
    CommandSpec spec();
  }

  private static Specified command(String name) {
    return switch (name) {
      case "submit" -> new SubmitCommand();
      case "estimate" -> new EstimateCommand();
      case "approve" -> new ApproveCommand();
      case "approvals" -> new ApprovalsCommand();
      case "render" -> new RenderCommand();
      case "status" -> new StatusCommand();
      case "logs" -> new LogsCommand();
      case "cancel" -> new CancelCommand();
      case "interrupt" -> new InterruptCommand();
      case "rerun" -> new RerunCommand();
      case "reconcile" -> new ReconcileCommand();
      case "audit" -> new AuditCommand();
      case "cron" -> new CronCommand();
      case "runs" -> new RunsCommand();
      case "usage" -> new UsageCommand();
      case "costs" -> new CostsCommand();
      case "prices" -> new PricesCommand();
      case "policy" -> new PolicyCommand();
      case "serve" -> new ServeCommand();
      case "init" -> new InitCommand();
      default -> throw new IllegalArgumentException("no command " + name);
    };
  }

  /** The command line for these arguments. */
  static CommandLine commandLine(String[] args, Map<String, String> environment) {
    CommandLine root = new CommandLine(new RootCommand(environment).spec());
    String first = args.length == 0 ? "" : args[0];
    if (NAMES.contains(first)) {
      root.addSubcommand(first, command(first).spec());
    } else if (!first.equals("--version") && !first.equals("-V")) {
      for (String name : NAMES) {
        root.addSubcommand(name, command(name).spec());
      }
      root.addSubcommand("generate-completion", new GenerateCompletion());
    }
    return root.setExecutionExceptionHandler(new Failures())
        .setParameterExceptionHandler(new UsageErrors())
        .setUsageHelpAutoWidth(true);
  }
}
