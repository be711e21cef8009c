package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Reads sbatch's exit status and output into a {@link SubmitAnswer}. Pure. */
public final class SbatchAnswer {
  private static final Pattern PARSABLE = Pattern.compile("(\\d{1,18})(?:;(\\S+))?");

  private static final Pattern SUBMITTED = Pattern.compile("(?i)^submitted batch job (\\d+)\\b");

  /** A wrapper that says the id in its own words prints no bare one: a bare number is another's. */
  private static final Pattern JOB = Pattern.compile("(?i)\\bjob\\b\\D*(\\d+)");

  /**
   * Messages of sbatch that prove that no job exists (slurm_errno.c), unless the text also matches
   * {@link #DOUBT}.
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
          "Invalid license specification",
          "Invalid node name specified",
          "invalid number of nodes",
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

  /**
   * If sbatch prints one of these texts, a job may exist, whatever else is printed. "Socket timed
   * out" was seen with the job in the queue, and a site's wrapper may call sbatch twice.
   */
  private static final String DOUBT =
      "timed? ?-?out|unable to contact|connection|connect failure|connect error|communicat"
          + "|transmitted|unexpected message|retrying|not respond|no response|slurm_persist|socket"
          + "|submitted batch job|job ?id[ :=]*\\d|^\\s*\\d+(;\\S+)?\\s*$";

  /** Colours, titles and other escape sequences that a wrapper may print for a terminal. */
  private static final String ESCAPES =
      "\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)|[@-Z^_])";

  private static final String OWN = "sbatch: ";
  private static final String FAILED = "Batch job submission failed";

  private SbatchAnswer() {}

  /**
   * Reads the answer. The job id stands alone on one line, because wrappers and plugins print
   * banners before it and messages behind it. If another line names another job, the answer is
   * {@link SubmitAnswer.Unknown}.
   */
  public static SubmitAnswer read(CommandResult result) {
    String said = (result.err().isBlank() ? result.out() : result.err()).strip();
    if (result.timedOut()) {
      return new SubmitAnswer.Unknown(
          "sbatch did not answer in time" + (said.isEmpty() ? "" : ": " + said));
    }
    if (result.exit() == 0) {
      return id(result.out(), said);
    }
    String message = said.isEmpty() ? "sbatch ended with " + result.exit() : said;
    return isRefusal(result)
        ? new SubmitAnswer.Refused(message)
        : new SubmitAnswer.Unknown(message);
  }

  private static SubmitAnswer id(String out, String said) {
    List<String> lines = plain(out).strip().lines().map(String::strip).toList();
    List<Matcher> ids = lines.stream().map(PARSABLE::matcher).filter(Matcher::matches).toList();
    if (ids.isEmpty()) {
      return new SubmitAnswer.Unknown("sbatch ended with 0 but printed no job id: " + said);
    }
    Matcher last = ids.get(ids.size() - 1);
    String id = last.group(1);
    int at = lines.lastIndexOf(last.group());
    boolean several =
        ids.stream().anyMatch(one -> !one.group(1).equals(id))
            || namesAnother(SUBMITTED, lines.subList(0, at), id)
            || namesAnother(JOB, lines.subList(at + 1, lines.size()), id);
    if (several) {
      return new SubmitAnswer.Unknown("sbatch ended with 0 but printed several ids: " + said);
    }
    String cluster = last.group(2);
    return new SubmitAnswer.Submitted(Long.parseLong(id), cluster == null ? "" : cluster);
  }

  private static boolean namesAnother(Pattern job, List<String> lines, String id) {
    return lines.stream()
        .flatMap(line -> job.matcher(line).results())
        .anyMatch(named -> !named.group(1).equals(id));
  }

  /**
   * Returns whether sbatch certainly made no job. 22.05 exits with 255 if sbatch rejects its own
   * arguments, and with 1 otherwise. Lines that are not sbatch's, such as a banner, are ignored.
   */
  private static boolean isRefusal(CommandResult result) {
    String err = plain(result.err());
    boolean mayBe = (result.exit() == 1 || result.exit() == 255) && result.out().isBlank();
    if (!mayBe
        || Pattern.compile(DOUBT, Pattern.CASE_INSENSITIVE | Pattern.MULTILINE)
            .matcher(err)
            .find()) {
      return false;
    }
    Pattern refusal = refusal();
    boolean refused = false;
    for (String line : err.split("\\R", -1)) {
      boolean known = line.startsWith(OWN) && refusal.matcher(line).find();
      if (line.contains(FAILED) && !known) {
        return false;
      }
      refused |= known;
    }
    return refused;
  }

  /** Compiles the pattern on each call, because it is needed only after a failure. */
  private static Pattern refusal() {
    return Pattern.compile(
        VALIDATION.stream()
            .map(message -> message.contains(".*") ? message : Pattern.quote(message))
            .collect(Collectors.joining("|")));
  }

  private static String plain(String text) {
    return text.indexOf('\u001b') < 0 ? text : text.replaceAll(ESCAPES, "");
  }
}
