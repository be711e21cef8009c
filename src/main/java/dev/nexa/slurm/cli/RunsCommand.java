package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.AnalyzeRuns;
import dev.nexa.slurm.app.ListRuns;
import dev.nexa.slurm.app.RecordFile;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.costs.RunAnalysis;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.report.AnalysisText;
import dev.nexa.slurm.report.RunsText;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Function;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;

/**
 * {@code nexa-slurm runs list}, {@code runs show}, {@code runs analyze}, and the import's parent.
 */
final class RunsCommand extends Subcommand {
  RunsCommand() {
    super(
        "runs",
        "Lists the runs of the workspace, shows one, or says how they went.",
        "nexa-slurm runs list",
        "nexa-slurm runs show latest",
        "nexa-slurm runs analyze --by model");
    spec().addSubcommand("list", new ListCommand().spec());
    spec().addSubcommand("show", new ShowCommand().spec());
    spec().addSubcommand("import", new RunsImportCommand().spec());
    spec().addSubcommand("analyze", new AnalyzeCommand().spec());
  }

  @Override
  public Integer call() {
    throw new ParameterException(
        spec().commandLine(), "`runs list`, `runs show RUN`, `runs analyze` or `runs import`");
  }

  /** {@code runs list}. */
  private static final class ListCommand extends Subcommand {
    private final OptionSpec limit =
        add(
            OptionSpec.builder("--limit").paramLabel("N").type(int.class).defaultValue("20"),
            "At most so many; ${DEFAULT-VALUE} if not given.");
    private final OptionSpec where = SumOptions.where(this);
    private final OptionSpec json = flag("--json", "Prints one JSON document.");

    ListCommand() {
      super(
          "list",
          "The runs, newest first, as their manifests say.",
          "nexa-slurm runs list --limit 100 --json",
          "nexa-slurm runs list --where 'status=failed cost>10 created>=7d'");
    }

    @Override
    public Integer call() {
      int most = limit.<Integer>getValue();
      if (most < 1) {
        throw new ParameterException(
            spec().commandLine(), "--limit: expected at least 1, got " + most);
      }
      List<String> problems = new ArrayList<>();
      ListRuns list = new ListRuns(existing());
      List<JsonObject> runs =
          where.getValue() == null
              ? list.newest(most, problems)
              : list.newest(most, SumOptions.meant(where), problems);
      problems.forEach(err()::println);
      out()
          .print(
              given(json)
                  ? Json.pretty(
                      new JsonObject()
                          .with("schema_version", 1)
                          .with("runs", runs)
                          .with("problems", problems))
                  : runs.isEmpty() && where.getValue() != null
                      ? "No run matches.\n"
                      : RunsText.of(runs));
      return ExitCode.OK.status();
    }
  }

  /** {@code runs analyze}. */
  private static final class AnalyzeCommand extends Subcommand {
    private final SumOptions options =
        new SumOptions(this, "stage", List.of("table", "json", "csv", "markdown"));

    AnalyzeCommand() {
      super(
          "analyze",
          "How finished runs went: success, run time, queue wait, GPU-hours, efficiency, loss.",
          "nexa-slurm runs analyze --by model",
          "nexa-slurm runs analyze --by month --where 'stage=train' --json");
    }

    @Override
    public Integer call() {
      List<String> problems = new ArrayList<>();
      RunAnalysis analysis =
          new AnalyzeRuns(existing()).analyze(options.by(), options.meant(), problems);
      problems.forEach(err()::println);
      options.print(
          () ->
              analysis.total().runs() == 0
                  ? "No finished runs.\n"
                  : AnalysisText.grid(analysis, true).table(),
          () -> AnalysisText.grid(analysis, false),
          () -> AnalysisText.json(analysis, problems));
      return ExitCode.OK.status();
    }
  }

  /** {@code runs show}. */
  private static final class ShowCommand extends Subcommand {
    private final PositionalParamSpec reference = run();
    private final OptionSpec json = flag("--json", "Prints one JSON document.");

    ShowCommand() {
      super("show", "One run's manifest and cost.", "nexa-slurm runs show latest");
    }

    @Override
    public Integer call() {
      RunLookup.Found found = new RunLookup(existing().workspace()).find(reference.getValue());
      Path cost = found.run().cost();
      Path manifest = found.run().manifest();
      if (given(json)) {
        JsonObject kept = RecordFile.read(cost, Function.identity());
        JsonObject document =
            new JsonObject()
                .with("schema_version", 1)
                .with("manifest", RecordFile.read(manifest, one -> meant(one, found.task())))
                .with("cost", kept);
        out().print(Json.pretty(document));
      } else {
        String money = RecordFile.read(cost, RunsText::cost);
        String text =
            RecordFile.read(manifest, one -> RunsText.one(meant(one, found.task()), money));
        out().print(text);
      }
      return ExitCode.OK.status();
    }

    /** Of {@code 12345_7} only that task's point. */
    private static JsonObject meant(JsonObject manifest, OptionalInt task) {
      if (task.isPresent() && manifest.members().containsKey("points")) {
        int first = task.getAsInt();
        manifest.with("points", manifest.objects("points").subList(first, first + 1));
      }
      return manifest;
    }
  }
}
