package dev.nexa.slurm.pipeline.plan;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.Expected;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetGate;
import dev.nexa.slurm.run.decision.RequireGate;
import dev.nexa.slurm.run.start.LivePartitions;
import dev.nexa.slurm.run.start.Prepared;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A pipeline with planned and priced stages, before any file is written.
 *
 * @param stages the stages; each stands after the stages that it waits for
 */
public record PipelinePlan(PipelineConfig config, List<PlannedStage> stages, Policy policy) {

  /** One stage with its plan and its price. */
  public record PlannedStage(PipelineConfig.Stage stage, Prepared prepared) {
    /** Returns remarks for the user on how the stage was planned. */
    public List<String> notes() {
      List<String> notes = new ArrayList<>(prepared.plan().notes());
      prepared.plan().payload().code().ifPresent(code -> notes.add(code.sentence()));
      return notes;
    }

    /** Returns the most that the stage can cost. */
    public Money total() {
      return prepared.estimate().total();
    }

    /** Returns the expected cost; empty if it is unknown. */
    public Optional<Money> expected() {
      return prepared.outlook().expected().map(Expected::total);
    }

    /** Returns the longest time from the start of the stage's first task to the end of its last. */
    Duration longest() {
      Estimate estimate = prepared.estimate();
      int atOnce = prepared.plan().shape().array().maxParallel().orElse(estimate.tasks());
      long waves = (estimate.tasks() + atOnce - 1L) / atOnce;
      return Duration.ofSeconds(estimate.longestAttemptSeconds() * estimate.attempts() * waves);
    }
  }

  /**
   * The user's request.
   *
   * @param file the path of the pipeline's file
   * @param overrides the values of {@code --set}: STAGE.KEY=VALUE
   * @param cluster the profile named on the command line
   */
  public record Request(String file, List<String> overrides, Optional<String> cluster) {}

  /**
   * Reads, plans and prices all stages.
   *
   * @throws ConfigException with the problems of all stages, each once
   * @throws NexaException if the stages' prices have several currencies, or if the policy asks for
   *     a gate and no gate is before a stage
   */
  public static PipelinePlan of(Context context, Request request) {
    ConfigReader configs = context.configs();
    LivePartitions live = new LivePartitions(context);
    PipelineConfig config = configs.pipeline(request.file());
    Map<String, List<String>> overrides = StageOverrides.byStage(config, request.overrides());
    Map<Problem, List<String>> problems = new LinkedHashMap<>();
    List<PlannedStage> stages = new ArrayList<>();
    for (PipelineConfig.Stage stage : config.stages()) {
      Prepared.Request run =
          new Prepared.Request(
                  stage.config(),
                  overrides.getOrDefault(stage.name(), List.of()),
                  request.cluster().or(config::cluster))
              .of(stage);
      try {
        stages.add(new PlannedStage(stage, Prepared.of(context, configs, live, run)));
      } catch (ConfigException wrong) {
        wrong
            .problems()
            .forEach(
                one -> problems.computeIfAbsent(one, n -> new ArrayList<>()).add(stage.name()));
      } catch (NexaException wrong) {
        throw ofStage(config, stage, wrong);
      }
    }
    Problem.throwIfAny(
        problems.entrySet().stream().map(one -> one.getKey().atStages(one.getValue())).toList());
    requireOneCurrency(config, stages);
    requireOneScheduler(config, stages);
    PipelinePlan plan =
        new PipelinePlan(config, List.copyOf(stages), stages.get(0).prepared().policy());
    plan.requireGate();
    return plan;
  }

  /** Names the stage in an error that is about no line of a config, such as a missing file. */
  private static NexaException ofStage(
      PipelineConfig config, PipelineConfig.Stage stage, NexaException wrong) {
    return new NexaException(
        wrong.code(),
        config.file() + ": the stage " + stage.name() + ": " + wrong.getMessage(),
        wrong,
        wrong.advice().toArray(new Advice[0]));
  }

  private static void requireOneCurrency(PipelineConfig config, List<PlannedStage> stages) {
    PlannedStage first = stages.get(0);
    for (PlannedStage stage : stages) {
      if (!stage.total().currency().equals(first.total().currency())) {
        throw ErrorCode.CURRENCY_MISMATCH.error(
            "%s: the stage %s is priced in %s and the stage %s in %s, so they have no sum"
                .formatted(
                    config.file(),
                    first.stage().name(),
                    first.total().currency(),
                    stage.stage().name(),
                    stage.total().currency()),
            "give all stages one `cluster`, or price books of one currency");
      }
    }
  }

