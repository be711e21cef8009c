package dev.nexa.slurm.job.config.foreign;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The files that sbatch's {@code --output} and {@code --error} name. Our log stays where it is: the
 * job makes a link to it at the path of {@code --output}, when it starts. The script's stderr goes
 * to a file of its own only if {@code --error} names another file. A link beside our log leads
 * there, so that the cause of a failure is found in it. The job makes missing folders, without
 * which sbatch's job would end at once. Pure.
 *
 * @param output the pattern of the path, as sbatch(1) has it (filename pattern); empty for none
 * @param error the pattern for stderr; empty for none
 * @param append whether an earlier file at the path of {@code --error} is kept
 * @param title the job's name
 */
public record SbatchLogs(String output, String error, boolean append, String title) {
  /** No such files. */
  public static final SbatchLogs NONE = new SbatchLogs("", "", false, "");

  private static final Pattern SYMBOL = Pattern.compile("%\\d*[%AJajNnstux]");

  /** Returns the lines that make the links; empty for none. */
  String link() {
    String ofError = "";
    if (!redirection().isEmpty() && !error.startsWith("/dev/")) {
      String path = path(error);
      ofError =
          folder(error, path)
              + "mkdir -p -- \"$NEXA_RANK_LOGS\" && ln -sfT -- \"$(realpath -ms -- "
              + path
              + ")\" \"$NEXA_RANK_LOGS/stderr.log\"\n";
    }
    // A device must stay a device.
    if (output.isEmpty() || output.startsWith("/dev/")) {
      return ofError;
    }
    String path = path(output);
    return ofError
        + folder(output, path)
        + (append ? "[[ ! -f " + path + " || -L " + path + " ]] || cat -- " + path + "\n" : "")
        + "ln -sfT -- \"$NEXA_LOG\" "
        + path
        + " || exit\n";
  }

  private static String folder(String pattern, String path) {
    return pattern.contains("/") ? "mkdir -p -- \"$(dirname -- " + path + ")\"\n" : "";
  }

  /** Returns the redirection of stderr; empty for none. */
  String redirection() {
    return error.isEmpty() || error.equals(output) ? "" : (append ? " 2>>" : " 2>") + path(error);
  }

  /** Returns the path as a word of bash, which the job makes of its variables. */
  private String path(String pattern) {
    if (pattern.contains("\\")) {
      return quoted(pattern.replaceAll("\\\\(.)", "$1"));
    }
    StringBuilder word = new StringBuilder();
    Matcher symbol = SYMBOL.matcher(pattern);
    int at = 0;
    while (symbol.find()) {
      word.append(quoted(pattern.substring(at, symbol.start())));
      word.append(value(symbol.group()));
      at = symbol.end();
    }
    return word.append(quoted(pattern.substring(at))).toString();
  }

  private String value(String symbol) {
    String letter = symbol.substring(symbol.length() - 1);
    String width = symbol.substring(1, symbol.length() - 1);
    String number =
        switch (letter) {
          case "A" -> "${NEXA_JOB%_*}";
          case "a" -> "${SLURM_ARRAY_TASK_ID:-4294967294}"; // as sbatch writes it without an array
          case "J", "j" -> "$SLURM_JOB_ID";
          case "n", "t" -> "0";
          default -> "";
        };
    if (!number.isEmpty()) {
      String digits = width.matches("0?\\d") ? width : "10"; // ten at most, as at sbatch
      return width.matches("0*")
          ? "\"" + number + "\""
          : "\"$(printf %0" + digits + "d \"" + number + "\")\"";
    }
    return switch (letter) {
      case "N" -> "\"$(uname -n | cut -d. -f1)\"";
      case "u" -> "\"$(id -un)\"";
      case "s" -> "batch";
      case "x" -> quoted(title);
      default -> "%";
    };
  }

  private static String quoted(String text) {
    return text.matches("[A-Za-z0-9_./:=@+,-]*") ? text : "'" + text.replace("'", "'\\''") + "'";
  }
}
