package dev.nexa.slurm.command.evals;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.RunRecordFile;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.data.score.EvalSummary;
import dev.nexa.slurm.data.score.Leaderboard;
import dev.nexa.slurm.data.score.ScoreStep;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm eval}. */
public final class EvalCommand extends CommandGroup {
  public EvalCommand() {
    super("eval", "Compares evaluated runs.", "`eval leaderboard`", "nexa-slurm eval leaderboard");
    spec().addSubcommand("leaderboard", new LeaderboardCommand().spec());
  }

  /** The command {@code eval leaderboard}. */
  private static final class LeaderboardCommand extends Subcommand {
    private final OptionSpec evals =
        option(
            "--evals DIR",
            "Reads the summaries science_eval_*.json in this folder, instead of the workspace's manifests.");
    private final OptionSpec sort =
        option("--sort METRIC", "The metric that decides. Default: dss, else the first one.");
    private final OptionSpec write =
        option(
            "--write DIR",
            "Also writes leaderboard_YYYYMMDD.parquet, .csv and .json to this folder.");
    private final OptionSpec json = jsonFlag();

    LeaderboardCommand() {
      super(
          "leaderboard",
          "Prints all evaluated runs, the best first.",
          "nexa-slurm eval leaderboard",
          "nexa-slurm eval leaderboard --evals /mnt/nexa_durable/evals --write /mnt/nexa_durable/evals/reports");
    }

    @Override
    public Integer call() {
      List<String> problems = new ArrayList<>();
      Optional<String> folder = value(evals);
      List<EvalSummary> found =
          folder.isPresent()
              ? inFolder(Path.of(folder.get()), problems)
              : inManifests(existing().workspace(), problems);
      Leaderboard board = Leaderboard.of(found, value(sort));
      problems.forEach(err()::println);
      if (!board.judges().isEmpty()) {
        note(
            "scores of different judges cannot be compared; the judges are "
                + String.join(", ", board.judges()));
      }
      if (given(write)) {
        new WriteLeaderboard(Path.of(write.<String>getValue()))
            .write(board, LocalDate.now(ZoneOffset.UTC))
            .forEach(file -> remark("wrote " + file));
      }
      return answer(
          json,
          () -> LeaderboardText.json(board, problems),
          () ->
              print(
                  board.rows().isEmpty()
                      ? "No evaluated runs. `nexa-slurm data score` evaluates one.\n"
                      : LeaderboardText.listing(board, true).withoutRare().table()));
    }
  }

  /**
   * Returns the summaries in the manifests of all runs. {@code data score} leaves them among a
   * run's metrics.
   *
   * @param problems receives a line for each file that cannot be read
   */
  private static List<EvalSummary> inManifests(Workspace workspace, List<String> problems) {
    List<EvalSummary> found = new ArrayList<>();
    for (RunId id : workspace.allRuns()) {
      RunFolder run = workspace.run(id);
      if (Files.exists(run.manifest())) {
        try {
          summary(run).ifPresent(found::add);
        } catch (NexaException | UncheckedIOException broken) {
          problems.add(String.valueOf(broken.getMessage()));
        }
      }
    }
    return found;
  }

  private static Optional<EvalSummary> summary(RunFolder run) {
    JsonObject metrics = RunRecordFile.manifest(run, ManifestFile::metrics);
    try {
      return metrics.optionalObject("evaluation").map(EvalSummary::of);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.EVALUATION_UNUSABLE.error(
          run.manifest() + ": metrics.evaluation: " + broken.getMessage());
    }
  }

  /**
   * Returns the summaries {@code science_eval_*.json} of a folder.
   *
   * @param problems receives a line for each file that cannot be read
   * @throws UncheckedIOException if the folder cannot be read
   */
  private static List<EvalSummary> inFolder(Path folder, List<String> problems) {
    List<EvalSummary> found = new ArrayList<>();
    try (DirectoryStream<Path> all = Files.newDirectoryStream(folder, ScoreStep.STEM + "*.json")) {
      for (Path file : all) {
        try {
          found.add(EvalSummary.read(file));
        } catch (NexaException | UncheckedIOException broken) {
          problems.add(String.valueOf(broken.getMessage()));
        }
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    return found;
  }
}
