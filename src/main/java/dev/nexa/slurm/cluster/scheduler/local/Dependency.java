package dev.nexa.slurm.cluster.scheduler.local;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
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
  private static final Pattern FORM =
      Pattern.compile("(afterok|afterany|afternotok|aftercorr)((?::\\d{1,18})+)");

  /**
   * A condition on another job.
   *
   * @param type one of the words of {@link #FORM}
   */
  record Condition(String type, long job) {}

  /** Whether a task may start. */
  enum Verdict {
    MET,
    WAITS,
    /** It can start only if a job that it waits for runs again. */
    NEVER
  }

  /**
   * Reads an option's value.
   *
   * @param text such as {@code afterok:3:4,afterany:5}; empty for none
   * @throws IllegalArgumentException if the text is malformed or names another type
   */
  static Dependency parse(String text) {
    List<Condition> conditions = new ArrayList<>();
    for (String one : text.isEmpty() ? new String[0] : text.split(",", -1)) {
      Matcher form =
          Job.match(FORM, one, "afterok, afterany, afternotok or aftercorr with ids of jobs");
      for (String id : form.group(2).substring(1).split(":", -1)) {
        conditions.add(new Condition(form.group(1), Long.parseLong(id)));
      }
    }
    return new Dependency(conditions);
  }

  /**
   * Returns whether a pending attempt of the waiting job may start. A task that was requeued waits
   * no more.
   *
   * @param histories the history of each job that is waited for
   */
  Verdict verdict(Attempt pending, LongFunction<JobHistory> histories) {
    return conditions.stream()
        .filter(condition -> pending.restart() == 0)
        .map(one -> verdict(one.type(), pending.task(), histories.apply(one.job())))
        .max(Comparator.naturalOrder())
        .orElse(Verdict.MET);
  }

  private static Verdict verdict(String type, int task, JobHistory job) {
    boolean one = type.equals("aftercorr") && job.has(task);
    List<Attempt> tasks = job.last(attempt -> !one || attempt.task() == task);
    boolean over = tasks.stream().allMatch(Dependency::ended);
    boolean failed = tasks.stream().anyMatch(at -> ended(at) && !at.state().equals("COMPLETED"));
    return switch (type) {
      case "afterok", "aftercorr" -> failed ? Verdict.NEVER : over ? Verdict.MET : Verdict.WAITS;
      case "afterany" -> over ? Verdict.MET : Verdict.WAITS;
      default -> !over ? Verdict.WAITS : failed ? Verdict.MET : Verdict.NEVER;
    };
  }

  private static boolean ended(Attempt task) {
    return task.over() && !task.again();
  }
}
