package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.TimeLimit;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A job as slurmctld would hold it: the submission and the checked options of its script. Pure.
 *
 * @param id the job id
 * @param submission the arguments of the submission
 * @param options the options of script and submission
 * @param resources the resources of one task
 * @param tasks the array indices; 0 for a job that is no array
 */
record Job(
    long id,
    LocalSubmission submission,
    OptionReader options,
    Resources resources,
    IndexRange tasks) {
  /** The task id that Slurm gives a job that is no array (NO_VAL, slurm.h). */
  private static final String NO_TASK = "4294967294";

  /**
   * Reads the script. Arguments of sbatch override the script's directives (sbatch(1)).
   *
   * @throws SbatchRefusal if sbatch would refuse the job
   */
  static Job of(long id, LocalSubmission submission, String script) {
    OptionReader options = OptionReader.parse(Directives.words(submission.scriptName(), script));
    options.put(SbatchOption.JOB_NAME, submission.name());
    if (!submission.output().isEmpty()) {
      options.put(SbatchOption.OUTPUT, submission.output());
    }
    options.put(SbatchOption.CHDIR, submission.directory().toString());
    options.put(SbatchOption.EXPORT, "ALL");
    if (!submission.comment().isEmpty()) {
      options.put(SbatchOption.COMMENT, submission.comment());
    }
    submission.array().ifPresent(array -> options.put(SbatchOption.ARRAY, array));
    if (!submission.dependency().isEmpty()) {
      options.put(SbatchOption.DEPENDENCY, submission.dependency());
    }
    Resources resources = Resources.of(options, submission.processors());
    Job job = new Job(id, submission, options, resources, indices(options));
    job.check();
    return job;
  }

  private static IndexRange indices(OptionReader options) {
    try {
      return options.get(SbatchOption.ARRAY).map(IndexRange::parse).orElse(IndexRange.upTo(1));
    } catch (IllegalArgumentException noRange) {
      throw SbatchRefusal.submission("Invalid job array specification");
    }
  }

  private void check() {
    limit();
    warning();
    throttle();
    dependency();
    oneOf(SbatchOption.OPEN_MODE, List.of("append", "truncate", "a", "t"));
    oneOf(SbatchOption.KILL_ON_INVALID_DEP, List.of("yes", "no"));
    oneOf(SbatchOption.EXCLUSIVE, List.of("", "user", "mcs"));
  }

  private void oneOf(SbatchOption option, List<String> values) {
    if (options.has(option) && !values.contains(options.text(option).toLowerCase(Locale.ROOT))) {
      throw SbatchRefusal.error("Invalid --" + option.longName() + " specification");
    }
  }

  String name() {
    return submission.name();
  }

  String partition() {
    return options.get(SbatchOption.PARTITION).orElse("local");
  }

  boolean isArray() {
    return options.has(SbatchOption.ARRAY);
  }

  /** Returns the id that Slurm prints: {@code 12_3}, or {@code 12} for a job that is no array. */
  String taskId(int task) {
    return isArray() ? id + "_" + task : Long.toString(id);
  }

  /** Returns the text that replaces {@code %a}. */
  String taskNumber(int task) {
    return isArray() ? Integer.toString(task) : NO_TASK;
  }

  /** Returns the time limit; empty for none. */
  Optional<Duration> limit() {
    String text = options.get(SbatchOption.TIME).orElse("UNLIMITED");
    if (List.of("UNLIMITED", "INFINITE", "0", "-1").contains(text.toUpperCase(Locale.ROOT))) {
      return Optional.empty();
    }
    try {
      if (text.matches("[0-9:-]+")) {
        long minutes = TimeLimit.parse(text).toMinutes();
        return Optional.of(submission.settings().minute().multipliedBy(minutes));
      }
    } catch (IllegalArgumentException notSlurmsForm) {
      // Reported below.
    }
    throw SbatchRefusal.error("Invalid --time specification");
  }

  Optional<TimeWarning> warning() {
    return TimeWarning.of(options);
  }

  /** Returns the {@code %N} of the array option; empty if there is none. */
  Optional<Integer> throttle() {
    String array = options.text(SbatchOption.ARRAY);
    int percent = array.indexOf('%');
    if (percent < 0) {
      return Optional.empty();
    }
    String digits = array.substring(percent + 1);
    if (!digits.matches("\\d{1,7}")) {
      throw SbatchRefusal.submission("Invalid job array specification");
    }
    int atOnce = Integer.parseInt(digits);
    return atOnce == 0 ? Optional.empty() : Optional.of(atOnce);
  }

  /**
   * Returns how many tasks run at once: {@code %N}, or else as many as the processors allow. The
   * number of GPUs is not known, so without {@code %N}, tasks with GPUs run one at a time.
   */
  int atOnce() {
    int fitting = Math.max(1, submission.processors() / resources.cpus());
    return throttle().orElse(resources.gpus() > 0 ? 1 : fitting);
  }

  Dependency dependency() {
    return Dependency.parse(options.text(SbatchOption.DEPENDENCY));
  }

  /** Returns whether tasks whose dependency can never be met are cancelled. Slurm's default: no. */
  boolean killedOnInvalidDependency() {
    return options.text(SbatchOption.KILL_ON_INVALID_DEP).equalsIgnoreCase("yes");
  }

  boolean requeue() {
    return !options.has(SbatchOption.NO_REQUEUE);
  }

  boolean append() {
    return options.text(SbatchOption.OPEN_MODE).toLowerCase(Locale.ROOT).startsWith("a");
  }

  Path directory() {
    return submission.directory();
  }
}
