package dev.nexa.slurm.job.estimate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.site.PriceBook.Price;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Estimates against what 600 made-up runs came to, each judged by the runs before it alone. The
 * window and the step of {@link Quantiles} were chosen with seeds 0 to 59; these are others.
 */
class SimulatedEstimatesTest {
  /** Dear, so that rounding to cents hides nothing. */
  private static final Rates RATES =
      new Rates(
          "book",
          "2025-11-01",
          "d1",
          "USD",
          Map.of("h100", price("2000"), "a100", price("1200")),
          Map.of(PricedUnit.CPU, price("10"), PricedUnit.MEMORY, price("1")),
          BillingMode.PLAIN,
          Map.of());

  @ParameterizedTest(name = "{0}")
  @CsvSource({"8 families of 75 runs, 7001, 8, 75", "40 families of 15 runs, 7002, 40, 15"})
  void noReservationIsExceededAndTheP90CoversNineOfTen(
      String name, long seed, int families, int ofEach) {
    List<PastRun> past = new ArrayList<>();
    int promised = 0;
    int covered = 0;
    int below = 0;
    int overReservation = 0;
    int timedOut = 0;
    List<SimulatedRuns.Run> runs = new SimulatedRuns(seed, families).runs(ofEach);
    for (SimulatedRuns.Run run : runs) {
      Plan plan = plan(run);
      Estimate estimate = Estimate.of(plan, RATES);
      Outlook outlook = Outlook.of(plan, estimate, data(run), past, Optional.empty());
      Money actual = actual(run);
      if (actual.compareTo(estimate.total()) > 0) {
        overReservation++;
      }
      timedOut += run.timedOut() ? 1 : 0;
      if (outlook.expected().isPresent()) {
        Expected expected = outlook.expected().get();
        promised++;
        covered += actual.compareTo(expected.high()) <= 0 ? 1 : 0;
        below += actual.compareTo(expected.total()) <= 0 ? 1 : 0;
      }
      past.add(0, past(run, plan, actual));
    }
    System.out.printf(
        "%s: %d runs, %d over their reservation; of %d with a history P50 covers %.1f %%, P90 %.1f %%%n",
        name,
        runs.size(),
        overReservation,
        promised,
        100.0 * below / promised,
        100.0 * covered / promised);

    assertThat(runs.size()).isGreaterThanOrEqualTo(600);
    assertThat(overReservation).isZero();
    assertThat(timedOut).isPositive();
    assertThat(promised).isGreaterThan(ofEach > 20 ? 500 : 350);
    assertThat((double) covered / promised).isBetween(0.85, 0.95);
    assertThat((double) below / promised).isBetween(0.42, 0.58);
  }

  private static Plan plan(SimulatedRuns.Run run) {
    String gpus =
        run.gpus() == 0
            ? ""
            : ", gpus_per_node: " + run.gpus() + ", gpu_type: " + run.family().gpuType();
    return Plans.of(
        String.join(
            "\n",
            "stage: " + run.family().stage(),
            "backend: shell",
            "run: echo",
            "model_name: " + run.family().model(),
            "array: {shards: " + run.tasks() + "}",
            "requeues: " + run.requeues(),
            "resources: {time: " + run.limitMinutes() + "m, cpus_per_task: " + run.cpus(),
            "  , memory: " + run.memoryGib() + "G" + gpus + "}",
            ""),
        Plans.CLUSTER);
  }

  private static DataSize data(SimulatedRuns.Run run) {
    return run.bytes() == 0
        ? DataSize.UNKNOWN
        : new DataSize(Optional.empty(), Optional.of(run.bytes()));
  }

  /** Worked out here, from what Slurm gave. */
  private static Money actual(SimulatedRuns.Run run) {
    BigDecimal hours =
        BigDecimal.valueOf(run.seconds()).divide(BigDecimal.valueOf(3600), 12, RoundingMode.UP);
    BigDecimal sum = cents(hours, run.cpus(), "10").add(cents(hours, run.memoryGib(), "1"));
    String gpu = run.family().gpuType().equals("h100") ? "2000" : "1200";
    return new Money(sum.add(cents(hours, run.gpus(), gpu)), "USD");
  }

  private static BigDecimal cents(BigDecimal hours, long count, String price) {
    return hours
        .multiply(BigDecimal.valueOf(count))
        .multiply(new BigDecimal(price))
        .setScale(2, RoundingMode.HALF_EVEN);
  }

  private static PastRun past(SimulatedRuns.Run run, Plan plan, Money actual) {
    return new PastRun(
        run.family().stage() + "_" + run.number(),
        RunSimilarity.of(plan),
        run.tasks(),
        run.seconds() * run.gpus(),
        run.seconds() * run.cpus(),
        Optional.of(run.gpus() == 0 ? run.cpus() : run.gpus()),
        Optional.empty(),
        data(run),
        actual,
        Optional.empty(),
        Optional.empty());
  }

  private static Price price(String amount) {
    return new Price(new BigDecimal(amount), "list of 2025");
  }
}
