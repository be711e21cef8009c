package dev.nexa.slurm.command.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The arguments of rsync for a mirror of the durable tier, and the meaning of its answers. Pure.
 *
 * @param source a folder, or {@code HOST:FOLDER}
 * @param target a folder on this machine
 * @param delete whether files that only the target has are deleted
 */
record Rsync(String source, String target, boolean delete, List<String> excludes) {
  /**
   * What rsync said at its end.
   *
   * @param files regular files at the source
   * @param copied files that were copied, or would be
   * @param bytes the bytes of these files
   * @param deleted files and folders that were deleted, or would be
   */
  record Stats(long files, long copied, long bytes, long deleted) {}

  /**
   * Returns the arguments.
   *
   * @param dryRun whether rsync only says what it would do
   * @param mostDeletions the most files that rsync may delete, if it is no dry run
   */
  List<String> argv(boolean dryRun, long mostDeletions) {
    List<String> argv =
        new ArrayList<>(
            List.of(
                "rsync",
                "--archive",
                "--compress",
                "--no-human-readable",
                "--stats",
                "--partial-dir=.nexa-partial",
                "--exclude=*.tmp",
                "--exclude=.nexa-*"));
    excludes.forEach(glob -> argv.add("--exclude=" + glob));
    if (dryRun) {
      argv.add("--dry-run");
    }
    if (delete) {
      argv.add("--delete-delay");
      argv.add(
          dryRun ? "--info=del" : "--max-delete=" + Math.min(mostDeletions, Integer.MAX_VALUE));
    }
    argv.add("--");
    // With the slash, rsync copies what is in the folder, not the folder itself.
    argv.add(source.endsWith("/") ? source : source + "/");
    argv.add(target.endsWith("/") ? target : target + "/");
    return argv;
  }

  /** Reads what rsync printed with {@code --stats}. */
  static Stats stats(String out) {
    long regular = number(out, "Number of files: \\d+ \\(reg: (\\d+)").orElse(0);
    return new Stats(
        regular,
        number(out, "Number of regular files transferred: (\\d+)").orElse(0),
        number(out, "Total transferred file size: (\\d+)").orElse(0),
        number(out, "Number of deleted files: (\\d+)").orElse(0));
  }

  private static OptionalLong number(String out, String line) {
    Matcher matcher = Pattern.compile("(?m)^" + line).matcher(out);
    return matcher.find()
        ? OptionalLong.of(Long.parseLong(matcher.group(1)))
        : OptionalLong.empty();
  }

  /** Returns the paths that rsync would delete, from the output of a dry run. */
  static List<String> deletions(String out) {
    return out.lines()
        .filter(line -> line.startsWith("deleting "))
        .map(line -> line.substring("deleting ".length()))
        .toList();
  }

  /** Returns what an exit status of rsync means (rsync(1), EXIT VALUES). */
  static String words(int exit) {
    return switch (exit) {
      case 1, 2, 4 -> "rsync did not take its arguments, or the two versions do not fit";
      case 3 -> "the source or the target is not a folder that can be used";
      case 5, 10 -> "the connection could not be made";
      case 11 -> "a file could not be read or written; is the disk full?";
      case 12, 30, 35 -> "the connection broke, or the host has no rsync";
      case 20 -> "it was interrupted";
      case 23 -> "some files could not be copied";
      case 24 -> "some files vanished while they were copied";
      case 25 -> "it stopped at the limit of deletions";
      case 127 -> "the host has no rsync: sudo apt-get install rsync, there";
      case 255 -> "ssh could not connect to the host";
      default -> "see EXIT VALUES in `man rsync`";
    };
  }
}
