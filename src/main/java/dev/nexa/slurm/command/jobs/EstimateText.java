package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.plan.Plan;
import java.math.RoundingMode;
import java.time.Duration;

/** Formats an estimate for a user. */
public final class EstimateText {
  private static final Columns<CostLine> LINES =
      new Columns<CostLine>()
          .text("what", CostLine::what)
          .number("quantity", line -> line.quantity().setScale(2, RoundingMode.HALF_EVEN))
          .text("unit", CostLine::unit)
          .money("price", CostLine::unitPrice)
          .money("amount", line -> line.amount().amount())
          .text("source", CostLine::source);

  private EstimateText() {}

  /**
   * Returns the text of an estimate.
   *
   * @param threshold the cost above which the policy requires an approval
   * @param approvalNeeded whether this run needs an approval
   */
  public static String of(Plan plan, Estimate estimate, Money threshold, boolean approvalNeeded) {
    StringBuilder text = new StringBuilder();
    text.append("At most ").append(estimate.total()).append(" for ").append(tasks(estimate));
    text.append(" on ").append(plan.allocation().hardware());
    text.append(whole(plan)).append(", ");
    text.append(TimeLimit.words(plan.allocation().timeLimit())).append(" each");
    Duration over =
        Duration.ofSeconds(estimate.longestAttemptSeconds() - estimate.timeLimitSeconds());
    text.append(" (and ")
        .append(TimeLimit.words(over))
        .append(" that Slurm may take to end it).\n");
    if (plan.partitionReason().isPresent()) {
      text.append("In ").append(plan.partitionReason().get()).append(".\n");
    }
    text.append('\n');
    text.append(LINES.of(estimate.reservation()).table());
    if (estimate.apiTokens().isPresent()) {
      text.append("\nAPI tokens: ").append(estimate.apiTokens().get().words());
      text.append(", ").append(estimate.tokensCost());
      text.append(", for the whole run: attempts do not pay for an answer again.\n");
    }
    text.append("\nPrices: ")
        .append(estimate.rates().book())
        .append(", as of ")
        .append(estimate.rates().asOf());
    text.append(". Basis: reservation (tasks x attempts x longest time x resources")
        .append(estimate.apiTokens().isPresent() ? ", and API tokens).\n" : ").\n");
    text.append(approvalNeeded ? "Needs an approval: over " : "No approval needed: up to ")
        .append(threshold);
    return text.append(".\n").toString();
  }

  /** Returns a phrase about whole nodes that are charged because no other job may use them. */
  private static String whole(Plan plan) {
    int nodes = plan.allocation().nodes();
    boolean more =
        plan.billed().gpus() > nodes * plan.allocation().gpusPerNode()
            || plan.billed().cpus() > nodes * plan.allocation().cpusPerTask();
    if (!plan.allocation().exclusive() && !more) {
      return "";
    }
    String gpus =
        plan.billed().gpus() == 0
            ? ""
            : plan.billed().gpus() + "x " + plan.billed().gpuType().orElse("gpu") + " and ";
    return (nodes == 1
            ? " (exclusive: the whole node is paid, "
            : " (exclusive: whole nodes are paid, ")
        + gpus
        + plan.billed().cpus()
        + " CPUs)";
  }

  private static String tasks(Estimate estimate) {
    String tasks = estimate.tasks() == 1 ? "1 task" : estimate.tasks() + " tasks";
    return estimate.attempts() == 1 ? tasks : tasks + " x " + estimate.attempts() + " attempts";
  }
}
