package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.ChosenTiers;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.Halts.Halt;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm halt}. */
public final class HaltCommand extends Subcommand {
  private final OptionSpec reason =
      option("--reason", "TEXT", "Why; everybody who is stopped reads it.");
  private final OptionSpec pipeline =
      option(
          "--pipeline",
          "NAME",
          "Stops only the pipelines of this name; a pipeline's id or file stands for its name. Default: stops all.");
  private static final String CANCEL = "nexa-slurm cancel ";

  private final OptionSpec cluster = cluster(this, "");
  private final OptionSpec json = jsonFlag();

  public HaltCommand() {
    super(
        "halt",
        "Stops every release: until an approver types `unhalt`, nothing is deployed, no server and no"
            + " stage of the policy's gate_before starts. Needs no key.",
        "nexa-slurm halt --reason 'answers leak names'",
        "nexa-slurm halt --pipeline distill --reason 'the judge is broken'",
        "nexa-slurm halt list");
    spec().addSubcommand("list", new HaltListCommand().spec());
  }

  /**
   * Adds the option for one tier.
   *
   * @param more a sentence that follows the text, with a space before it; may be empty
   */
  static OptionSpec cluster(Subcommand command, String more) {
    return command.option(
        "--cluster",
        "NAME",
        "Only the durable tier of this profile. Default: those of all profiles of the workspace."
            + more);
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
    boolean oneTier = cluster.getValue() != null;
    Optional<String> named =
        Optional.ofNullable(pipeline.<String>getValue())
            .map(new HaltedPipeline(place.context())::name);
    HaltedTiers all = place.tiers();
    ChosenTiers.note(
            place.context(),
            Optional.ofNullable(cluster.<String>getValue()),
            (oneTier ? all.chosen() : all).tiers().keySet())
        .ifPresent(err()::println);
    List<HaltedTiers.Tried> tried = (oneTier ? all.chosen() : all).set(halts -> set(halts, named));
    Halt halt = tried.stream().flatMap(one -> one.halt().stream()).findFirst().orElseThrow();
    boolean isWhole = tried.stream().allMatch(one -> one.halt().isPresent() || one.absent());
    int status = isWhole ? ExitCode.OK.status() : ExitCode.DEFECT.status();
    for (HaltedTiers.Tried one : tried) {
      if (one.absent()) {
        err()
            .println(
                "note: the halt is not in force on "
                    + named(one.tier(), one.profiles())
                    + ": "
                    + one.why()
                    + "; type the command on a host that has it");
      } else if (one.halt().isEmpty()) {
        err()
            .println(
                "nexa-slurm: the halt is not in force on "
                    + named(one.tier(), one.profiles())
                    + ": "
                    + one.why());
        one.failure().map(Failures::advice).orElse(List.of()).forEach(this::arrow);
        arrow(Advice.step("releases go on there; mend it, then type the command again"));
      }
    }
    List<String> problems = new ArrayList<>();
    new Outbox(place.context().workspace())
        .recordIfAsked(place.policy().channels(), HaltedTiers.notice(halt))
        .ifPresent(problems::add);
    // A run without a pipeline is not stopped by the halt of a pipeline.
    List<RunId> waiting =
        halt.pipeline().isPresent()
            ? List.of()
            : new WaitingRuns(place.context(), place.policy()).find(problems);
    problems.forEach(problem -> err().println("note: " + problem));
    if (given(json)) {
      JsonObject document =
          halt.json()
              .with("durable", halted(tried).map(one -> one.tier().toString()).toList())
              .with("waiting_runs", waiting.stream().map(RunId::value).toList());
      print(document);
      return status;
    }
    boolean partly = tried.stream().anyMatch(one -> one.failure().isPresent());
    out()
        .println(
            halt.id()
                + " is in force: "
                + halt.pipeline()
                    .map(name -> "nothing of the pipeline " + name + " is released")
                    .orElse("nothing is released")
                + (oneTier
                    ? " from " + tried.get(0).tier()
                    : partly ? " from the tiers that it holds on" : ""));
    if (tried.size() > 1) {
      halted(tried)
          .forEach(one -> out().println("  it holds on " + named(one.tier(), one.profiles())));
    }
    if (oneTier) {
      all.others()
          .tiers()
          .forEach(
              (tier, profiles) ->
                  out()
                      .println(
                          "  releases from "
                              + named(tier, profiles)
                              + " go on; without --cluster, halt stops all"));
    }
    for (RunId run : waiting) {
      out()
          .println(
              "  " + run + " waits in the queue and will start; to prevent that: " + CANCEL + run);
    }
    out().println("  what runs goes on: `nexa-slurm serve list` shows the servers");
    out().println("  `nexa-slurm release rollback` stays possible");
    out().println("  an approver lifts it: nexa-slurm unhalt " + halt.id());
    return status;
  }

  private Halt set(Halts halts, Optional<String> named) {
    return halts.set(
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        UnixUser.me().user(),
        ProcessIdentity.ofThisProcess().host(),
        Optional.ofNullable(reason.<String>getValue()).orElse(""),
        named);
  }

  private void arrow(Advice line) {
    err().println("  → " + line);
  }

  private static Stream<HaltedTiers.Tried> halted(List<HaltedTiers.Tried> tried) {
    return tried.stream().filter(one -> one.halt().isPresent());
  }

