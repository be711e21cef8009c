package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.ListRuns;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.RunsText;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm runs list} and {@code runs show}. */
@Command(
    name = "runs",
    mixinStandardHelpOptions = true,
    description = "Lists the runs of the workspace, or shows one.",
    subcommands = {RunsCommand.ListCommand.class, RunsCommand.ShowCommand.class},
    footerHeading = "%nExamples:%n",
    footer = {"  nexa-slurm runs list", "  nexa-slurm runs show latest"})
final class RunsCommand implements Runnable {
  @Spec private CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "`runs list` or `runs show RUN`");
  }

  /** {@code runs list}. */
  @Command(
      name = "list",
      mixinStandardHelpOptions = true,
      description = "The runs, newest first, as their manifests say.",
      footerHeading = "%nExample:%n",
      footer = "  nexa-slurm runs list --limit 100 --json")
  static final class ListCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Option(
        names = "--limit",
        paramLabel = "N",
        description = "At most so many; ${DEFAULT-VALUE} if not given.")
    private int limit = 20;

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean json;

    @Override
    public Integer call() {
      List<JsonObject> runs = new ListRuns(RootCommand.of(spec).nexa()).newest(limit);
      PrintWriter out = spec.commandLine().getOut();
      out.print(
          json
              ? Json.pretty(new JsonObject().with("schema_version", 1).with("runs", runs))
              : RunsText.of(runs));
      return ExitCode.OK.status();
    }
  }

  /** {@code runs show}. */
  @Command(
      name = "show",
      mixinStandardHelpOptions = true,
      description = "One run's manifest and cost.",
      footerHeading = "%nExample:%n",
      footer = "  nexa-slurm runs show latest")
  static final class ShowCommand implements Callable<Integer> {
    @Spec private CommandSpec spec;

    @Parameters(paramLabel = "RUN", description = "A run id, `latest`, a job id or 12345_7.")
    private String reference = "";

    @Option(names = "--json", description = "Prints one JSON document.")
    private boolean json;

    @Override
    public Integer call() {
      Nexa nexa = RootCommand.of(spec).nexa();
      RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
      JsonObject manifest = Json.parseObject(DurableFiles.read(found.run().manifest()));
      JsonObject cost = Json.parseObject(DurableFiles.read(found.run().cost()));
      PrintWriter out = spec.commandLine().getOut();
      out.print(
          json
              ? Json.pretty(
                  new JsonObject()
                      .with("schema_version", 1)
                      .with("manifest", manifest)
                      .with("cost", cost))
              : RunsText.one(manifest, cost));
      return ExitCode.OK.status();
    }
  }
}
