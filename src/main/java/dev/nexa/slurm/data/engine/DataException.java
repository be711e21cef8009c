package dev.nexa.slurm.data.engine;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.nio.file.Path;
import java.util.Locale;

/** A statement that DuckDB refused, with DuckDB's own message. */
public final class DataException extends NexaException {
  private static final long serialVersionUID = 1;

  /**
   * Creates the error.
   *
   * @param scratch the folder for what does not fit into the memory
   */
  DataException(String message, Path scratch, Throwable cause) {
    super(
        isRoom(message) ? ErrorCode.DATA_NO_ROOM : ErrorCode.DATA_QUERY_FAILED,
        described(message, scratch),
        cause,
        advice(message));
  }

  /** Names the scratch if it is full; a full disk of another file is named by DuckDB. */
  private static String described(String message, Path scratch) {
    boolean isScratch =
        message.contains("max_temp_directory_size") || message.contains("failed to offload");
    return "DuckDB: " + shortened(message) + (isScratch ? "; the scratch is " + scratch : "");
  }

  /**
   * Leaves out the driver's own sentence, the statement, and advice about settings that we make.
   */
  private static String shortened(String message) {
    return message
        .replaceFirst(
            "(?s)^Invalid Input Error: Attempting to execute an unsuccessful.*?\nError: ", "")
        .replaceFirst("(?s)\n+(Possible (solutions|fixes)|LINE \\d+|See also).*", "")
        .strip();
  }

  /** Returns whether the memory limit or the disk of the scratch ended the statement. */
  private static boolean isRoom(String message) {
    String lower = message.toLowerCase(Locale.ROOT);
    return lower.contains("out of memory error")
        || lower.contains("no space left")
        || lower.contains("max_temp_directory_size");
  }

  private static Advice advice(String message) {
    if (message.toLowerCase(Locale.ROOT).contains("no space left")) {
      return Advice.step("make room on the disk that the message names, or name another one");
    }
    return isRoom(message)
        ? Advice.step("give the task more resources.memory or a larger scratch, or use more shards")
        : Advice.command("", "nexa-slurm", "explain", "docs/data.md");
  }
}
