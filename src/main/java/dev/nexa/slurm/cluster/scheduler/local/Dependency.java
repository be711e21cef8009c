package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.error.Nearest;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.LongFunction;
import java.util.regex.Pattern;

/**
 * The conditions that a job waits for, as sbatch's {@code --dependency} names them. Commas separate
 * conditions, and all of them must be met. Pure.
 *
 * <p>The meaning of each type is Slurm's (sbatch(1), {@code --dependency}; tried on 22.05.8). This
 * machine forgets no job, so a job id that it does not know is refused; Slurm accepts it.
 *
 * @param conditions the conditions; empty for a job that does not wait
 */
record Dependency(List<Condition> conditions) {
  private static final Pattern IDS = Pattern.compile("(:\\d{1,18})+");

  /** The types that this scheduler knows, under Slurm's names. */
  enum Type {
    AFTEROK,
    AFTERANY,
    AFTERNOTOK,
    AFTERCORR;

    private String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** One condition: what is expected of each of these jobs. */
  record Condition(Type type, List<Long> jobs) {}

  /** Whether a task may start. */
  enum Verdict {
    MET,
    WAITS,
    /** It can start only if a job that it waits for runs again. */
    NEVER;

    private Verdict and(Verdict other) {
      return compareTo(other) >= 0 ? this : other;
    }
  }

  Dependency {
    conditions = List.copyOf(conditions);
  }

  /**
   * Reads an option's value.
   *
   * @param text such as {@code afterok:3:4,afterany:5}; empty for none
   * @throws SbatchRefusal if the text is malformed or names another type
   */
  static Dependency parse(String text) {
    List<Condition> conditions = new ArrayList<>();
    for (String one : text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1))) {
      int colon = one.indexOf(':');
      String name = colon < 0 ? one : one.substring(0, colon);
      if (colon < 0 || !IDS.matcher(one.substring(colon)).matches()) {
        throw SbatchRefusal.submission("Job dependency problem");
      }
      List<Long> jobs = new ArrayList<>();
      for (String id : one.substring(colon + 1).split(":", -1)) {
        jobs.add(Long.parseLong(id));
      }
      conditions.add(new Condition(type(name), List.copyOf(jobs)));
    }
    return new Dependency(conditions);
  }

  private static Type type(String name) {
    List<String> names = new ArrayList<>();
    for (Type type : Type.values()) {
      if (type.text().equals(name)) {
        return type;
      }
      names.add(type.text());
    }
    throw SbatchRefusal.error(
        "the local scheduler does not know the dependency '"
            + name
            + "'"
            + Nearest.hint(name, names));
  }

  boolean isNone() {
    return conditions.isEmpty();
  }

  /** Returns every job that is waited for. */
  List<Long> jobs() {
    List<Long> jobs = new ArrayList<>();
    conditions.forEach(condition -> jobs.addAll(condition.jobs()));
    return jobs;
  }

  /**
   * Returns whether a task of the waiting job may start.
   *
   * @param histories the history of each job in {@link #jobs}
   */
  Verdict verdict(int task, LongFunction<JobHistory> histories) {
    Verdict verdict = Verdict.MET;
    for (Condition condition : conditions) {
      for (long job : condition.jobs()) {
        verdict = verdict.and(verdict(condition.type(), task, histories.apply(job)));
      }
    }
    return verdict;
  }

  private static Verdict verdict(Type type, int task, JobHistory job) {
    if (type == Type.AFTERCORR && job.has(task)) {
      return completed(List.of(job.last(task)));
    }
    List<Attempt> all = job.last(attempt -> true);
    return switch (type) {
      case AFTEROK, AFTERCORR -> completed(all);
      case AFTERANY -> over(all) ? Verdict.MET : Verdict.WAITS;
      case AFTERNOTOK -> over(all) ? not(completed(all)) : Verdict.WAITS;
    };
  }

  private static Verdict not(Verdict completed) {
    return completed == Verdict.MET ? Verdict.NEVER : Verdict.MET;
  }

  /** Returns whether all of these tasks completed; NEVER as soon as one ended otherwise. */
  private static Verdict completed(List<Attempt> tasks) {
    Verdict verdict = Verdict.MET;
    for (Attempt task : tasks) {
      boolean ended = task.over() && !task.again();
      Verdict one = task.state().equals("COMPLETED") ? Verdict.MET : Verdict.NEVER;
      verdict = verdict.and(ended ? one : Verdict.WAITS);
    }
    return verdict;
  }

  private static boolean over(List<Attempt> tasks) {
    return tasks.stream().allMatch(task -> task.over() && !task.again());
  }
}
