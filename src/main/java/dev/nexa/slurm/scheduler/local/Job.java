package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.units.IndexRange;
import dev.nexa.slurm.units.TimeLimit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A job as slurmctld would hold it: what was submitted and what its script's directives say, read
 * and checked. Pure.
 */
record Job(long id, Submission submission, Options options, Resources resources, IndexRange tasks) {
  /** The task id that Slurm shows for a job that is no array (NO_VAL, slurm.h). */
  private static final String NO_TASK = "4294967294";

  /**
   * Reads the script. What goes by argument to sbatch wins over the directives (sbatch(1)).
   *
   * @throws Refusal if sbatch would have refused it
   */
  static Job of(long id, Submission submission, String script) {
    Options options = Options.parse(Directives.words(submission.scriptName(), script));
    options.put(Option.JOB_NAME, submission.name());
    if (!submission.output().isEmpty()) {
      options.put(Option.OUTPUT, submission.output());
    }
    options.put(Option.CHDIR, submission.directory().toString());
    options.put(Option.EXPORT, "ALL");
    if (!submission.comment().isEmpty()) {
      options.put(Option.COMMENT, submission.comment());
    }
    submission.array().ifPresent(array -> options.put(Option.ARRAY, array));
    Resources resources = Resources.of(options, submission.processors());
    Job job = new Job(id, submission, options, resources, indices(options));
    job.check();
    return job;
  }

  private static IndexRange indices(Options options) {
    try {
      return options.get(Option.ARRAY).map(IndexRange::parse).orElse(IndexRange.upTo(1));
    } catch (IllegalArgumentException noRange) {
      throw Refusal.submission("Invalid job array specification");
    }
  }

  private void check() {
    limit();
    warning();
    throttle();
    oneOf(Option.OPEN_MODE, List.of("append", "truncate", "a", "t"));
    oneOf(Option.KILL_ON_INVALID_DEP, List.of("yes", "no"));
    oneOf(Option.EXCLUSIVE, List.of("", "user", "mcs"));
  }

  private void oneOf(Option option, List<String> values) {
    if (options.has(option) && !values.contains(options.text(option).toLowerCase(Locale.ROOT))) {
      throw Refusal.error("Invalid --" + option.longName() + " specification");
    }
  }

  String name() {
    return submission.name();
  }

  String partition() {
    return options.get(Option.PARTITION).orElse("local");
  }

  boolean isArray() {
    return options.has(Option.ARRAY);
  }

  /** {@code 12_3}, or {@code 12} where the job is no array. */
  String taskId(int task) {
    return isArray() ? id + "_" + task : Long.toString(id);
  }

  /** What {@code %a} stands for. */
  String taskNumber(int task) {
    return isArray() ? Integer.toString(task) : NO_TASK;
  }

  /** The time limit; empty is none. */
  Optional<Duration> limit() {
    String text = options.get(Option.TIME).orElse("UNLIMITED");
    if (List.of("UNLIMITED", "INFINITE", "0", "-1").contains(text.toUpperCase(Locale.ROOT))) {
      return Optional.empty();
    }
    try {
      if (text.matches("[0-9:-]+")) {
        long minutes = TimeLimit.parse(text).toMinutes();
        return Optional.of(submission.settings().minute().multipliedBy(minutes));
      }
    } catch (IllegalArgumentException notSlurmsForm) {
      // Said below.
    }
    throw Refusal.error("Invalid --time specification");
  }

  Optional<Warning> warning() {
    return Warning.of(options);
  }

  /** The {@code %N} of the array option, or empty. */
  Optional<Integer> throttle() {
    String array = options.text(Option.ARRAY);
    int percent = array.indexOf('%');
    if (percent < 0) {
      return Optional.empty();
    }
    String digits = array.substring(percent + 1);
    if (!digits.matches("\\d{1,7}")) {
      throw Refusal.submission("Invalid job array specification");
    }
    int atOnce = Integer.parseInt(digits);
    return atOnce == 0 ? Optional.empty() : Optional.of(atOnce);
  }

  /**
   * How many tasks run at a time: what {@code %N} says, else as many as there are processors for.
   * Nobody knows how many GPUs there are: without {@code %N}, tasks that want some run one by one.
   */
  int atOnce() {
    int fitting = Math.max(1, submission.processors() / resources.cpus());
    return throttle().orElse(resources.gpus() > 0 ? 1 : fitting);
  }

  boolean requeue() {
    return !options.has(Option.NO_REQUEUE);
  }

  boolean append() {
    return options.text(Option.OPEN_MODE).toLowerCase(Locale.ROOT).startsWith("a");
  }

  Path directory() {
    return submission.directory();
  }
}
