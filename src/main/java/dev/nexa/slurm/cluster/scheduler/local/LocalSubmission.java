package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A submission, as the job's {@code job.json} holds it. Together with the script it is enough to
 * run the job without its submitter.
 *
 * @param name the job's name
 * @param arguments the script's arguments
 * @param output the log's path with {@code %A}, {@code %a} and {@code %%}
 * @param directory the job's working directory
 * @param array array indices that replace the script's indices
 * @param dependency what the job waits for, in sbatch's notation; empty for none
 * @param environment the variables that the job inherits
 * @param host the host's short name
 * @param umask the submitter's umask, in octal
 * @param processors the number of processors
 * @param submitted epoch seconds
 * @param settings time limits
 */
record LocalSubmission(
    String name,
    List<String> arguments,
    String output,
    Path directory,
    Optional<String> array,
    String dependency,
    Map<String, String> environment,
    String host,
    String umask,
    int processors,
    long submitted,
    LocalSettings settings) {
  private static final Pattern UMASK = Pattern.compile("(?m)^Umask:\\s*(\\d+)$");

  /** Returns the submission of a request that this process makes now. */
  static LocalSubmission of(
      SubmitRequest request, Map<String, String> environment, LocalSettings settings) {
    return new LocalSubmission(
        request.key(),
        List.of(request.submissionDir().toString()),
        request.output(),
        request.directory().toAbsolutePath(),
        request.array(),
        request.dependency(),
        environment,
        ProcessIdentity.localHost().split("\\.", 2)[0],
        ourUmask(),
        Runtime.getRuntime().availableProcessors(),
        Instant.now().getEpochSecond(),
        settings);
  }

  /** Kernels before 4.7 do not show it. */
  private static String ourUmask() {
    Matcher umask = UMASK.matcher(DurableFiles.read(Path.of("/proc/self/status")));
    return umask.find() ? umask.group(1) : "0022";
  }
}