  private static void requireOneScheduler(PipelineConfig config, List<PlannedStage> stages) {
    PlannedStage first = stages.get(0);
    String expected = first.prepared().plan().site().scheduler();
    for (PlannedStage stage : stages) {
      String scheduler = stage.prepared().plan().site().scheduler();
      if (!scheduler.equals(expected)) {
        throw ErrorCode.CONFIG_CONFLICT.error(
            ("%s: the stage %s runs on %s and the stage %s on %s, which cannot wait for each"
                    + " other")
                .formatted(
                    config.file(), first.stage().name(), expected, stage.stage().name(), scheduler),
            "give all stages one `cluster`");
      }
    }
  }

  /** Enforces the policy's {@code gate_before}. */
  private void requireGate() {
    Set<String> gated = new HashSet<>();
    for (PlannedStage stage : stages) {
      Plan plan = stage.prepared().plan();
      boolean isGate =
          plan.payload().data().filter(data -> data.step().equals(RequireGate.STEP)).isPresent();
      boolean after =
          stage.stage().after().entrySet().stream()
              .filter(earlier -> RequireGate.TYPES.contains(earlier.getValue().text()))
              .anyMatch(earlier -> gated.contains(earlier.getKey()));
      if (isGate || after) {
        gated.add(stage.stage().name());
      } else if (policy.evaluation().gateBefore().contains(plan.stage())) {
        throw RequireGate.refusal(
            policy,
            config.file() + ": the stage " + stage.stage().name(),
            plan.stage(),
            Advice.step("add a stage with data.gate, and its name to `after` of this stage"));
      }
    }
  }

  /** Returns the scheduler of all stages: {@code slurm} or {@code local}. */
  public String scheduler() {
    return stages.get(0).prepared().plan().site().scheduler();
  }

  /** Returns the most that all stages together can cost. */
  public Money total() {
    return stages.stream().map(PlannedStage::total).reduce(Money::plus).orElseThrow();
  }

  /** Returns {@link #total} for people: {@code at most 5.12 USD}, {@code less than 0.01 USD}. */
  public String atMost() {
    return total().atMost(unrounded());
  }

  /** Returns {@link #total} before rounding. */
  public BigDecimal unrounded() {
    return stages.stream()
        .map(stage -> CostLine.unrounded(stage.prepared().estimate().reservation()))
        .reduce(BigDecimal.ZERO, BigDecimal::add);
  }

  /** Returns the expected cost of all stages; empty if it is unknown for one of them. */
  public Optional<Money> expected() {
    return stages.stream()
        .map(PlannedStage::expected)
        .reduce(
            Optional.of(Money.zero(total().currency())),
            (sum, expected) -> sum.flatMap(money -> expected.map(money::plus)));
  }

  /** Returns the longest time of the longest chain of stages, without the time in the queue. */
  public Duration longest() {
    Map<String, Duration> ends = new HashMap<>();
    for (PlannedStage stage : stages) {
      Duration begin =
          stage.stage().after().keySet().stream()
              .map(earlier -> ends.getOrDefault(earlier, Duration.ZERO))
              .max(Comparator.naturalOrder())
              .orElse(Duration.ZERO);
      ends.put(stage.stage().name(), begin.plus(stage.longest()));
    }
    return ends.values().stream().max(Comparator.naturalOrder()).orElse(Duration.ZERO);
  }

  /**
   * Returns whether the sum is above the policy's limit for runs without an approval.
   *
   * @throws NexaException if the policy and the price books have different currencies
   */
  public boolean needsApproval() {
    return ApprovalGate.needsApproval(
        stages.stream().map(stage -> stage.prepared().estimate()).toList(), policy);
  }

  /** Returns the amount that all stages together take from each budget that applies to them. */
  public List<BudgetClaim> budgets(Context context) {
    return BudgetGate.look(
            context,
            policy,
            stages.stream().map(stage -> PlanFile.of(stage.prepared().plan())).toList())
        .claims(stages.stream().map(PlannedStage::total).toList());
  }
}
