package dev.nexa.slurm.command;

import dev.nexa.slurm.command.approvals.ApprovalsCommand;
import dev.nexa.slurm.command.approvals.ApproveCommand;
import dev.nexa.slurm.command.approvals.PolicyCommand;
import dev.nexa.slurm.command.costs.CostsCommand;
import dev.nexa.slurm.command.costs.PricesCommand;
import dev.nexa.slurm.command.cron.CronCommand;
import dev.nexa.slurm.command.data.DataCommand;
import dev.nexa.slurm.command.datasets.DatasetsCommand;
import dev.nexa.slurm.command.datasets.LineageCommand;
import dev.nexa.slurm.command.evals.EvalCommand;
import dev.nexa.slurm.command.jobs.CancelCommand;
import dev.nexa.slurm.command.jobs.EstimateCommand;
import dev.nexa.slurm.command.jobs.InterruptCommand;
import dev.nexa.slurm.command.jobs.LogsCommand;
import dev.nexa.slurm.command.jobs.PostmortemCommand;
import dev.nexa.slurm.command.jobs.RenderCommand;
import dev.nexa.slurm.command.jobs.RerunCommand;
import dev.nexa.slurm.command.jobs.ShellCommand;
import dev.nexa.slurm.command.jobs.StatusCommand;
import dev.nexa.slurm.command.jobs.SubmitCommand;
import dev.nexa.slurm.command.jobs.WhyCommand;
import dev.nexa.slurm.command.monitor.MonitorCommand;
import dev.nexa.slurm.command.nodes.DiagCommand;
import dev.nexa.slurm.command.notify.NotifyCommand;
import dev.nexa.slurm.command.pipeline.PipelineCommand;
import dev.nexa.slurm.command.records.AuditCommand;
import dev.nexa.slurm.command.records.LookCommand;
import dev.nexa.slurm.command.records.ReconcileCommand;
import dev.nexa.slurm.command.records.RunsCommand;
import dev.nexa.slurm.command.records.SummaryCommand;
import dev.nexa.slurm.command.records.UsageCommand;
import dev.nexa.slurm.command.releases.HaltCommand;
import dev.nexa.slurm.command.releases.HaltCommand.UnhaltCommand;
import dev.nexa.slurm.command.releases.ReleaseCommand;
import dev.nexa.slurm.command.report.ReportCommand;
import dev.nexa.slurm.command.serve.ServeCommand;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.RootCommand;
import dev.nexa.slurm.command.shared.Specified;
import dev.nexa.slurm.command.shared.UsageErrors;
import dev.nexa.slurm.command.storage.ArchiveCommand;
import dev.nexa.slurm.command.storage.CleanupCommand;
import dev.nexa.slurm.command.storage.StorageCommand;
import dev.nexa.slurm.command.storage.SyncCommand;
import dev.nexa.slurm.command.workspace.BootstrapCommand;
import dev.nexa.slurm.command.workspace.CompletionCommand;
import dev.nexa.slurm.command.workspace.ExplainCommand;
import dev.nexa.slurm.command.workspace.InitCommand;
import dev.nexa.slurm.command.workspace.ManCommand;
import dev.nexa.slurm.command.workspace.doctor.DoctorCommand;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;

/**
 * All commands of the program. Only the command on the command line is loaded, so that it starts
 * quickly.
 */
public final class Commands {
  private Commands() {}

  /**
   * Returns the arguments with {@code help COMMAND} written as {@code COMMAND --help}, as git and
   * docker take it. An unknown COMMAND stays alone, so that the error suggests a name. The words
   * after {@code submit --as-sbatch} are options of sbatch.
   */
  static String[] plain(String[] args) {
    List<String> words = new ArrayList<>(List.of(args));
    int sbatch = words.indexOf("--as-sbatch");
    int submit = words.indexOf("submit");
    if (submit >= 0 && submit < sbatch && !words.subList(0, sbatch).contains("--")) {
      words.addAll(sbatch + 1, List.of("--", "sbatch"));
      return words.toArray(String[]::new);
    }
    if (args.length == 0 || !args[0].equals("help")) {
      return args;
    }
    if (args.length > 1
        && !RootCommand.NAMES.contains(args[1])
        && !List.of("generate-completion", "generate-man").contains(args[1])) {
      return Arrays.copyOfRange(args, 1, args.length);
    }
    String[] asked = Arrays.copyOfRange(args, 1, args.length + 1);
    asked[args.length - 1] = "--help";
    return asked;
  }

  private static Specified command(String name) {
    return switch (name) {
      case "look" -> new LookCommand();
      case "submit" -> new SubmitCommand();
      case "estimate" -> new EstimateCommand();
      case "approve" -> new ApproveCommand();
      case "approvals" -> new ApprovalsCommand();
      case "render" -> new RenderCommand();
      case "status" -> new StatusCommand();
      case "logs" -> new LogsCommand();
      case "why" -> new WhyCommand();
      case "summary" -> new SummaryCommand();
      case "monitor" -> new MonitorCommand();
      case "postmortem" -> new PostmortemCommand();
      case "shell" -> new ShellCommand();
      case "cancel" -> new CancelCommand();
      case "interrupt" -> new InterruptCommand();
      case "rerun" -> new RerunCommand();
      case "reconcile" -> new ReconcileCommand();
      case "audit" -> new AuditCommand();
      case "cron" -> new CronCommand();
      case "notify" -> new NotifyCommand();
      case "runs" -> new RunsCommand();
      case "usage" -> new UsageCommand();
      case "costs" -> new CostsCommand();
      case "report" -> new ReportCommand();
      case "prices" -> new PricesCommand();
      case "policy" -> new PolicyCommand();
      case "serve" -> new ServeCommand();
      case "pipeline" -> new PipelineCommand();
      case "data" -> new DataCommand();
      case "eval" -> new EvalCommand();
      case "datasets" -> new DatasetsCommand();
      case "lineage" -> new LineageCommand();
      case "release" -> new ReleaseCommand();
      case "storage" -> new StorageCommand();
      case "cleanup" -> new CleanupCommand();
      case "archive" -> new ArchiveCommand();
      case "sync" -> new SyncCommand();
      case "halt" -> new HaltCommand();
      case "unhalt" -> new UnhaltCommand();
      case "doctor" -> new DoctorCommand();
      case "diag" -> new DiagCommand();
      case "init" -> new InitCommand();
      case "bootstrap" -> new BootstrapCommand();
      case "explain" -> new ExplainCommand();
      default -> throw new IllegalArgumentException("no command " + name);
    };
  }

  /**
   * Returns the parser for these arguments.
   *
   * @param here the folder in which the user typed the command
   * @param keyboard where answers to questions come from; null if nobody can be asked
   */
  public static CommandLine commandLine(
      String[] args, Map<String, String> environment, Path here, @Nullable InputStream keyboard) {
    CommandLine root = new CommandLine(new RootCommand(environment, here, keyboard).spec());
    String first = args.length == 0 ? "" : args[0];
    if (RootCommand.NAMES.contains(first)) {
      root.addSubcommand(first, command(first).spec());
    } else if (!first.equals("--version") && !first.equals("-V")) {
      RootCommand.NAMES.forEach(name -> root.addSubcommand(name, command(name).spec()));
      root.addSubcommand("generate-completion", new CompletionCommand().spec());
      root.addSubcommand("generate-man", new ManCommand().spec());
    }
    return root.setExecutionExceptionHandler(new Failures())
        .setParameterExceptionHandler(new UsageErrors())
        .setUsageHelpAutoWidth(true);
  }
}
