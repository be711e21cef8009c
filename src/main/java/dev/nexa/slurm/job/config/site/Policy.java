package dev.nexa.slurm.job.config.site;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The policy: limits above which a run needs an approval or is refused. The file is
 * configs/policy.yaml. If the admin has written /etc/nexa-slurm/policy.yaml, that file is used
 * instead.
 *
 * @param name the file that the policy was read from
 * @param approvalOver a run whose reservation is above this amount needs an approval
 * @param repeats how often something may be repeated
 * @param credited states of attempts that the cluster pays for, shown as a credit
 * @param datasets the requirements for a run's dataset
 * @param evaluation the effects of a gate
 * @param releases the requirements for a release
 * @param budgets limits on the money spent in a period
 * @param approvals the people who may approve runs above the limit; empty if there are none
 * @param gate which jobs Slurm itself accepts without an approval; empty if the policy does not say
 * @param channels where notifications go; empty if none are sent
 * @param locked the kinds of files that only the admin's folder may hold; empty for none
 */
public record Policy(
    String name,
    Money approvalOver,
    Repeats repeats,
    List<String> credited,
    Datasets datasets,
    Evaluation evaluation,
    Releases releases,
    List<Budget> budgets,
    Optional<Approvals> approvals,
    Optional<Gate> gate,
    List<NotifyChannel> channels,
    List<Locked> locked) {

  /** A kind of files. */
  public enum Locked {
    PROFILES("configs/clusters/"),
    PRICES("configs/prices/");

    private final String folder;

    Locked(String folder) {
      this.folder = folder;
    }

    /** Returns the folder below the workspace, with a slash at its end. */
    public String folder() {
      return folder;
    }
  }

  /**
   * How often something may be repeated.
   *
   * @param maxRequeues the most requeues that a config may ask for
   * @param maxResubmits how often a submission that Slurm lost is repeated
   * @param settleWindow how long nexa-slurm looks for an unknown submission before it counts as not
   *     made; empty for the default, which depends on the cluster's MessageTimeout
   */
  public record Repeats(int maxRequeues, int maxResubmits, Optional<Duration> settleWindow) {}

  /**
   * The requirements for a run's dataset.
   *
   * @param registered whether it must be registered
   * @param promoted whether it must be a promoted version
   * @param checksums whether a job reads all bytes of it before it starts
   */
  public record Datasets(boolean registered, boolean promoted, boolean checksums) {}

  /**
   * The effects of a gate.
   *
   * @param gateBefore the stages that may start only after a gate has passed
   * @param haltOnFailure whether a failed gate of a pipeline sets a halt for the pipeline
   */
  public record Evaluation(List<String> gateBefore, boolean haltOnFailure) {}

  /**
   * The requirements for a release.
   *
   * @param refusesPickles whether it may hold no pickled files
   * @param refusesUncompared whether it may not go further without its run's records
   */
  public record Releases(boolean refusesPickles, boolean refusesUncompared) {}

  private static final List<String> CLUSTERS_FAULT = List.of("NODE_FAIL", "BOOT_FAIL");

  /**
   * A budget: the money that may be spent in one period.
   *
   * @param name of the project, account or user; an empty string for {@link BudgetScope#ALL}
   * @param amount the limit for one period
   * @param period {@code month}, {@code quarter} or {@code year}, a calendar period in UTC
   * @param warnPercent the percentage of the budget at which submit begins to show how much is left
   */
  public record Budget(
      BudgetScope scope, String name, Money amount, String period, int warnPercent) {
    /** Returns what it counts, such as {@code project nlp} or {@code all}. */
    public String runs() {
      return name.isEmpty() ? scope.word() : scope.word() + " " + name;
    }
  }

  /**
   * The people who may approve runs, and the folder of approvals. A relative path is below the
   * workspace.
   *
   * @param directory the folder with the approvals and the records of their uses
   * @param allowedSigners the file of accepted signers, in the format of ssh-keygen(1)
   * @param revokedKeys the file of keys that no longer count
   * @param selfApproval whether a user may approve their own run
   * @param longest the longest time that an approval may be valid
   */
  public record Approvals(
      String directory,
      String allowedSigners,
      Optional<String> revokedKeys,
      boolean selfApproval,
      Duration longest) {}

  private static final Section APPROVALS =
      section(
          required(
              "directory",
              ValueType.PATH,
              "The folder with the approvals and the records of their uses."),
          required(
              "allowed_signers",
              ValueType.PATH,
              "The file with the principals and SSH keys whose signatures count, in the format of ssh-keygen and"
                  + " git."),
          optional(
              "revoked_keys",
              ValueType.PATH,
              "The file with keys that no longer count: public keys or SHA256 fingerprints, one on each line, or"
                  + " a file that ssh-keygen -k made."),
          withDefault(
              "self_approval",
              ValueType.BOOLEAN,
              "false",
              "Whether the person who submits a run may also have signed its approval."),
          withDefault(
              "longest",
              ValueType.LENGTH,
              "30d",
              "An approval may not be valid for longer than this."));

  /**
   * Which jobs Slurm accepts without an approval, after an admin has installed the files that
   * {@code policy install} writes.
   *
   * @param gpuHoursOver a job that could use more GPU-hours needs an approval
   * @param exemptUsers users whose jobs always pass
   * @param exemptPartitions partitions whose jobs always pass
   * @param observes whether Slurm only logs the jobs that it would refuse
   */
  public record Gate(
      BigDecimal gpuHoursOver,
      List<String> exemptUsers,
      List<String> exemptPartitions,
      boolean observes) {}

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
              "Jobs in these partitions always pass."),
          withDefault(
              "mode",
              ValueType.choice("enforce", "observe"),
              "enforce",
              "With `observe`, slurmctld refuses nothing: it logs each job and each change that it would"
                  + " refuse."));

  private static final Section BUDGET =
      section(
          required(
              "scope",
              ValueType.choice("project", "account", "user", "all"),
              "The runs that count. The runs of a project have the tag project:NAME."),
          optional(
              "name",
              ValueType.TEXT,
              "The name of the project, account or user. Leave it out for scope all."),
          required("amount", ValueType.MONEY, "The money that may be spent in one period."),
          required(
              "currency",
              ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
              "The currency of the amount. Runs in other currencies do not count."),
          required(
              "period",
              ValueType.choice("month", "quarter", "year"),
              "The calendar period, in UTC."),
          withDefault(
              "warn_percent",
              ValueType.integer(1, 100),
              "80",
              "If spent and reserved money reach this percentage, `submit` says how much is left."));

  private static final String LOCKED = "locked";

  public static final Section SPEC =
      section(
          required(
              "approval_over",
              section(
                  required(
                      "amount",
                      ValueType.MONEY,
                      "A run whose reservation is above this amount needs an approval."),
                  required(
                      "currency",
                      ValueType.text("an ISO 4217 code such as USD", "[A-Z]{3}"),
                      "The currency of the amount.")),
              "The cost above which a run needs an approval."),
          optional(
              LOCKED,
              listOf(ValueType.choice("profiles", "prices")),
              "What only the admin's folder may hold, in /etc/nexa-slurm/policy.yaml alone. `profiles`: only those in"
                  + " /etc/nexa-slurm/clusters, and `local`. `prices`: only the price books in /etc/nexa-slurm/prices."
                  + " Files of the workspace with these names are not read, and a note says so."),
          withDefault(
              "max_requeues",
              ValueType.integer(0, 100),
              "3",
              "The highest `requeues` that a config may ask for."),
          withDefault(
              "max_resubmits",
              ValueType.integer(0, 10),
              "3",
              "How often a submission that Slurm lost is repeated; 0 for never."),
          optional(
              "settle_window_seconds",
              ValueType.integer(1, 86_400),
              "How long nexa-slurm looks for an unknown submission. Default: 2 x MessageTimeout + 5 s, and at"
                  + " least 60 s."),
          optional(
              "credited_states",
              listOf(
                  ValueType.choice("NODE_FAIL", "BOOT_FAIL", "PREEMPTED", "REQUEUED", "DEADLINE")),
              "States whose attempts the cluster pays for: their cost is shown as a credit. Default: NODE_FAIL"
                  + " and BOOT_FAIL. With [] the user pays for all attempts."),
          withDefault(
              "registered_datasets",
              ValueType.BOOLEAN,
              "false",
              "Whether a run's dataset must be a key of manifests/dataset_registry.yaml in NEXA_DURABLE, or its"
                  + " dataset_path the path of a version there."),
          withDefault(
              "promoted_datasets",
              ValueType.BOOLEAN,
              "false",
              "Whether a run's dataset must be a version that `datasets promote` has promoted. The job checks the"
                  + " names, sizes and times of its files before it starts."),
          withDefault(
              "dataset_checksums",
              ValueType.BOOLEAN,
              "false",
              "Whether the job also computes the SHA-256 of each file of its dataset before it starts. It reads all"
                  + " bytes once more, about 1 to 2 seconds for each GB."),
          optional(
              "gate_before",
              listOf(ValueType.NAME_WORD),
              "Stages, such as `serve`, that may start only after a gate has passed: a stage of a pipeline must"
                  + " wait for a stage with `data.gate`, and a single run needs `--dependency afterok:RUN`."),
          withDefault(
              "release_pickles",
              ValueType.choice("allow", "refuse"),
              "allow",
              "Whether `release package` accepts a model with pickled files, which can run any code when they are"
                  + " loaded: `allow` or `refuse`."),
          withDefault(
              "release_without_records",
              ValueType.choice("allow", "refuse"),
              "allow",
              "Whether `release sign` and `release deploy` accept a release that they cannot compare with its run,"
                  + " because this workspace does not have the run, or its checkpoint is gone: `allow` or `refuse`."),
          withDefault(
              "halt_on_gate_failure",
              ValueType.BOOLEAN,
              "false",
              "Whether a failed gate of a pipeline sets a halt for the pipeline: until an approver lifts it with"
                  + " `unhalt`, no stage of `gate_before`, no server and no release of this pipeline starts."),
          optional(
              "budgets",
              listOf(BUDGET),
              "The money that may be spent. A run that would take more than is left is refused. `costs budget`"
                  + " shows how much is left."),
          optional(
              "approvals",
              APPROVALS,
              "The people who may approve a run over the threshold. Without this key nobody may. A relative path"
                  + " is below the workspace."),
          optional(
              "slurm",
              GATE,
              "The jobs that Slurm itself lets through, after the admin has installed the files that `policy"
                  + " install` writes."),
          optional(
              "notify",
              mapOf(ValueType.NAME_WORD, NotifyChannel.OF_POLICY),
              "The channels of notifications, by names of your choice. `nexa-slurm notify test` tries them."));

  /**
   * Adds problems that concern several keys.
   *
   * @param everywhere whether the policy applies to all workspaces of the machine
   */
  public static void check(Values values, boolean everywhere) {
    if (values.has(LOCKED) && !everywhere) {
      values.report(LOCKED, "only /etc/nexa-slurm/policy.yaml can lock files; remove it here");
    }
    if (values.has("approvals")) {
      Values approvals = values.section("approvals");
      for (String key : List.of("directory", "allowed_signers", "revoked_keys")) {
        String path = approvals.optionalText(key).orElse("/");
        if (path.startsWith("~")) {
          approvals.report(key, "'" + path + "': ~ is not expanded; write an absolute path");
        } else if (everywhere && !path.startsWith("/")) {
          approvals.report(
              key,
              "'"
                  + path
                  + "' is a relative path, which means another file in each user's workspace;"
                  + " write an absolute path");
        }
      }
    }
    NotifyChannel.check(values);
    for (Values budget : values.sections("budgets")) {
      if (budget.isWrong("scope") || budget.isWrong("name")) {
        continue;
      }
      boolean all = budget.optionalText("scope").orElse("all").equals("all");
      if (all && budget.has("name")) {
        budget.report("name", "scope all has no name: leave it out");
      } else if (!all && !budget.has("name")) {
        budget.report("name", "missing; expected the " + budget.text("scope") + "'s name");
      }
    }
  }

  public static Policy from(String name, Values values) {
    Values over = values.section("approval_over");
    return new Policy(
        name,
        new Money(over.decimal("amount"), over.text("currency")),
        new Repeats(
            values.integer("max_requeues"),
            values.integer("max_resubmits"),
            settleWindow(values.optionalInteger("settle_window_seconds"))),
        values.has("credited_states") ? values.texts("credited_states") : CLUSTERS_FAULT,
        new Datasets(
            values.flag("registered_datasets"),
            values.flag("promoted_datasets"),
            values.flag("dataset_checksums")),
        new Evaluation(values.texts("gate_before"), values.flag("halt_on_gate_failure")),
        new Releases(
            values.text("release_pickles").equals("refuse"),
            values.text("release_without_records").equals("refuse")),
        budgets(values),
        approvals(values),
        values.has("slurm") ? Optional.of(gate(values.section("slurm"))) : Optional.empty(),
        NotifyChannel.from(values, false),
        values.has(LOCKED)
            ? values.texts(LOCKED).stream()
                .map(kind -> Locked.valueOf(kind.toUpperCase(Locale.ROOT)))
                .toList()
            : List.of());
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
        values.texts("exempt_users"),
        values.texts("exempt_partitions"),
        values.text("mode").equals("observe"));
  }

  private static List<Budget> budgets(Values values) {
    List<Budget> budgets = new ArrayList<>();
    for (Values budget : values.sections("budgets")) {
      budgets.add(
          new Budget(
              BudgetScope.of(budget.text("scope")),
              budget.optionalText("name").orElse(""),
              new Money(budget.decimal("amount"), budget.text("currency")),
              budget.text("period"),
              budget.integer("warn_percent")));
    }
    return budgets;
  }
}
