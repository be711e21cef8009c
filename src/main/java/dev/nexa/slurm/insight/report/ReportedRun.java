package dev.nexa.slurm.insight.report;

import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One row of the report's table of runs. An empty text is an unknown value.
 *
 * @param name the name that the config gives
 * @param state the state in detail, such as {@code timeout}
 * @param cost the cost by the price book; empty if it is not known
 * @param open whether the run is not settled yet, so that no sum includes it
 */
public record ReportedRun(
    String id,
    String name,
    String state,
    Labels labels,
    Times times,
    String currency,
    Optional<BigDecimal> cost,
    Optional<BigDecimal> reservation,
    long gpuSeconds,
    long tasks,
    long tasksFailed,
    boolean open) {

  /** The words that group runs: what the run was, of whom, and where. */
  public record Labels(
      String stage,
      String user,
      String account,
      String project,
      String pipeline,
      String model,
      String dataset,
      String partition,
      String gpuType,
      String cluster) {}

  /**
   * When the run was made, began and ended.
   *
   * @param month the month in which its cost counts
   */
  public record Times(
      String month,
      Optional<Instant> created,
      Optional<Instant> started,
      Optional<Instant> ended,
      Optional<Long> queueSeconds,
      Optional<Long> runSeconds) {}

  /** Returns the run of a ledger line. */
  static ReportedRun of(LedgerLine line, boolean open) {
    return new ReportedRun(
        line.runId(),
        word(line.tagged("experiment")),
        word(line.state() == null ? line.status() : line.state()),
        new Labels(
            word(line.stage()),
            word(line.user()),
            word(line.account()),
            word(line.tagged("project")),
            word(line.tagged("pipeline")),
            word(line.model()),
            word(line.text(LedgerKey.DATASET)),
            word(line.text(LedgerKey.PARTITION)),
            word(line.gpuType()),
            word(line.cluster())),
        new Times(
            line.month(),
            Optional.ofNullable(line.time(LedgerKey.CREATED)),
            Optional.ofNullable(line.started()),
            Optional.ofNullable(line.ended()),
            Optional.ofNullable(line.queueSeconds()),
            Optional.ofNullable(line.runSeconds())),
        word(line.currency()),
        Optional.ofNullable(line.cost()),
        Optional.ofNullable(line.reservation()),
        orZero(line.gpuSeconds()),
        orZero(line.whole(LedgerKey.TASKS)),
        orZero(line.whole(LedgerKey.TASKS_FAILED)),
        open);
  }

  private static String word(@Nullable String text) {
    return text == null ? "" : text;
  }

  static long orZero(@Nullable Long number) {
    return number == null ? 0 : number;
  }

  /** Returns the time that orders runs: of the end, else of the creation. */
  Instant newest() {
    return times.ended().or(times::created).orElse(Instant.MIN);
  }

  /** Returns whether the run ended without success. */
  public boolean failed() {
    return !open && !state.equals("completed");
  }
}
