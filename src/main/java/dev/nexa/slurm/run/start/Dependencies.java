package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.reconcile.EarlierJobs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Reads what a new run waits for: the runs of {@code --from} and {@code --dependency}.
 *
 * <p>The text of {@code --dependency} is what sbatch(1) accepts, such as {@code afterok:RUN} or
 * {@code afterany:RUN:RUN}, with runs in place of job ids; commas separate several dependencies.
 */
final class Dependencies {
  private static final List<String> TYPES =
      List.of("afterok", "afterany", "afternotok", "aftercorr");
  private static final Pattern FOREIGN = Pattern.compile("\\d{1,18}");

  private Dependencies() {}

  /**
   * Returns everything that a run waits for. The runs whose files it reads come first.
   *
   * @param inputs the runs of {@code --from}
   * @param typed the value of {@code --dependency}
   * @throws NexaException with {@link ExitCode#USAGE} if the value is malformed or names no run
   */
  static List<Earlier> of(Context context, List<RunInput> inputs, Optional<String> typed) {
    List<Earlier> after = new ArrayList<>();
    inputs.forEach(it -> after.add(new Earlier("afterok", it.run().value(), Optional.empty())));
    typed.ifPresent(text -> after.addAll(parse(context, text)));
    return List.copyOf(after);
  }

  /**
   * Returns what the text names.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if the text is malformed or names no run
   */
  private static List<Earlier> parse(Context context, String text) {
    List<Earlier> after = new ArrayList<>();
    for (String one : text.split(",", -1)) {
      String[] parts = one.split(":", -1);
      boolean known = TYPES.contains(parts[0]);
      if (!known || parts.length < 2 || parts[1].isEmpty()) {
        throw wrong(
            "--dependency",
            "expected TYPE:RUN, such as afterok:latest, got '%s'%s"
                .formatted(one, known ? ", which names no run" : Nearest.hint(parts[0], TYPES)),
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
   * @param inputs the runs of {@code --from}
   * @param after what {@link #of} returned for them
   * @throws NexaException with {@link ExitCode#USAGE} if it can never be met, or is not known yet
   */
  static String onJobs(
      Context context, String scheduler, List<RunInput> inputs, List<Earlier> after) {
    EarlierJobs jobs =
        new EarlierJobs(
            context.workspace(), context.schedulerToSubmit(scheduler), Optional.empty());
    List<Earlier> read = after.subList(0, inputs.size());
    String first = read.isEmpty() ? "" : waits("--from", jobs.of(read));
    List<Earlier> typed = after.subList(inputs.size(), after.size());
    String then = typed.isEmpty() ? "" : waits("--dependency", jobs.of(typed));
    return first.isEmpty() || then.isEmpty() ? first + then : first + "," + then;
  }

  private static String waits(String option, EarlierJobs.Answer answer) {
    if (answer instanceof EarlierJobs.Never never) {
      throw wrong(option, never.reason(), never.advice());
    }
    if (answer instanceof EarlierJobs.NotYet notYet) {
      throw wrong(
          option,
          notYet.reason(),
          Advice.command("finds out; then type this again", "nexa-slurm", "reconcile"));
    }
    return ((EarlierJobs.Waits) answer).dependency();
  }

  private static NexaException wrong(String option, String message, Advice advice) {
    return ErrorCode.DEPENDENCY_INVALID.error(option + ": " + message, advice);
  }
}
