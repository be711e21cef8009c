package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.units.Money;

/**
 * The money of a run that has begun: what it has cost, and the most that its open tasks can cost.
 *
 * <p>An approval covers a rerun if the most that the run can cost with the rerun is within the
 * approved amount ({@link #withRerun}). docs/decisions/042-approval-balance.md says why.
 *
 * @param spent the cost of all attempts until now
 * @param reserved the reservation of the tasks that have not ended, without the tasks of the rerun.
 *     Such a task counts in full, also if an attempt of it has cost something already
 */
public record RunMoney(Money spent, Money reserved) {
  /** Returns the most that the run can cost, if a rerun can cost this much. */
  Money withRerun(Money rerun) {
    return spent.plus(reserved).plus(rerun);
  }

  /** Returns a sentence for a run that an approval does not cover. */
  String beyond(Money rerun, Money approved) {
    String open =
        reserved.amount().signum() == 0 ? "" : "its open tasks can cost " + reserved + " more, ";
    return "the run has cost %s, %sthis can cost %s more, and at most %s was approved"
        .formatted(spent, open, rerun, approved);
  }
}
