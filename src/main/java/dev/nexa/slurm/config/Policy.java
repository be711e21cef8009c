package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.listOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
import dev.nexa.slurm.units.Money;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What may be done without asking, as configs/policy.yaml says, or the admin's
 * /etc/nexa-slurm/policy.yaml, which wins.
 *
 * @param name where it was read from
 * @param approvalOver a run that can cost more needs an approval
 * @param maxRequeues the most requeues a config may ask for
 * @param maxResubmits how often a submission that Slurm lost is made again
 * @param settleWindow how long an unknown submission is looked for before it counts as not made;
 *     empty for the rule of the cluster's MessageTimeout
 * @param credited states whose attempts the cluster pays for, not the user: shown as a credit
 * @param registeredDatasets whether a run's dataset must be registered
 * @param budgets what may be spent in a period
 * @param approvals who may approve what goes over the threshold; empty for nobody
 * @param gate what Slurm itself lets through; empty where that is not the policy's business
 */
public record Policy(
    String name,
    Money approvalOver,
    int maxRequeues,
    int maxResubmits,
    Optional<Duration> settleWindow,
    List<String> credited,
    boolean registeredDatasets,
    List<Budget> budgets,
    Optional<Approvals> approvals,
    Optional<Gate> gate) {

  private static final List<String> CLUSTERS_FAULT = List.of("NODE_FAIL", "BOOT_FAIL");

  /**
   * What may be spent.
   *
   * @param scope project, account, user or all
   * @param name of the project, the account or the user; empty for all
   * @param period month, quarter or year, in UTC
   * @param warnPercent from which share on submit says how much is left
   */
  public record Budget(String scope, String name, Money amount, String period, int warnPercent) {}

  /**
   * Who may approve, and where approvals lie. A relative path is below the workspace.
   *
   * @param allowedSigners whose signatures count, as ssh-keygen(1) has it
   * @param revokedKeys keys that count no longer
   * @param selfApproval whether one may approve one's own run
   * @param longest that an approval may last
   */
  public record Approvals(
      String directory,
      String allowedSigners,
      Optional<String> revokedKeys,
      boolean selfApproval,
      Duration longest) {}

  private static final Section APPROVALS =
      section(
          required("directory", ValueType.PATH, "Where approvals lie, and their uses are counted."),
          required(
              "allowed_signers",
              ValueType.PATH,
              "Whose SSH signatures count: ssh-keygen's and git's file of principals and keys."),
          optional(
              "revoked_keys",
              ValueType.PATH,
              "Keys that count no longer: public keys or SHA256 fingerprints, one a line, or what ssh-keygen -k makes."),
          withDefault(
              "self_approval",
              ValueType.BOOLEAN,
              "false",
              "Whether who submits may have signed the approval."),
          withDefault("longest", ValueType.TIME, "30d", "The longest that an approval may last."));

  /**
   * What Slurm itself lets through, where the admin has placed what `policy install` writes.
   *
   * @param gpuHoursOver a job that could use more needs an approval
   * @param exemptUsers whose jobs always pass
   * @param exemptPartitions in which jobs always pass
   */
  public record Gate(
      BigDecimal gpuHoursOver, List<String> exemptUsers, List<String> exemptPartitions) {}

  private static final Section GATE =
      section(
          required(
              "gpu_hours_over",
              ValueType.HOURS,
              "A job that could use more GPU-hours than this needs an approval."),
          optional("exempt_users", listOf(ValueType.NAME_WORD), "Users whose jobs always pass."),
          optional(
              "exempt_partitions",
              listOf(ValueType.NAME_WORD),
              "Partitions in which jobs always pass."));

  private static final Section BUDGET =
      section(
          required(
              "scope",
              ValueType.choice("project", "account", "user", "all"),
              "Whose runs; a project's are those with the tag project:NAME."),
          optional("name", ValueType.TEXT, "The project, account or user; not for scope all."),
          required("amount", ValueType.MONEY, "What may be spent in one period."),
          required(
              "currency",
              ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
              "Its currency; runs in others do not count."),
          required(
              "period", ValueType.choice("month", "quarter", "year"), "The calendar's, in UTC."),
          withDefault(
              "warn_percent",
              ValueType.integer(1, 100),
              "80",
              "From this share on, spent and reserved, `submit` says how much is left."));

  static final Section SPEC =
      section(
          required(
              "approval_over",
              section(
                  required(
                      "amount",
                      ValueType.MONEY,
                      "A run whose reservation is above this needs an approval."),
                  required(
                      "currency",
                      ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
                      "Its currency.")),
              "The threshold."),
          withDefault(
              "max_requeues",
              ValueType.integer(0, 100),
              "3",
              "The most `requeues` a config may ask for."),
          withDefault(
              "max_resubmits",
              ValueType.integer(0, 10),
              "3",
              "How often a submission that Slurm lost is made again; 0 for never."),
          optional(
              "settle_window_seconds",
              ValueType.integer(1, 86_400),
              "How long an unknown submission is looked for; 2 x MessageTimeout + 5 s and at least 60 s if not given."),
          optional(
              "credited_states",
              listOf(
                  ValueType.choice("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED", "DEADLINE")),
              "States whose attempts the cluster pays for: their cost is shown as a credit. NODE_FAIL and BOOT_FAIL if not given; [] and the user pays for all."),
          withDefault(
              "registered_datasets",
              ValueType.BOOLEAN,
              "false",
              "Whether a run's dataset must be a key of manifests/dataset_registry.yaml in NEXA_DURABLE."),
          optional(
              "budgets",
              listOf(BUDGET),
              "What may be spent: a run that would take more than is left is refused; `costs budget` shows how much is left."),
          optional(
              "approvals",
              APPROVALS,
              "Who may approve a run over the threshold; without it nobody. A relative path is below the workspace."),
          optional(
              "slurm",
              GATE,
              "What Slurm itself lets through, once the admin has placed what `policy install` writes."));

  /** What the tables can't say. */
  static void check(Values values, List<Problem> problems) {
    for (Values budget : values.sections("budgets")) {
      boolean all = budget.optionalText("scope").orElse("all").equals("all");
      if (all && budget.has("name")) {
        problems.add(budget.problem("name", "scope all has no name: leave it out"));
      } else if (!all && !budget.has("name")) {
        problems.add(
            budget.problem("name", "missing; expected the " + budget.text("scope") + "'s name"));
      }
    }
  }

  static Policy from(String name, Values values) {
    Values over = values.section("approval_over");
    return new Policy(
        name,
        new Money(over.decimal("amount"), over.text("currency")),
        values.integer("max_requeues"),
        values.integer("max_resubmits"),
        settleWindow(values.optionalInteger("settle_window_seconds")),
        values.has("credited_states") ? values.texts("credited_states") : CLUSTERS_FAULT,
        values.flag("registered_datasets"),
        budgets(values),
        approvals(values),
        values.has("slurm") ? Optional.of(gate(values.section("slurm"))) : Optional.empty());
  }

  private static Optional<Approvals> approvals(Values values) {
    if (!values.has("approvals")) {
      return Optional.empty();
    }
    Values approvals = values.section("approvals");
    return Optional.of(
        new Approvals(
            approvals.text("directory"),
            approvals.text("allowed_signers"),
            approvals.optionalText("revoked_keys"),
            approvals.flag("self_approval"),
            approvals.duration("longest")));
  }

  private static Optional<Duration> settleWindow(Optional<Integer> seconds) {
    return seconds.isEmpty() ? Optional.empty() : Optional.of(Duration.ofSeconds(seconds.get()));
  }

  private static Gate gate(Values values) {
    return new Gate(
        values.decimal("gpu_hours_over"),
        values.has("exempt_users") ? values.texts("exempt_users") : List.of(),
        values.has("exempt_partitions") ? values.texts("exempt_partitions") : List.of());
  }

  private static List<Budget> budgets(Values values) {
    List<Budget> budgets = new ArrayList<>();
    for (Values budget : values.sections("budgets")) {
      budgets.add(
          new Budget(
              budget.text("scope"),
              budget.optionalText("name").orElse(""),
              new Money(budget.decimal("amount"), budget.text("currency")),
              budget.text("period"),
              budget.integer("warn_percent")));
    }
    return budgets;
  }
}
