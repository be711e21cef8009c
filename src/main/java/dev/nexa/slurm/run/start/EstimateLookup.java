package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.records.approvals.PipelineEstimateFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the estimate that an approver names. */
public record EstimateLookup(Context context) {
  private static final String FOLDER = "estimates";

  /** The first digits of a digest; refusals write the rest of a file's name as an ellipsis. */
  private static final Pattern DIGEST = Pattern.compile("([0-9a-f]{4,64})(…(\\.json)?)?");

  /**
   * Returns whether the text names a config, that is, neither an estimate's file nor the beginning
   * of its name.
   */
  public boolean isConfig(String typed) {
    return beginning(typed).isEmpty() && !typed.endsWith(".json");
  }

  /**
   * Checks that the text names a file, so that the answer to a slip names the real mistake.
   *
   * @throws NexaException if the text names no file
   */
  public void requireFile(String typed) {
    requireNoRun(typed);
    if (typed.endsWith(".yaml") || typed.endsWith(".yml")) {
      context.source().file(typed);
    } else if (!Files.exists(Path.of(typed)) && !Files.exists(context.root().resolve(typed))) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          typed.matches("[0-9a-f]{1,3}")
              ? "Type at least 4 characters of an estimate's name, not just " + typed + "."
              : none(typed),
          list(context.workspace().estimates(), typed));
    }
  }

  /** A run has an estimate of its own, and was submitted with it. */
  private void requireNoRun(String typed) {
    for (Path folder : List.of(Path.of(typed), context.workspace().runs().resolve(typed))) {
      Optional<Path> estimate = Files.isDirectory(folder) ? ofRun(folder) : Optional.empty();
      if (estimate.isPresent()) {
        throw ErrorCode.FILE_NOT_FOUND.error(
            typed + " is a run that was submitted already; its estimate is " + estimate.get(),
            Advice.command("approves a rerun of it", "nexa-slurm", "approve", estimate.get()),
            list(context.workspace().estimates(), typed));
      }
    }
  }

  /** Returns the estimate of the run whose folder this is; empty if it is no run's folder. */
  private Optional<Path> ofRun(Path folder) {
    try {
      Path real = folder.toRealPath();
      Optional<RunId> id = RunId.parse(String.valueOf(real.getFileName()));
      Path root = real.resolveSibling("").resolveSibling("");
      return id.map(run -> new Workspace(root, context.workspace().files()).run(run).estimate())
          .filter(Files::isRegularFile);
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  private static String none(String typed) {
    return "no estimate is called " + typed + "; approve takes an estimate that submit wrote";
  }

  /** Returns the advice that leads to the estimates that wait for an approval: to the newest. */
  private static Advice list(Path folder, String typed) {
    if (!Files.isDirectory(folder)) {
      return Advice.step(
          ("there is no folder %s: submit makes it for a run that needs an approval;"
                  + " --workspace DIR names another workspace")
              .formatted(folder));
    }
    try (Stream<Path> files = Files.list(folder)) {
      Comparator<Path> byTime = Comparator.comparing(file -> file.toFile().lastModified());
      return files
          .max(byTime)
          .map(
              newest ->
                  Advice.instead(
                      typed,
                      newest.toString().replaceFirst("([0-9a-f]{12})[0-9a-f]*[.]json$", "$1")))
          .orElse(Advice.command("shows that there is no estimate", "ls", folder));
    } catch (IOException unreadable) {
      return Advice.command("shows the estimates", "ls", folder);
    }
  }

  /**
   * The beginning of an estimate's name.
   *
   * @param folder the folder to look in
   */
  private record Beginning(Path folder, String digits) {}

  /**
   * Returns the beginning of an estimate's name that the text is: digits of its digest, perhaps
   * behind the path of a folder {@code estimates}; empty if a file has that name.
   */
  private Optional<Beginning> beginning(String typed) {
    Path path = Path.of(typed);
    Path name = path.getFileName();
    Matcher digits = DIGEST.matcher(name == null ? "" : name.toString());
    if (!digits.matches() || Files.exists(path)) {
      return Optional.empty();
    }
    Path folder = path.getParent();
    if (folder == null) {
      return Optional.of(new Beginning(context.workspace().estimates(), digits.group(1)));
    }
    Path last = folder.getFileName();
    if (last == null || !last.toString().equals(FOLDER)) {
      return Optional.empty();
    }
    Path there = Files.isDirectory(folder) ? folder : context.root().resolve(folder);
    return Optional.of(new Beginning(there, digits.group(1)));
  }

  /**
   * Returns the estimate that the text names.
   *
   * @param typed an estimate's file, the first 4 or more hex digits of its name with or without the
   *     folder, or a run's config, which is then estimated
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such estimate, or more than
   *     one
   */
  public EstimateFile find(String typed) {
    return isConfig(typed)
        ? Prepared.of(context, new Prepared.Request(typed, List.of(), Optional.empty()))
            .estimateFile(context)
        : read(file(typed));
  }

  /**
   * Returns the estimate of a pipeline that the text names; empty if it names no pipeline's.
   *
   * @param typed an estimate's file, or the beginning of its name
   */
  public Optional<PipelineEstimateFile> pipeline(String typed) {
    if (isConfig(typed)) {
      return Optional.empty();
    }
    Path file = file(typed);
    try {
      return Files.isRegularFile(file)
          ? PipelineEstimateFile.parse(DurableFiles.read(file), file.toString())
          : Optional.empty();
    } catch (IllegalArgumentException notJson) {
      return Optional.empty();
    }
  }

  private Path file(String typed) {
    return beginning(typed)
        .map(beginning -> byDigest(typed, beginning))
        .orElse(Files.exists(Path.of(typed)) ? Path.of(typed) : context.root().resolve(typed));
  }

  private static Path byDigest(String typed, Beginning beginning) {
    List<Path> found = DurableFiles.list(beginning.folder(), beginning.digits() + "*.json");
    if (found.size() == 1) {
      return found.get(0);
    }
    Advice list = list(beginning.folder(), typed);
    if (found.isEmpty()) {
      throw ErrorCode.FILE_NOT_FOUND.error(none(typed), list);
    }
    throw ErrorCode.REFERENCE_AMBIGUOUS.error(
        found.size() + " estimates start with " + typed,
        Advice.step("type more of its name"),
        list);
  }

  private static EstimateFile read(Path file) {
    if (!Files.isRegularFile(file)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no estimate " + file,
          list(file.toAbsolutePath().resolveSibling(""), file.toString()));
    }
    try {
      return EstimateFile.parse(DurableFiles.read(file), file.toString());
    } catch (IllegalArgumentException notJson) {
      throw ErrorCode.ESTIMATE_UNUSABLE.error(
          file + " is no estimate: " + notJson.getMessage(), notJson);
    }
  }
}
