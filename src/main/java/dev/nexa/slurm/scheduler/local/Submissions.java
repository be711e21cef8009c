package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.scheduler.SubmitRequest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** Checks what is to be submitted, as sbatch and slurmctld would, before anything is written. */
final class Submissions {
  private static final List<String> PROGRAMS = List.of("setsid", "bash", "env", "sleep", "sh");
  private static final String DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin";

  private final Map<String, String> environment;
  private final LocalSettings settings;

  Submissions(Map<String, String> environment, LocalSettings settings) {
    this.environment = Map.copyOf(environment);
    this.settings = settings;
  }

  /**
   * The script's bytes.
   *
   * @throws Refusal if it can't be read
   */
  static byte[] read(Path script) {
    try {
      return Files.readAllBytes(script);
    } catch (IOException unreadable) {
      throw Refusal.error("Unable to open file " + script);
    }
  }

  /**
   * All that belongs to the script.
   *
   * @throws Refusal if the script is none, or says what can't be done here
   */
  Submission check(SubmitRequest request, byte[] script) {
    requirePrograms();
    if (!request.dependency().isEmpty()) {
      throw Refusal.error("the local scheduler knows no dependencies between jobs");
    }
    Submission submission = submission(request);
    Job.of(0, submission, BatchScript.check(script));
    return submission;
  }

  private Submission submission(SubmitRequest request) {
    Path name = request.script().getFileName();
    return new Submission(
        request.key(),
        name == null ? "" : name.toString(),
        List.of(request.submissionDir().toString()),
        request.output(),
        request.comment(),
        request.directory().toAbsolutePath(),
        request.array(),
        environment,
        User.current(),
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
      throw Refusal.error("the local scheduler needs Linux: there is no /proc here");
    }
    String path = environment.getOrDefault("PATH", DEFAULT_PATH);
    for (String program : PROGRAMS) {
      boolean found = false;
      for (String folder : path.split(File.pathSeparator, -1)) {
        found |= Files.isExecutable(Path.of(folder, program));
      }
      if (!found) {
        throw Refusal.error("the local scheduler needs the program " + program + " in " + path);
      }
    }
  }
}
