package dev.nexa.slurm.run.diagnosis;

import java.util.regex.Pattern;

/**
 * A line of a log.
 *
 * @param number its number in the file, from 1; 0 if the file is too long to count its lines
 * @param text the line without colours and without control characters
 */
public record LogLine(int number, String text) {
  private static final Pattern CONTROL =
      Pattern.compile("\u001b\\[[0-9;?]*[ -/]*[@-~]|[\\x00-\\x08\\x0b-\\x1f\\x7f]");

  /** How programs mark a line that is no error: a level of logging, or a warning of Python. */
  private static final Pattern REMARK =
      Pattern.compile(
          "(?<!NCCL )\\b(INFO|WARNING|WARN|DEBUG|NOTICE)\\b(?!_)"
              + "|\\b\\w*Warning:|(?i:\\bwarning:)|(^|\\[)[WI]\\d{3,4}[ \\d]|: [WI] \\S+\\.cc:\\d+\\]");

  /** Our data steps and syncs print an error with its code. */
  private static final Pattern OUR_ERROR = Pattern.compile("nexa-slurm: .* \\[[a-z][a-z0-9-]+\\]");

  /** A message of bash about a function of the job's script, or about a file beside it. */
  private static final Pattern OUR_FAULT =
      Pattern.compile(
          "^\\S*: line \\d+: nexa_\\w+: "
              + "|^\\S*/runner/(attempt|check_node|check_uv|checkpoints|first_failure|inputs|monitor"
              + "|nexa_storage|pack|sampler|watchdog)\\.sh: line \\d+: ");

  /** Makes a line from the text of a file. */
  static LogLine of(int number, String raw) {
    return new LogLine(number, CONTROL.matcher(raw).replaceAll(""));
  }

  /** Returns whether the program itself says that the line is no error. */
  boolean isRemark() {
    return REMARK.matcher(text).find();
  }

  /** Returns whether the line is by the job's script, which says how the job goes. */
  boolean isOurs() {
    return isOurFault() || (text.startsWith("nexa-slurm: ") && !isOurError());
  }

  /**
   * Returns whether a shell complains about our own script: such a line says nothing of the job.
   */
  boolean isOurFault() {
    return OUR_FAULT.matcher(text).find();
  }

  /** Returns whether one of our own programs ended with this error. */
  boolean isOurError() {
    return OUR_ERROR.matcher(text).matches();
  }

  /** Returns a text for people: not more of it than this. */
  public static String shortened(String text, int most) {
    return text.length() <= most ? text : text.substring(0, most) + "…";
  }
}
