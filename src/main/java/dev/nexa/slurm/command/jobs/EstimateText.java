package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Egress;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.model.AnalyticEstimate;
import dev.nexa.slurm.job.estimate.model.MemoryFit;
import dev.nexa.slurm.job.estimate.model.MemoryParts;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.Plan;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

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

  private static final double GIB = 1L << 30;
  private static final double SMALL = 100;
  private static final String ATTEMPTS =
      "it needs all its attempts and each uses its whole time limit";

  private EstimateText() {}

  /**
   * Returns the text of an estimate.
   *
   * @param egress what a sync stage sends out of the cluster; empty for any other run
   * @param threshold the cost above which the policy requires an approval
   * @param approvalNeeded whether this run needs an approval
   */
  public static String of(
      Plan plan,
      Estimate estimate,
      Optional<Egress> egress,
      Money threshold,
      boolean approvalNeeded) {
    StringBuilder text = new StringBuilder();
    String most = estimate.atMost();
    text.append(Character.toUpperCase(most.charAt(0))).append(most.substring(1)).append(": ");
    text.append(estimate.words(plan));
    boolean groups = !plan.shape().groups().isEmpty();
    long longest = groups ? estimate.longestAttemptSeconds() : plan.longestAttempt().toSeconds();
    long over = longest - estimate.timeLimitSeconds();
    text.append(" (+").append(over).append(" s that Slurm may take to end it)");
    String more = plan.whyBilled();
    text.append(more.isEmpty() ? "" : "; ").append(more).append(".\n");
    text.append(grown(plan));
    plan.shape().partitionReason().ifPresent(reason -> text.append("In " + reason + ".\n"));
    text.append('\n');
    List<CostLine> lines = new ArrayList<>(estimate.reservation());
    egress.flatMap(sent -> sent.line(estimate.rates())).ifPresent(lines::add);
    text.append(LINES.of(lines).table());
    if (estimate.apiTokens().isPresent()) {
      text.append("\nAPI tokens: ").append(estimate.apiTokens().get().words());
      text.append(", ").append(estimate.tokensCost());
      text.append(", for the whole run: attempts do not pay for an answer again.\n");
    }
    if (egress.isPresent()) {
      String sentence = egress.get().sentence(estimate.rates());
      text.append('\n').append(Character.toUpperCase(sentence.charAt(0)));
      text.append(sentence.substring(1)).append(".\n");
    }
    text.append("\nPrices: " + estimate.rates().book() + ", as of " + estimate.rates().asOf());
    text.append(".\nThis is the most the run can cost")
        .append(egress.isPresent() ? " without egress, if " : ", if ");
    String task = estimate.tasks() == 1 ? "it" : groups ? "each group" : "each task";
    text.append(estimate.attempts() == 1 ? task + " uses its whole time limit" : ATTEMPTS);
    text.append(estimate.apiTokens().isPresent() ? " and all its API tokens.\n" : ".\n");
    String approval = approvalNeeded ? "Needs an approval: over " : "No approval needed: up to ";
    return text + approval + threshold + ".\n";
  }

  /** Returns the largest sizes that the price counts; empty unless attempts grow. */
  private static String grown(Plan plan) {
    List<AttemptSize> sizes = plan.shape().grown();
    if (sizes.isEmpty()) {
      return "";
    }
    AttemptSize last = sizes.get(sizes.size() - 1);
    long memory = last.memoryBytes() / plan.allocation().nodes();
    List<String> grown = new ArrayList<>();
    if (memory > plan.allocation().memoryBytes()) {
      grown.add("after an out-of-memory up to " + Memory.plain(memory) + " on a node");
    }
    Duration time = Duration.ofSeconds(last.timeLimitSeconds());
    if (time.compareTo(plan.allocation().timeLimit()) > 0) {
      grown.add("after a time-out up to " + TimeLimit.words(time));
    }
    return grown.isEmpty()
        ? "Later attempts do not grow: the partition's nodes have no more.\n"
        : "Later attempts grow, " + String.join(", ", grown) + "; the price counts that.\n";
  }

  /** Returns what the run's model predicts: memory and GPU-hours; empty without a prediction. */
  static String model(Optional<MemoryFit> memory, Optional<AnalyticEstimate> analytic) {
    StringBuilder text = new StringBuilder();
    if (analytic.isPresent()) {
      AnalyticEstimate hours = analytic.get();
      text.append("From FLOPs: ").append(hours(hours.lowGpuHours())).append(" to ");
      text.append(hours(hours.highGpuHours())).append(" GPU-hours, around ");
      text.append(hours(hours.middleGpuHours())).append(": ").append(hours.sentence());
      text.append(".\n");
    }
    if (memory.isPresent()) {
      text.append("Memory of a GPU: ").append(memory.get().sentence());
      text.append(" (").append(parts(memory.get().parts())).append(").\n");
    }
    List<String> assumptions =
        memory.isPresent()
            ? memory.get().assumptions()
            : analytic.isPresent() ? analytic.get().assumptions() : List.of();
    if (!assumptions.isEmpty()) {
      text.append("Assumed: ").append(String.join("; ", assumptions)).append(".\n");
    }
    return text.isEmpty() ? "" : "\n" + text;
  }

  private static String parts(MemoryParts parts) {
    StringBuilder text = new StringBuilder();
    part(text, "weights", parts.weights());
    part(text, "gradients", parts.gradients());
    part(text, "optimizer", parts.optimizer());
    part(text, "activations", parts.activations());
    part(text, "KV cache", parts.kvCache());
    part(text, "buffers and context", parts.buffers() + parts.overhead());
    return text.toString();
  }

  private static void part(StringBuilder text, String name, long bytes) {
    if (bytes > 0) {
      text.append(text.isEmpty() ? "" : ", ").append(name);
      text.append(String.format(Locale.ROOT, " %.1f", bytes / GIB));
    }
  }

  private static String hours(double hours) {
    return String.format(Locale.ROOT, hours < SMALL ? "%.1f" : "%,.0f", hours);
  }
}
