package dev.nexa.slurm.scheduler.local;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** A batch script as sbatch accepts it ({@code _get_script_buffer} in Slurm's sbatch.c). Pure. */
final class BatchScript {
  /** Slurm's default max_script_size (slurm.conf(5), SchedulerParameters). */
  private static final int MAX_BYTES = 4 * 1024 * 1024;

  private BatchScript() {}

  /**
   * The script's text.
   *
   * @throws Refusal in sbatch's words, if it is none
   */
  static String check(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.UTF_8);
    if (bytes.length == 0) {
      throw Refusal.error("Batch script is empty!");
    }
    if (text.isBlank()) {
      throw Refusal.error("Batch script contains only whitespace!");
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
      throw Refusal.submission("Pathname of a file, directory or other parameter too long");
    }
    return text;
  }

  private static Refusal lines(String... lines) {
    return new Refusal("sbatch: error: " + String.join("\nsbatch: error: ", List.of(lines)));
  }
}
