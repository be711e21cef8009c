package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;

/**
 * An amount of a run in a month's statement. Its columns stand here once, for JSON, CSV and tables.
 *
 * @param reason why it is an adjustment, a word of {@link Reason}; empty for a run of the month
 * @param month the month when the run ended
 * @param version the version of the run's cost file
 * @param held the GPUs that the run held; nothing in an adjustment of a run that is booked already
 * @param proof the run's files
 */
public record Posting(
    String runId,
    Optional<Reason> reason,
    String month,
    long version,
    Payer payer,
    String currency,
    Amounts amounts,
    Held held,
    Proof proof) {
  /** All columns of a posting. */
  public static final Columns<Posting> COLUMNS =
      new Columns<Posting>()
          .text("run_id", Posting::runId)
          .text("reason", posting -> posting.reason.map(Reason::word))
          .rare()
          .text("month", Posting::month)
          .number("version", Posting::version)
          .text("project", posting -> posting.payer.project().orElse(null))
          .text("user", posting -> posting.payer.user().orElse(null))
          .text("account", posting -> posting.payer.account().orElse(null))
          .text("cluster", posting -> posting.held.cluster().orElse(null))
          .text("gpu_type", posting -> posting.held.gpuType().orElse(null))
          .rare()
          .number("gpu_seconds", posting -> posting.held.gpuSeconds())
          .rare()
          .money("gpu_cost", posting -> posting.held.gpuCost())
          .rare()
          .text("currency", Posting::currency)
          .money("cost", posting -> posting.amounts.cost())
          .money("credit", posting -> posting.amounts.credit())
          .rare()
          .money("api", posting -> posting.amounts.api())
          .rare()
          .money("total", posting -> posting.amounts.total())
          .money("billed", posting -> posting.amounts.billed())
          .rare()
          .text("cost_sha256", posting -> posting.proof.cost().orElse(null))
          .text("ledger_sha256", posting -> posting.proof.ledger())
          .note("lacks", posting -> posting.proof.lacks());

  /** Why an amount of an earlier month stands in a later statement. */
  public enum Reason {
    /** The run ended in a closed month, and the ledger got it after that month was closed. */
    LATE,
    /** An amount of the run, or who pays it, changed after it was closed. */
    CHANGED;

    String word() {
      return this == LATE ? "late" : "changed";
    }
  }

  /** The GPUs that a run held, and the part of its cost for them. */
  public record Held(
      Optional<String> cluster, Optional<String> gpuType, long gpuSeconds, BigDecimal gpuCost) {
    static Held nothing() {
      return new Held(Optional.empty(), Optional.empty(), 0, BigDecimal.ZERO);
    }
  }

  /**
   * The files behind an amount.
   *
   * @param cost the SHA-256 of the cost file; empty if the file is missing
   * @param ledger the SHA-256 of the ledger's line, without its line feed
   * @param lacks the things that the cost file lacks, in sentences
   * @param gpuHour the rate of the run's GPUs in the cost file; empty if that file has none, and in
   *     a statement that was read
   */
  public record Proof(
      Optional<String> cost, String ledger, List<String> lacks, Optional<BigDecimal> gpuHour) {
    /** Makes a proof without a rate. */
    public Proof(Optional<String> cost, String ledger, List<String> lacks) {
      this(cost, ledger, lacks, Optional.empty());
    }
  }

  static Posting of(JsonObject json) {
    return new Posting(
        json.text("run_id"),
        json.optionalText("reason").map(word -> word.equals("late") ? Reason.LATE : Reason.CHANGED),
        json.text("month"),
        json.number("version"),
        new Payer(
            json.optionalText("project"), json.optionalText("user"), json.optionalText("account")),
        json.text("currency"),
        new Amounts(
            new BigDecimal(json.text("cost")),
            new BigDecimal(json.text("credit")),
            new BigDecimal(json.text("api")),
            new BigDecimal(json.text("billed"))),
        new Held(
            json.optionalText("cluster"),
            json.optionalText("gpu_type"),
            json.number("gpu_seconds"),
            new BigDecimal(json.text("gpu_cost"))),
        new Proof(
            json.optionalText("cost_sha256"), json.text("ledger_sha256"), json.texts("lacks")));
  }
}
