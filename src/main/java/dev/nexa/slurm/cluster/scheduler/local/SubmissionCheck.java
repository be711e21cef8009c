package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Checks a submission as sbatch and slurmctld would, before any file is written. */
final class SubmissionCheck {
  private static final List<String> PROGRAMS = List.of("setsid", "bash", "env", "sleep", "sh");
  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  /** Slurm's default max_script_size (slurm.conf(5), SchedulerParameters). */
  private static final int MAX_BYTES = 4 * 1024 * 1024;

  private final StateDirectory state;
  private final Map<String, String> environment;
  private final LocalSettings settings;

  SubmissionCheck(StateDirectory state, Map<String, String> environment, LocalSettings settings) {
    this.state = state;
    this.environment = Map.copyOf(environment);
    this.settings = settings;
  }

  /**
   * Returns the script's bytes.
   *
   * @throws SbatchRefusal if the file cannot be read
   */
  static byte[] read(Path script) {
    try {
      return Files.readAllBytes(script);
    } catch (IOException unreadable) {
      throw SbatchRefusal.error("Unable to open file " + script);
    }
  }

  /**
   * Checks the script and returns the arguments of the submission.
   *
   * @throws SbatchRefusal if the script is not valid, or requests what this machine cannot do
   */
  LocalSubmission check(SubmitRequest request, byte[] script) {
    requirePrograms();
    LocalSubmission submission = submission(request);
    Job job = Job.of(0, submission, text(script));
    for (long id : job.dependency().jobs()) {
      if (!state.has(id) || state.job(id).isOfAnotherUser()) {
        throw SbatchRefusal.submission("Job dependency problem: there is no job " + id + " here");
      }
    }
    return submission;
  }

  /**
   * Returns the script's text, checked as sbatch does ({@code _get_script_buffer} in Slurm's
   * sbatch.c).
   *
   * @throws SbatchRefusal with sbatch's message, if sbatch would refuse the script
   */
  private static String text(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (bytes.length == 0) {
      throw SbatchRefusal.error("Batch script is empty!");
    }
    if (text.isBlank()) {
      throw SbatchRefusal.error("Batch script contains only whitespace!");
    }
    if (!text.startsWith("#!")) {
      throw lines(
          "This does not look like a batch script.  The first",
          "line must start with #! followed by the path to an interpreter.",
          "For instance: #!/bin/sh");
    }
    if (text.indexOf('\0') >= 0) {
      throw lines(
          "The Slurm controller does not allow scripts that", "contain a NULL character '\\0'.");
    }
    if (text.contains("\r\n")) {
      throw lines(
          "Batch script contains DOS line breaks (\\r\\n)",
          "instead of expected UNIX line breaks (\\n).");
    }
    if (bytes.length >= MAX_BYTES) {
      throw SbatchRefusal.submission("Pathname of a file, directory or other parameter too long");
    }
    return text;
  }

  private static SbatchRefusal lines(String... lines) {
    return new SbatchRefusal("sbatch: error: " + String.join("\nsbatch: error: ", List.of(lines)));
  }

  private LocalSubmission submission(SubmitRequest request) {
    Path name = request.script().getFileName();
    return new LocalSubmission(
        request.key(),
        name == null ? "" : name.toString(),
        List.of(request.submissionDir().toString()),
        request.output(),
        request.comment(),
        request.directory().toAbsolutePath(),
        request.array(),
        request.dependency(),
        environment,
        JobUser.current(),
        shortHost(),
        umask(),
        Runtime.getRuntime().availableProcessors(),
        Instant.now().getEpochSecond(),
        settings);
  }

  private static String shortHost() {
    return ProcessIdentity.localHost().split("\\.", 2)[0];
  }

  private static String umask() {
    try {
      for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
        if (line.startsWith("Umask:")) {
          return line.substring("Umask:".length()).strip();
        }
      }
    } catch (IOException unknown) {
      return "0022";
    }
    return "0022";
  }

  private void requirePrograms() {
    if (!Files.exists(Path.of("/proc/self/stat"))) {
      throw SbatchRefusal.error("the local scheduler needs Linux: there is no /proc here");
    }
    String path = environment.getOrDefault("PATH", DEFAULT_PATH);
    for (String program : PROGRAMS) {
      boolean found = false;
      for (String folder : path.split(File.pathSeparator, -1)) {
        found |= Files.isExecutable(Path.of(folder, program));
      }
      if (!found) {
        throw SbatchRefusal.error(
            "the local scheduler needs the program " + program + " in " + path);
      }
    }
  }
}
