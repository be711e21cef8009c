package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.ProgressBar;
import dev.nexa.slurm.data.collect.Collect;
import dev.nexa.slurm.data.collect.CollectStep;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.filter.Filter;
import dev.nexa.slurm.data.filter.FilterSettings;
import dev.nexa.slurm.data.gate.GateSettings;
import dev.nexa.slurm.data.gate.GateStep;
import dev.nexa.slurm.data.gate.GateVerdict;
import dev.nexa.slurm.data.prepare.BucketsStep;
import dev.nexa.slurm.data.prepare.ClustersStep;
import dev.nexa.slurm.data.prepare.Prepare;
import dev.nexa.slurm.data.prepare.PrepareSettings;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.score.JudgeSettings;
import dev.nexa.slurm.data.score.JudgeStep;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm data}. */
public final class DataCommand extends CommandGroup {
  public DataCommand() {
    super(
        "data",
        "Runs one step of a data stage on this machine. Jobs of `backend: data` call it on their nodes.",
        "give a step: `data prepare`, `data generate`, `data collect`, `data filter`, `data buckets`,"
            + " `data clusters`, `data judge`, `data score`, `data gate`",
        "nexa-slurm data prepare --settings prepare.json --input 'raw/*.jsonl.gz' --output clean");
    subcommands(
        new PrepareCommand(),
        new GenerateCommand(),
        new CollectCommand(),
        new FilterCommand(),
        new BucketsCommand(),
        new ClustersCommand(),
        new JudgeCommand(),
        new ScoreCommand(),
        new GateCommand());
  }

  /** The command {@code data prepare}. */
  private static final class PrepareCommand extends DataStepCommand {
    private final OptionSpec input = input();
    private final OptionSpec against =
        paths(
            "--against",
            false,
            "An eval set that no row may contain parts of; may be given often.");

    private final OptionSpec clusters =
        paths(
            "--clusters",
            false,
            "The output of `data clusters`, for near duplicates in several tasks.");

    private final OptionSpec parts =
        paths(
            "--from-parts",
            false,
            "The output of `data prepare` with `parts: true`, which read the input.");

    PrepareCommand() {
      super(
          true,
          "prepare",
          "Turns raw files into a clean dataset: checks, normalises, removes duplicates, splits.",
          "nexa-slurm data prepare --settings prepare.json --input 'raw/*.jsonl.gz' --output clean");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      try (ProgressBar progress = ProgressBar.of(this)) {
        return new Prepare(engine, PrepareSettings.of(settings), share, progress)
            .run(
                input.getValue(),
                against.getValue(),
                clusters.getValue(),
                parts.getValue(),
                output);
      }
    }
  }

  /** The command {@code data collect}. */
  private static final class CollectCommand extends DataStepCommand {
    private final OptionSpec requests =
        paths("--requests", true, "A file of the batch's requests; may be given often.");
    private final OptionSpec answers =
        paths("--answers", true, "A file of the batch's answers; may be given often.");

    CollectCommand() {
      super(
          false,
          "collect",
          "Matches a batch's answers with its requests and writes rows, and the missing requests.",
          "nexa-slurm data collect --requests requests.jsonl --answers out.jsonl --output generated");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      requireAll(share);
      Collect.Options options = CollectStep.options(settings);
      Collect.Result result =
          CollectStep.run(engine, requests.getValue(), answers.getValue(), output, options);
      check = () -> result.require(options, output);
      return result.metrics();
    }
  }

  /** The command {@code data filter}. */
  private static final class FilterCommand extends DataStepCommand {
    private final OptionSpec input = input();

    FilterCommand() {
      super(
          true,
          "filter",
          "Keeps the rows that pass rules, on which judges agree, or that are the best of their group.",
          "nexa-slurm data filter --settings filter.json --input 'scored/*.parquet' --output good");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      return new Filter(engine, FilterSettings.of(settings), share).run(input.getValue(), output);
    }
  }

  /** The command {@code data buckets}. */
  private static final class BucketsCommand extends DataStepCommand {
    private final OptionSpec input = input();

    BucketsCommand() {
      super(
          false,
          "buckets",
          "Finds the pairs of similar rows in the signatures that the tasks of `data prepare` wrote.",
          "nexa-slurm data buckets --input signatures --output pairs");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      return new BucketsStep(engine, share).run(input.getValue(), output);
    }
  }

  /** The command {@code data clusters}. */
  private static final class ClustersCommand extends DataStepCommand {
    private final OptionSpec input = input();

    ClustersCommand() {
      super(
          false,
          "clusters",
          "Joins the pairs of `data buckets` to clusters and names each row but the first of a cluster.",
          "nexa-slurm data clusters --input pairs --output clusters");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      requireAll(share);
      return new ClustersStep(engine).run(input.getValue(), output);
    }
  }

  /** The command {@code data judge}. */
  private static final class JudgeCommand extends DataStepCommand {
    private final OptionSpec input = input();

    JudgeCommand() {
      super(
          true,
          "judge",
          "Turns rows into requests to a judge, which scores them by rubrics.",
          "nexa-slurm data judge --settings judge-settings.json --input generated --output judge");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      requireAll(share);
      return JudgeStep.run(engine, input.getValue(), output, JudgeSettings.of(settings));
    }
  }

  /** The command {@code data gate}. */
  private static final class GateCommand extends DataStepCommand {
    private final OptionSpec candidate =
        add(
            OptionSpec.builder("--candidate").paramLabel("PATH").type(String.class).required(true),
            "The evaluation to decide on: a folder of `data score`, items, or a summary.");
    private final OptionSpec baseline =
        option("--baseline PATH", "The evaluation to compare with, of the same items.");

    GateCommand() {
      super(
          true,
          "gate",
          "Decides whether an evaluation is good enough, and no worse than a baseline. Exit status 6: it is not.",
          "nexa-slurm data gate --settings gate-settings.json --candidate evals/science_eval_v2.parquet --baseline evals/science_eval_v1.parquet --output gate");
    }

    @Override
    JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
      requireAll(share);
      for (JsonObject rule : settings.objects("rules")) {
        requireKnown(
            rule,
            List.of("metric", "at_least", "at_most", "no_worse", "minimum_effect", "on", "better"));
      }
      Optional<String> other = value(baseline);
      GateVerdict verdict =
          GateStep.run(engine, candidate.getValue(), other, output, GateSettings.of(settings));
      check = () -> verdict.require(output.resolve(GateStep.VERDICT));
      return GateStep.metrics(verdict, candidate.getValue(), other);
    }
  }
}
