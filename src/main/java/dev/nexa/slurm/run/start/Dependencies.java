package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads {@code --dependency}.
 *
 * <p>The text is what sbatch(1) accepts, such as {@code afterok:RUN} or {@code afterany:RUN:RUN},
 * with runs in place of job ids; commas separate several dependencies.
 */
final class Dependencies {
  private static final List<String> TYPES =
      List.of("afterok", "afterany", "afternotok", "aftercorr");
  private static final Pattern FOREIGN = Pattern.compile("\\d{1,18}");

  private Dependencies() {}

  /**
   * Returns what the text names.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the text is malformed or names no run
   */
  static List<Earlier> parse(Context context, String text) {
    List<Earlier> after = new ArrayList<>();
    for (String one : text.split(",", -1)) {
      String[] parts = one.split(":", -1);
      boolean known = TYPES.contains(parts[0]);
      if (!known || parts.length < 2 || parts[1].isEmpty()) {
        throw wrong(
            "expected TYPE:RUN, such as afterok:latest, got '"
                + one
                + "'"
                + (known ? ", which names no run" : Nearest.hint(parts[0], TYPES)),
            Advice.step("types are " + String.join(", ", TYPES)));
      }
      for (int i = 1; i < parts.length; i++) {
        after.add(new Earlier(parts[0], reference(context, parts[i]), Optional.empty()));
      }
    }
    return List.copyOf(after);
  }

  private static String reference(Context context, String typed) {
    try {
      return new RunLookup(context.workspace()).find(typed).run().id().value();
    } catch (NexaException noRun) {
      if (FOREIGN.matcher(typed).matches()) {
        return typed;
      }
      throw noRun;
    }
  }

  /**
   * Returns the value of sbatch's {@code --dependency}; empty if everything is met.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if it can never be met, or is not known yet
   */
  static String onJobs(Context context, String scheduler, List<Earlier> after) {
    EarlierJobs jobs =
        new EarlierJobs(context.workspace(), context.scheduler(scheduler), Optional.empty());
    EarlierJobs.Answer answer = jobs.of(after);
    if (answer instanceof EarlierJobs.Never never) {
      throw wrong(never.reason(), never.advice());
    }
    if (answer instanceof EarlierJobs.NotYet notYet) {
      throw wrong(
          notYet.reason(),
          Advice.command("finds out; then type this again", "nexa-slurm", "reconcile"));
    }
    return ((EarlierJobs.Waits) answer).dependency();
  }

  private static NexaException wrong(String message, Advice advice) {
    return new NexaException(ErrorCode.DEPENDENCY_INVALID, "--dependency: " + message, advice);
  }
}
