package dev.nexa.slurm.report;

import dev.nexa.slurm.estimate.CostLine;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.Money;
import dev.nexa.slurm.units.TimeLimit;
import java.math.RoundingMode;
import java.time.Duration;

/** An estimate as a person reads it. */
public final class EstimateText {
  private EstimateText() {}

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
    Table table = new Table("WHAT", "QUANTITY", "UNIT", "PRICE", "AMOUNT", "SOURCE");
    for (CostLine line : estimate.reservation()) {
      table.row(
          line.what(),
          line.quantity().setScale(2, RoundingMode.HALF_EVEN),
          line.unit(),
          line.unitPrice(),
          line.amount().amount(),
          line.source());
    }
    text.append(table);
    text.append("\nPrices: ")
        .append(estimate.rates().book())
        .append(", as of ")
        .append(estimate.rates().asOf());
    text.append(". Basis: reservation (tasks x attempts x longest time x resources).\n");
    text.append(approvalNeeded ? "Needs an approval: over " : "No approval needed: up to ")
        .append(threshold);
    return text.append(".\n").toString();
  }

  /** What is paid where nobody else may use the rest of the nodes. */
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