  private static String named(Path tier, List<String> profiles) {
    return profiles.isEmpty()
        ? tier.toString()
        : tier
            + (profiles.size() == 1 ? " (profile " : " (profiles ")
            + String.join(", ", profiles)
            + ")";
  }

  /** The command {@code nexa-slurm halt list}. */
  static final class HaltListCommand extends Subcommand {
    private static final Columns<Halts.Judged> COLUMNS =
        new Columns<Halts.Judged>()
            .text("halt", one -> one.halt().id())
            .text("state", HaltListCommand::state)
            .text("pipeline", one -> one.halt().pipeline().map(VisibleText::line).orElse("all"))
            .text("by", one -> VisibleText.line(one.halt().by()))
            .text("at", one -> one.halt().at().toString())
            .note("reason", one -> VisibleText.line(one.halt().reason()));

    private final OptionSpec all = flag("-a, --all", "Also lists halts that were lifted.");
    private final OptionSpec cluster = HaltCommand.cluster(this, "");
    private final OptionSpec json = jsonFlag();

    HaltListCommand() {
      super("list", "Lists the halts in force.", "nexa-slurm halt list --all");
    }

    @Override
    public Integer call() {
      DeployPlace place = DeployPlace.of(existing(), Optional.ofNullable(cluster.getValue()));
      HaltedTiers tiers = cluster.getValue() == null ? place.tiers() : place.tiers().chosen();
      Map<Halts.Judged, List<String>> where = new LinkedHashMap<>();
      for (Path tier : tiers.tiers().keySet()) {
        for (Halts.Judged one : tiers.halts(tier).all(place.signers())) {
          if (one.inForce() || given(all)) {
            where.computeIfAbsent(one, first -> new ArrayList<>()).add(tier.toString());
          }
        }
      }
      List<Halts.Judged> listed = new ArrayList<>(where.keySet());
      if (given(json)) {
        List<JsonObject> documents = new ArrayList<>();
        for (Halts.Judged one : listed) {
          documents.add(
              one.halt()
                  .json()
                  .with("durable", where.get(one))
                  .with("in_force", one.inForce())
                  .with("lifted_by", one.lifted().map(lift -> lift.signer().signer()).orElse(null))
                  .with("lifted_at", one.lifted().map(lift -> lift.at().toString()).orElse(null))
                  .with("lifted_because", one.lifted().map(lift -> lift.reason()).orElse(null))
                  .with("refusal", one.refusal().orElse(null)));
        }
        print(new JsonObject().with("schema_version", 1).with("halts", documents));
      } else if (listed.isEmpty()) {
        out().println("no halt is in force");
      } else {
        printTable(COLUMNS.of(listed).table(style()));
        where.forEach(
            (one, on) -> {
              if (on.size() < tiers.tiers().size()) {
                out().println(one.halt().id() + " is only on " + String.join(", ", on));
              }
            });
      }
      for (Halts.Judged one : listed) {
        one.refusal()
            .ifPresent(
                why ->
                    err()
                        .println(
                            "note: the lifting of " + one.halt().id() + " does not count: " + why));
      }
      return ExitCode.OK.status();
    }

    private static String state(Halts.Judged one) {
      return one.inForce()
          ? "in force"
          : "lifted by " + one.lifted().map(lift -> lift.signer().signer()).orElse("");
    }
  }

  /**
   * Finds the runs that a halt does not stop: they were submitted before it, wait in the queue, and
   * bring a model to users when they start. Waiting stages of pipelines are not among them, because
   * {@code reconcile} cancels them.
   */
  static final class WaitingRuns {
    private final Context context;
    private final Policy policy;
    private final Map<String, Optional<List<QueueEntry>>> queues = new HashMap<>();

    WaitingRuns(Context context, Policy policy) {
      this.context = context;
      this.policy = policy;
    }

    /**
     * Returns the runs. If a queue cannot be read, its runs count as waiting.
     *
     * @param problems gets a sentence for each queue and each run that cannot be read
     */
    List<RunId> find(List<String> problems) {
      List<RunId> waiting = new ArrayList<>();
      for (RunId id : context.workspace().openRuns()) {
        try {
          if (mayStart(context.workspace().run(id), problems)) {
            waiting.add(id);
          }
        } catch (RuntimeException unreadable) {
          problems.add(id + " cannot be read: " + unreadable.getMessage());
        }
      }
      return waiting;
    }

    private boolean mayStart(RunFolder run, List<String> problems) {
      PlanFile plan = ProvenFiles.of(run).plan();
      if (!RequireNoHalt.concerns(policy, plan.stage())
          || RunState.of(run.journal().read()).pipeline().isPresent()) {
        return false;
      }
      return queues
          .computeIfAbsent(RunLookup.scheduler(run), name -> queue(name, problems))
          .map(
              queue ->
                  queue.stream()
                      .anyMatch(
                          entry ->
                              entry.state() == JobState.PENDING
                                  && entry.name().startsWith(run.id() + ".")))
          .orElse(true);
    }

    private Optional<List<QueueEntry>> queue(String scheduler, List<String> problems) {
      try {
        return Optional.of(context.scheduler(scheduler).queue());
      } catch (SchedulerUnavailable outage) {
        problems.add("the queue cannot be read: " + outage.getMessage());
        return Optional.empty();
      }
    }
  }
}
