package dev.nexa.slurm.scheduler.slurm;

import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads what sbatch said. Pure. */
public final class SbatchAnswer {
  private static final Pattern PARSABLE = Pattern.compile("(\\d{1,18})(?:;(\\S+))?");

  /**
   * Answers after which surely no job exists (slurm_errno.c; research/slurm_facts.md, section 6).
   * All others leave it open: a "Socket timed out" was seen with the job in the queue.
   */
  private static final List<String> VALIDATION =
      List.of(
          "Invalid account or account/partition combination specified",
          "Invalid partition name specified",
          "No partition specified or system default partition",
          "User's group not permitted to use this partition",
          "Invalid qos specification",
          "Job violates accounting/QOS policy",
          "Requested time limit is invalid",
          "Invalid --time specification",
          "Time limit specification required, but not provided",
          "Requested node configuration is not available",
          "Node count specification invalid",
          "More processors requested than permitted",
          "CPU count specification invalid",
          "Memory required by task is not available",
          "Memory specification can not be satisfied",
          "Invalid generic resource (gres) specification",
          "Invalid GRES specification",
          "Invalid Trackable RESource (TRES) specification",
          "Invalid feature specification",
          "Requested reservation is invalid",
          "Access denied to requested reservation",
          "Invalid job array specification",
          "Job dependency problem",
          "Invalid user id",
          "Invalid or unknown association",
          "Access/permission denied",
          "This does not look like a batch script",
          "Batch script contains DOS line breaks",
          "Batch script is empty",
          "Unable to open file",
          "Invalid --",
          "Invalid numeric value",
          "Invalid directive found",
          "is not a valid node count",
          "requires an argument",
          "doesn't allow an argument",
          "unrecognized option",
          "Unmatched",
          "only whitespace",
          "contains NULL character",
          "Pathname of a file, directory or other parameter too long",
          "Script file .* is too large");

  private SbatchAnswer() {}

  /** Compiled only where sbatch failed. */
  private static Pattern refusal() {
    StringBuilder pattern = new StringBuilder();
    for (String message : VALIDATION) {
      String one = message.contains(".*") ? message : Pattern.quote(message);
      pattern.append(pattern.length() == 0 ? "" : "|").append(one);
    }
    return Pattern.compile(pattern.toString());
  }

  /**
   * The id stands on the last line that is not empty: wrappers and plugins may print banners before
   * it.
   */
  public static SubmitAnswer read(CommandResult result) {
    String said = firstOf(result.err(), result.out());
    if (result.timedOut()) {
      return new SubmitAnswer.Unknown(
          "sbatch did not answer in time" + (said.isEmpty() ? "" : ": " + said));
    }
    if (result.exit() == 0) {
      Matcher id = PARSABLE.matcher(lastLine(result.out()));
      if (id.matches()) {
        String cluster = id.group(2);
        return new SubmitAnswer.Submitted(
            Long.parseLong(id.group(1)), cluster == null ? "" : cluster);
      }
      return new SubmitAnswer.Unknown("sbatch ended with 0 but printed no job id: " + said);
    }
    // 22.05 ends with 255 where it is its own arguments that sbatch dislikes, else with 1.
    boolean validation =
        (result.exit() == 1 || result.exit() == 255)
            && result.out().isBlank()
            && refusal().matcher(result.err()).find();
    String message = said.isEmpty() ? "sbatch ended with " + result.exit() : said;
    return validation ? new SubmitAnswer.Refused(message) : new SubmitAnswer.Unknown(message);
  }

  private static String lastLine(String text) {
    String[] lines = text.strip().split("\\R", -1);
    return lines[lines.length - 1].strip();
  }

  private static String firstOf(String err, String out) {
    return err.isBlank() ? out.strip() : err.strip();
  }
}
