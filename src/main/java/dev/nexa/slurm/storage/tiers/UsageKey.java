package dev.nexa.slurm.storage.tiers;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What the files of a tier are grouped by. */
public enum UsageKey {
  /** The run that a folder on the way to the file is named after. */
  RUN,
  /** The owner of the file. */
  USER,
  /** The folder below the tier. */
  FOLDER;

  /** A folder of a run: its id, or {@code ID.n} if another workspace's run had the id. */
  private static final Pattern RUN_FOLDER =
      Pattern.compile(
          "(?:^|/)([a-z][a-z0-9-]{0,30}_\\d{8}_\\d{6}(?:_[1-9]\\d{0,3})?(?:\\.\\d{1,2})?)(?=/|$|\\.log$)");

  private static final String NONE = "-";

  /**
   * Returns the key of a file.
   *
   * @param path the file's path below the tier
   * @return {@code -} for a file of no run, or beside the folders
   */
  String of(String path, String user) {
    int slash = path.indexOf('/');
    return switch (this) {
      case RUN -> run(path);
      case USER -> user;
      case FOLDER -> slash < 0 ? NONE : path.substring(0, slash);
    };
  }

  private static String run(String path) {
    Matcher run = RUN_FOLDER.matcher(path);
    return run.find() ? run.group(1) : NONE;
  }

  /** Returns the key with this name. */
  public static UsageKey named(String name) {
    return switch (name) {
      case "run" -> RUN;
      case "user" -> USER;
      case "folder" -> FOLDER;
      default ->
          throw new NexaException(
              ErrorCode.OPTION_INVALID,
              "--by: expected run, user or folder, got '" + name + "'",
              Advice.step("--by run"));
    };
  }
}
