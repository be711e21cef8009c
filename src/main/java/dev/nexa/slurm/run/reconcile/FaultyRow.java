package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A row of accounting that contradicts itself, so that it is unknown which of its figures is right.
 *
 * <p>Its run waits for 7 days until somebody corrects the row in accounting. After that, the run is
 * charged the most that the row and the plan allow. Its records say so.
 *
 * <p>slurmctld 22.05 loses the Start of a job that is requeued within a second of its start (seen
 * in 4 of 10,000 jobs). Nobody corrects such a row, and little money is in doubt. Therefore its run
 * does not wait. A run also does not wait if its row began some seconds before it was queued: the
 * controller's clock was set back.
 *
 * @param counts whether the row can be the run's. A row that ended long before the run was
 *     submitted is not, so the run does not pay for it
 */
public record FaultyRow(AccountingRecord row, String fault, boolean counts) {
  /** How long accounting may still be corrected after the row's end. */
  private static final Duration PATIENCE = Duration.ofDays(7);

  /** A time that exceeds the time limit by more than this is not a real time of an attempt. */
  private static final Duration OVER_ITS_LIMIT = Duration.ofDays(1);

  /** If less time than this is in doubt, the run does not wait for a correction. */
  private static final Duration LITTLE = Duration.ofMinutes(1);

  /**
   * Returns whether a time of a row lies so long before the run was submitted that it cannot be the
   * run's. With clocks that differ more, munge lets no user submit (munge(7), its TTL).
   *
   * @param time the epoch if it is not known
   * @param sent when the run was submitted; {@link Instant#MIN} if that is not known
   */
  public static boolean isTooEarly(Instant time, Instant sent) {
    return !time.equals(Instant.EPOCH) && time.plus(RunPass.CLOCKS).isBefore(sent);
  }

  /**
   * Returns whether an attempt took so much longer than its limit that the run waits for a person,
   * who may still correct the row.
   */
  static boolean isFarOver(AccountingRecord row, Duration limit, Instant now) {
    return row.more().faults().isEmpty()
        && row.elapsedSeconds() > limit.plus(OVER_ITS_LIMIT).toSeconds()
        && !isGivenUp(row, now);
  }

  /** Returns whether the run still waits for a correction of the row. */
  public boolean waits(Instant now) {
    return counts && !isGivenUp(row, now);
  }

  private static boolean isGivenUp(AccountingRecord row, Instant now) {
    return row.ended() && (row.end().get().plus(PATIENCE).isBefore(now) || isLittle(row));
  }

  /**
   * Returns whether the row has only a small fault. It lacks only its Start, and ended soon after
   * it was queued; or its only fault is that it began soon before it was queued.
   */
  private static boolean isLittle(AccountingRecord row) {
    boolean lacksStart = row.start().isEmpty();
    Instant from = row.start().orElse(row.submit());
    Duration most = Duration.between(from, lacksStart ? row.end().orElseThrow() : row.submit());
    return row.more().faults().size() == 1
        && !row.allocTres().isEmpty()
        && (lacksStart ? !most.isNegative() : most.toSeconds() > 0)
        && most.compareTo(LITTLE) <= 0;
  }

  /** Returns a sentence that says what is wrong and how to correct it. */
  public String told(Instant now) {
    boolean unread = row.rawJobId() == 0;
    String what = (unread ? "" : "job " + row.shownId() + " in ") + "accounting: " + fault;
    if (!counts) {
      return what + "; it is not charged, and a run whose task has no other row waits";
    }
    if (!waits(now)) {
      return what + "; it is charged the most that the row and the plan allow";
    }
    boolean over = row.end().isPresent() && row.state().endsAttempt();
    if (!over && !unread && row.state().endsAttempt()) {
      // Each row that ends quickly looks like this for a moment.
      return what
          + " yet; the next pass looks again. If it stays so: `sacctmgr show runawayjobs` ends a job"
          + " without an end, as COMPLETED";
    }
    return what
        + "; its run waits until that row is fixed in slurmdbd's database"
        + (over
            ? ", or is charged the most that the row and the plan allow after "
                + row.end().get().plus(PATIENCE)
            : unread
                ? ""
                : " (`sacctmgr show runawayjobs` ends a job without an end, as COMPLETED)");
  }

  /**
   * Returns the row; if it is faulty and its wait is over, returns it with the most that it can
   * have cost.
   */
  static AccountingRecord priced(AccountingRecord row, RunFacts facts, Instant now) {
    if (row.more().faults().isEmpty() || !isGivenUp(row, now)) {
      return row;
    }
    long most = facts.work().longestLimit().plus(OVER_ITS_LIMIT).toSeconds();
    // A job cannot have started before it was queued.
    Instant start = row.start().filter(told -> !told.isBefore(row.submit())).orElse(row.submit());
    long between = Duration.between(start, row.end().orElseThrow()).toSeconds();
    long seconds = Math.max(plausible(row.elapsedSeconds(), most), plausible(between, most));
    return row.holding(
        start,
        largest(row.allocTres(), row.reqTres(), planned(row, facts)),
        seconds == 0 && between != 0 ? facts.work().timeLimit().toSeconds() : seconds);
  }

  private static String planned(AccountingRecord row, RunFacts facts) {
    List<Integer> tasks = row.tasks().indices();
    return facts.planned().of(tasks.isEmpty() ? 0 : tasks.get(0)).tres();
  }

  private static long plausible(long seconds, long most) {
    return seconds > most ? 0 : Math.max(0, seconds);
  }

  /**
   * Returns the largest amount of each resource in the lists, and the GPUs of the list with the
   * most GPUs.
   */
  private static String largest(String allocated, String requested, String planned) {
    Map<String, Long> most = new TreeMap<>();
    String gpus = allocated;
    long count = -1;
    for (String list : new String[] {allocated, requested, planned}) {
      for (String item : list.split(",", -1)) {
        int equals = item.indexOf('=');
        String name = item.substring(0, Math.max(0, equals));
        boolean memory = name.equals("mem");
        if (memory || name.equals("cpu") || name.equals("node") || name.equals("billing")) {
          long unit = memory ? SlurmSize.MIB : 1;
          SlurmSize.bytes(item.substring(equals + 1), unit)
              .ifPresent(amount -> most.merge(name, amount, Math::max));
        }
      }
      long own = Tres.parse(list).gpus().orElse(0L);
      if (own > count || (own == count && !gpus.contains("gres/gpu:"))) {
        count = own;
        gpus = list;
      }
    }
    List<String> all = new ArrayList<>();
    most.forEach(
        (name, amount) -> {
          long mebibytes = (amount + SlurmSize.MIB - 1) / SlurmSize.MIB;
          all.add(name + "=" + (name.equals("mem") ? mebibytes + "M" : amount));
        });
    return Arrays.stream(gpus.split(",", -1))
        .filter(item -> item.startsWith("gres/"))
        .reduce(String.join(",", all), (list, item) -> list + "," + item);
  }
}
