package dev.nexa.slurm.command.data;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.score.ScoreOptions;
import dev.nexa.slurm.data.score.ScoreStep;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code data score}. */
final class ScoreCommand extends DataStepCommand {
  private final OptionSpec requests =
      paths(
          "--requests", false, "The folder of `data judge`, or a file in it; may be given often.");
  private final OptionSpec answers =
      paths("--answers", false, "A file of the judge's answers; may be given often.");
  private final OptionSpec items =
      paths(
          "--items",
          false,
          "The rows that `data judge` read: also writes scored.parquet, the rows with their scores.");
  private final OptionSpec lmEval =
      option("--lm-eval PATH", "Instead of them: a results_*.json of lm_eval, or its folder.");
  private final OptionSpec runId =
      option("--run-id ID", "The run whose model is evaluated. Default: `run_id`, NEXA_RUN_ID.");
  private final OptionSpec evals =
      option(
          "--evals DIR",
          "Also copies the files to this folder, for all runs. Default in a job: evals in durable storage.");

  ScoreCommand() {
    super(
        false,
        "score",
        "Reads a judge's answers and writes scores and a summary with confidence intervals.",
        "nexa-slurm data score --requests judge --answers judged.jsonl --run-id student_v2 --output evals",
        "nexa-slurm data score --lm-eval lm_eval/out --run-id student_v2 --output evals");
  }

  @Override
  JsonObject run(Engine engine, JsonObject settings, Share share, Path output) {
    requireAll(share);
    String id = id(settings);
    Instant now = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    List<String> asked = requests.getValue();
    List<String> answered = answers.getValue();
    boolean judged = !asked.isEmpty() && !answered.isEmpty();
    if (judged == given(lmEval) || asked.isEmpty() != answered.isEmpty()) {
      throw conflict(
          "expected --requests and --answers of a judge, or --lm-eval, and not both",
          "nexa-slurm data score --help has an example of each");
    }
    ScoreStep.Written written;
    if (judged) {
      ScoreOptions options = ScoreStep.options(engine, settings, asked);
      written =
          ScoreStep.run(
              engine, asked, answered, output, options, id, settings.optionalText("model"), now);
      List<String> rows = items.getValue();
      if (!rows.isEmpty()) {
        String column = settings.optionalText("items_id").orElse("custom_id");
        ScoreStep.join(engine, rows, column, output, id);
      }
      check = () -> written.require(options, output, id);
    } else {
      written = ScoreStep.lmEval(engine, lmEval.getValue(), output, id, now);
    }
    value(evals)
        .map(Path::of)
        .or(() -> durable("evals"))
        .ifPresent(folder -> ScoreStep.publish(output, id, folder));
    return written.metrics();
  }

  private String id(JsonObject settings) {
    String id =
        value(runId)
            .or(() -> settings.optionalText("run_id"))
            .orElseGet(() -> environment().getOrDefault("NEXA_RUN_ID", ""));
    if (!id.matches("[A-Za-z0-9][A-Za-z0-9._-]*")) {
      throw invalid(
          id.isEmpty() ? "the evaluated run has no name" : "'" + id + "' is no name of a run",
          "add --run-id with letters, digits, '.', '_' and '-'");
    }
    return id;
  }
}
