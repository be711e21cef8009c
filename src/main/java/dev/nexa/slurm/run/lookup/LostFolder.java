package dev.nexa.slurm.run.lookup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The messages about a run that has a manifest but no folder: its jobs may run on. */
public final class LostFolder {
  private LostFolder() {}

  /** Returns whether somebody has removed or moved the run's folder. */
  public static boolean is(RunFolder run) {
    return !run.exists() && Files.exists(run.manifest());
  }

  /** Returns the sentence about the run, with the jobs that its manifest names. */
  public static String sentence(RunFolder run) {
    List<String> jobs = jobs(run);
    return "the folder of "
        + run.id()
        + " is missing: "
        + run.path()
        + (jobs.isEmpty() ? "" : "; its job " + String.join(", ", jobs) + " may still run");
  }

  /** Returns the error of a command that needs the folder. */
  public static NexaException error(RunFolder run) {
    List<Advice> advice = new ArrayList<>();
    advice.add(Advice.step("restore the folder from a backup, or move it back"));
    List<String> jobs = jobs(run);
    if (!jobs.isEmpty()) {
      List<String> words = new ArrayList<>(List.of("scancel"));
      words.addAll(jobs);
      advice.add(Advice.command("ends the job", words.toArray()));
    }
    return ErrorCode.RECORD_DAMAGED.error(sentence(run), advice.toArray(Advice[]::new));
  }

  /** Returns whether the manifest of a run without a folder names the job. */
  static boolean namesJob(RunFolder run, long jobId) {
    return is(run) && numbers(run).contains(jobId);
  }

  /** The jobs of a run that had not ended when its manifest was written. */
  private static List<String> jobs(RunFolder run) {
    boolean ended = manifest(run).filter(manifest -> manifest.status().ended()).isPresent();
    return ended ? List.of() : numbers(run).stream().map(String::valueOf).toList();
  }

  private static List<Long> numbers(RunFolder run) {
    return manifest(run).map(ManifestFile::submissions).orElse(List.of()).stream()
        .flatMap(submission -> submission.jobId().stream())
        .toList();
  }

  private static Optional<ManifestFile> manifest(RunFolder run) {
    try {
      return Optional.of(ManifestFile.read(run));
    } catch (IllegalArgumentException | NexaException | UncheckedIOException damaged) {
      return Optional.empty();
    }
  }
}
