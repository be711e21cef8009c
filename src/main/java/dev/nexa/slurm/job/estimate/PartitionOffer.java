package dev.nexa.slurm.job.estimate;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One way to run a job: a partition and its hardware.
 *
 * @param where the partition and the hardware there
 * @param asked whether the config asks for this offer
 * @param set the {@code --set} arguments that select this offer; empty if the config asks for it
 * @param misfit why the job does not fit; an empty text if it fits
 * @param tooLarge why the model does not fit the GPU's memory; an empty text if it fits or that is
 *     unknown
 * @param limitSeconds the time limit there
 * @param reservation the most that the job can cost there
 * @param unrounded the reservation before rounding; 0 without a reservation
 * @param expected the expected cost there
 * @param comparable whether the speed there is known
 * @param start the estimated start; empty if unknown
 * @param noStart why the start is unknown
 */
public record PartitionOffer(
    Where where,
    boolean asked,
    List<String> set,
    String misfit,
    String tooLarge,
    long limitSeconds,
    Optional<Money> reservation,
    BigDecimal unrounded,
    Optional<Expected> expected,
    boolean comparable,
    Optional<Instant> start,
    String noStart) {

  /**
   * A partition and its hardware.
   *
   * @param partition the partition; an empty text if Slurm chooses
   * @param hardware the hardware of one task: {@code 4x h100}
   * @param nodes the nodes of one task
   */
  public record Where(String partition, String hardware, int nodes) {}

  /** Returns an offer that the job does not fit. */
  public static PartitionOffer misfit(Where where, List<String> set, String why) {
    return new PartitionOffer(
        where,
        false,
        set,
        why,
        "",
        0,
        Optional.empty(),
        BigDecimal.ZERO,
        Optional.empty(),
        false,
        Optional.empty(),
        "");
  }

  /** Returns the cost for comparisons: the expected cost, else the reservation. */
  Optional<Money> cost() {
    return expected.isPresent() ? Optional.of(expected.get().total()) : reservation;
  }

  /** Returns a sort key: the cost, or a very large number if it is unknown. */
  public BigDecimal dearness() {
    return cost().map(Money::amount).orElseGet(() -> new BigDecimal("1e30"));
  }

  /** Returns the duration that a task is expected to need, else its time limit. */
  public long seconds() {
    return expected.isPresent() ? expected.get().neededSeconds() : limitSeconds;
  }

  /** Returns the estimated end of a task; empty if its start is unknown. */
  public Optional<Instant> end() {
    return start.isEmpty() ? start : Optional.of(start.get().plusSeconds(seconds()));
  }
}
