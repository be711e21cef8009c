package dev.nexa.slurm.cluster.scheduler.local;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.base.units.TimeLimit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A job: its submission and the options of its script. Pure.
 *
 * @param id the job id
 * @param submission what was submitted
 * @param options the options of the script, without their hyphens
 * @param tasks the array indices; 0 for a job that is no array
 * @param resources the resources of one task
 * @param limit the time limit; empty for none
 * @param warning the signal that the script gets before the limit; empty for none
 */
record Job(
    long id,
    LocalSubmission submission,
    Map<String, String> options,
    IndexRange tasks,
    Resources resources,
    Optional<Duration> limit,
    Optional<Warning> warning) {
  /** The task id that Slurm gives a job that is no array (NO_VAL, slurm.h). */
  private static final String NO_TASK = "4294967294";

  private static final Pattern ARRAY = Pattern.compile("[^%]+(?:%(\\d{1,7}))?");
  private static final Pattern MODE = Pattern.compile("append|truncate");
  private static final Pattern COUNT = Pattern.compile("[1-9]\\d{0,5}");
  private static final Pattern OUTPUT = Pattern.compile("%[%Aa]");
  private static final Pattern WARNING =
      Pattern.compile(
          "B:(?:SIG)?(HUP|INT|QUIT|ABRT|KILL|ALRM|TERM|USR1|USR2|URG|CONT|STOP|TSTP)@(\\d{1,5})");

  /**
   * The signal that the script gets before its time limit (sbatch(1), {@code --signal=B:}).
   *
   * @param signal the signal's name without SIG
   * @param before how long before the limit
   */
  record Warning(String signal, Duration before) {}

  /**
   * Reads the script.
   *
   * @throws IllegalArgumentException if an option has no valid value, or requests more than one
   *     node
   */
  static Job of(long id, LocalSubmission submission, String script) {
    Map<String, String> options = SbatchOptions.of(script);
    submission.array().ifPresent(array -> options.put("array", array));
    String array = options.getOrDefault("array", "0");
    match(ARRAY, array, "an array such as 0-7%2");
    match(MODE, options.getOrDefault("open-mode", "truncate"), "the mode append or truncate");
    Duration minute = Duration.ofMillis(submission.settings().minuteMillis());
    Optional<String> time = Optional.ofNullable(options.get("time"));
    return new Job(
        id,
        submission,
        options,
        IndexRange.parse(array),
        Resources.of(options, submission.processors()),
        time.map(text -> minute.multipliedBy(TimeLimit.parse(text).toMinutes())),
        Optional.ofNullable(options.get("signal")).map(text -> warning(text, minute)));
  }

  /**
   * Returns the match of a whole text.
   *
   * @throws IllegalArgumentException that names what was expected, if the text has another form
   */
  static Matcher match(Pattern form, String text, String expected) {
    Matcher match = form.matcher(text);
    require(match.matches(), "expected " + expected + ", got '" + text + "'");
    return match;
  }

  private static Warning warning(String text, Duration minute) {
    Matcher warning = match(WARNING, text, "a signal to the script such as B:USR1@60");
    long seconds = Long.parseLong(warning.group(2));
    return new Warning(warning.group(1), minute.multipliedBy(seconds).dividedBy(60));
  }

  String name() {
    return submission.name();
  }

  String option(String option, String otherwise) {
    return options.getOrDefault(option, otherwise);
  }

  Optional<String> value(String option) {
    return Optional.ofNullable(options.get(option));
  }

  String partition() {
    return option("partition", "local");
  }

  boolean isArray() {
    return options.containsKey("array");
  }

  /** Returns the id that Slurm prints: {@code 12_3}, or {@code 12} for a job that is no array. */
  String taskId(int task) {
    return isArray() ? id + "_" + task : Long.toString(id);
  }

  /** Returns the log of a task. */
  Path output(int task) {
    Map<String, String> values =
        Map.of("%%", "%", "%A", "" + id, "%a", isArray() ? "" + task : NO_TASK);
    Matcher output = OUTPUT.matcher(submission.output());
    String log = output.replaceAll(found -> values.getOrDefault(found.group(), ""));
    return submission.directory().resolve(log);
  }

  /** Returns the {@code %N} of the array; empty if there is none. */
  Optional<Integer> throttle() {
    Matcher array = ARRAY.matcher(option("array", ""));
    return Optional.ofNullable(array.matches() ? array.group(1) : null)
        .map(Integer::valueOf)
        .filter(atOnce -> atOnce > 0);
  }

  /** Returns how many tasks run at once: {@code %N}, or else as many as the processors allow. */
  int atOnce() {
    return throttle().orElse(Math.max(1, submission.processors() / resources.cpus()));
  }

  boolean requeue() {
    return !options.containsKey("no-requeue");
  }

  boolean append() {
    return option("open-mode", "").equals("append");
  }

  /**
   * The resources of one task. They are reported to the script and to accounting, but not enforced.
   *
   * @param tasks number of processes that srun would start
   * @param cpus all CPUs
   * @param memoryMib memory of the node in MiB; empty if it is not requested, or all of it is
   */
  record Resources(int tasks, int cpus, Optional<Long> memoryMib) {
    /**
     * Reads the options.
     *
     * @param processors the number of processors of this machine, which a task has alone if it asks
     *     for that
     * @throws IllegalArgumentException if a value is not valid, or not one node is requested
     */
    static Resources of(Map<String, String> options, int processors) {
      require(count(options, "nodes") == 1, "expected one node: this machine is the only one");
      int tasks = count(options, "ntasks-per-node");
      int asked = tasks * count(options, "cpus-per-task");
      return new Resources(
          tasks,
          options.containsKey("exclusive") ? Math.max(asked, processors) : asked,
          Optional.ofNullable(options.get("mem")).flatMap(Resources::mebibytes));
    }

    private static int count(Map<String, String> options, String option) {
      String text = options.getOrDefault(option, "1");
      match(COUNT, text, "a number under --" + option);
      return Integer.parseInt(text);
    }

    /** Reads a size: MiB by default, rounded up; 0 means all memory (sbatch(1), --mem). */
    private static Optional<Long> mebibytes(String text) {
      OptionalLong bytes = SlurmSize.bytes(text, SlurmSize.MIB);
      require(bytes.isPresent(), "expected memory such as 8G, got '" + text + "'");
      return Optional.of((bytes.getAsLong() + SlurmSize.MIB - 1) / SlurmSize.MIB)
          .filter(mib -> mib > 0);
    }

    /**
     * Returns the TRES as sacct prints them with {@code --noconvert}. Billing is the number of
     * CPUs.
     */
    String tres() {
      String memory = memoryMib.map(mib -> ",mem=" + mib + "M").orElse("");
      return "billing=" + cpus + ",cpu=" + cpus + memory + ",node=1";
    }
  }
}
