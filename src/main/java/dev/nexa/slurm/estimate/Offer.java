package dev.nexa.slurm.estimate;

import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * One way to run a job: where, on what.
 *
 * @param partition empty where it is left to Slurm
 * @param hardware of one task: {@code 4x h100}
 * @param nodes of one task
 * @param asked whether it is what the config says
 * @param set what to type behind {@code --set} to get it; nothing where it is asked for
 * @param misfit why it does not go there; empty where it does
 * @param tooLarge in which words its model does not fit the GPU's memory; empty where it fits, or
 *     nobody can tell
 * @param limitSeconds the time limit it would have there
 * @param reservation the most it can cost there
 * @param expected what it will probably cost there
 * @param comparable whether it is known how fast it is there
 * @param start when it would begin
 * @param noStart why that is not known
 */
public record Offer(
    String partition,
    String hardware,
    int nodes,
    boolean asked,
    List<String> set,
    String misfit,
    String tooLarge,
    long limitSeconds,
    Optional<Money> reservation,
    Optional<Expected> expected,
    boolean comparable,
    Optional<Instant> start,
    String noStart) {

  /** One where the job does not go. */
  public static Offer misfit(
      String partition, String hardware, int nodes, List<String> set, String why) {
    return new Offer(
        partition,
        hardware,
        nodes,
        false,
        set,
        why,
        "",
        0,
        Optional.empty(),
        Optional.empty(),
        false,
        Optional.empty(),
        "");
  }

  /** What it costs where that is compared: what is expected, else the most. */
  Optional<Money> cost() {
    return expected.isPresent() ? Optional.of(expected.get().total()) : reservation;
  }

  /** The cost, to sort by: where there is none, above all that have one. */
  public BigDecimal dearness() {
    Optional<Money> cost = cost();
    return cost.isPresent() ? cost.get().amount() : new BigDecimal("1e30");
  }

  /** How long a task takes, by what is expected, else by its limit. */
  public long seconds() {
    return expected.isPresent() ? expected.get().runSeconds() : limitSeconds;
  }

  /** When a task would be done. */
  public Optional<Instant> end() {
    return start.isEmpty() ? start : Optional.of(start.get().plusSeconds(seconds()));
  }
}
