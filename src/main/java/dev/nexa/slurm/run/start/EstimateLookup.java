package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.records.approvals.PipelineEstimateFile;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the estimate that an approver names. */
public final class EstimateLookup {
  private static final Pattern DIGEST = Pattern.compile("[0-9a-f]{4,64}");

  private final Context context;

  public EstimateLookup(Context context) {
    this.context = context;
  }

  /**
   * Returns whether the text names a config, that is, neither an estimate's file nor its digest.
   */
  public boolean isConfig(String typed) {
    return !isDigest(typed) && !typed.endsWith(".json");
  }

  private static boolean isDigest(String typed) {
    return DIGEST.matcher(typed).matches() && !Files.exists(Path.of(typed));
  }

  /**
   * Returns the estimate that the text names.
   *
   * @param typed an estimate's file, the first 4 or more hex digits of its digest, or a run's
   *     config, which is then estimated
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such estimate, or more than
   *     one
   */
  public EstimateFile find(String typed) {
    if (isDigest(typed)) {
      return read(byDigest(typed));
    }
    if (typed.endsWith(".json")) {
      return read(file(typed));
    }
    return Prepared.of(context, new Prepared.Request(typed, List.of(), Optional.empty()))
        .estimateFile(context);
  }

  /**
   * Returns the estimate of a pipeline that the text names; empty if it names no pipeline's.
   *
   * @param typed an estimate's file, or the first 4 or more hex digits of its digest
   */
  public Optional<PipelineEstimateFile> pipeline(String typed) {
    if (isConfig(typed)) {
      return Optional.empty();
    }
    Path file = isDigest(typed) ? byDigest(typed) : file(typed);
    try {
      return Files.isRegularFile(file)
          ? PipelineEstimateFile.parse(DurableFiles.read(file), file.toString())
          : Optional.empty();
    } catch (IllegalArgumentException notJson) {
      return Optional.empty();
    }
  }

  private Path file(String typed) {
    return Files.exists(Path.of(typed)) ? Path.of(typed) : context.root().resolve(typed);
  }

  private Path byDigest(String beginning) {
    Path folder = context.workspace().estimates();
    List<Path> found = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      files.filter(file -> file.getFileName().toString().startsWith(beginning)).forEach(found::add);
    } catch (NoSuchFileException none) {
      // There is no estimate at all.
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    if (found.size() == 1) {
      return found.get(0);
    }
    throw new NexaException(
        ErrorCode.FILE_NOT_FOUND,
        (found.isEmpty() ? "no estimate" : "more than one estimate")
            + " in "
            + folder
            + " begins with "
            + beginning,
        Advice.step("name its file, or the run's config"));
  }

  private static EstimateFile read(Path file) {
    if (!Files.isRegularFile(file)) {
      throw new NexaException(
          ErrorCode.FILE_NOT_FOUND, "there is no estimate " + file, Advice.step("ls estimates"));
    }
    try {
      return EstimateFile.parse(DurableFiles.read(file), file.toString());
    } catch (IllegalArgumentException notJson) {
      throw new NexaException(
          ErrorCode.ESTIMATE_UNUSABLE, file + " is no estimate: " + notJson.getMessage(), notJson);
    }
  }
}
