package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.shared.Failures;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.Policy;
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
import dev.nexa.slurm.storage.releases.Halts.LiftedHalt;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.SignOff;
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
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm halt}. */
public final class HaltCommand extends Subcommand {
  private final OptionSpec reason =
      option("--reason TEXT", "Why; everybody who is stopped reads it.");
  private final OptionSpec pipeline =
      option(
          "--pipeline NAME",
          "Stops only the pipelines of this name; a pipeline's id or file stands for its name. Default: stops all.");
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
        "--cluster NAME",
        "Only the durable tier of this profile. Default: those of all profiles of the workspace."
            + more);
  }

  @Override
  public Integer call() {
    DeployPlace place = DeployPlace.of(existing(), value(cluster));
    boolean oneTier = given(cluster);
    Optional<String> named = value(pipeline).map(new HaltedPipeline(place.context())::name);
    HaltedTiers all = place.tiers();
    ChosenTiers.note(
            place.context(), value(cluster), (oneTier ? all.chosen() : all).tiers().keySet())
        .ifPresent(err()::println);
    List<HaltedTiers.Tried> tried = (oneTier ? all.chosen() : all).set(halts -> set(halts, named));
    Halt halt = tried.stream().flatMap(one -> one.halt().stream()).findFirst().orElseThrow();
    boolean isWhole = tried.stream().allMatch(one -> one.halt().isPresent() || one.absent());
    int status = isWhole ? ExitCode.OK.status() : ExitCode.DEFECT.status();
    for (HaltedTiers.Tried one : tried) {
      if (one.absent()) {
        note(
            "the halt is not in force on %s: %s; type the command on a host that has it"
                .formatted(named(one.tier(), one.profiles()), one.why()));
      } else if (one.halt().isEmpty()) {
        remark(
            "nexa-slurm: the halt is not in force on %s: %s"
                .formatted(named(one.tier(), one.profiles()), one.why()));
        one.failure()
            .map(Failures::advice)
            .orElse(List.of())
            .forEach(line -> remark("  → " + line));
        remark("  → releases go on there; fix it, then type the command again");
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
    problems.forEach(this::note);
    if (given(json)) {
      print(
          halt.json()
              .with("durable", halted(tried).map(one -> one.tier().toString()).toList())
              .with("waiting_runs", waiting.stream().map(RunId::value).toList()));
      return status;
    }
    boolean partly = tried.stream().anyMatch(one -> one.failure().isPresent());
    say(
        halt.id()
            + " is in force: "
            + halt.pipeline()
                .map(name -> "nothing of the pipeline " + name + " is released")
                .orElse("nothing is released")
            + (oneTier
                ? " from " + tried.get(0).tier()
                : partly ? " from the tiers that it holds on" : ""));
    if (tried.size() > 1) {
      halted(tried).forEach(one -> say("  it holds on " + named(one.tier(), one.profiles())));
    }
    if (oneTier) {
      all.others()
          .tiers()
          .forEach(
              (tier, profiles) ->
                  say(
                      "  releases from %s go on; without --cluster, halt stops all"
                          .formatted(named(tier, profiles))));
    }
    String waits = "  %s waits in the queue and will start; to prevent that: nexa-slurm cancel %s";
    waiting.forEach(run -> say(waits.formatted(run, run)));
    say("  what runs goes on: `nexa-slurm serve list` shows the servers");
    say("  `nexa-slurm release rollback` stays possible");
    say("  an approver lifts it: nexa-slurm unhalt " + halt.id());
    return status;
  }

  private Halt set(Halts halts, Optional<String> named) {
    return halts.set(
        Instant.now().truncatedTo(ChronoUnit.SECONDS),
        UnixUser.me().user(),
        ProcessIdentity.ofThisProcess().host(),
        value(reason).orElse(""),
        named);
  }

  private static Stream<HaltedTiers.Tried> halted(List<HaltedTiers.Tried> tried) {
    return tried.stream().filter(one -> one.halt().isPresent());
  }

  private static String named(Path tier, List<String> profiles) {
    String word = profiles.size() == 1 ? " (profile " : " (profiles ";
    return tier + (profiles.isEmpty() ? "" : word + String.join(", ", profiles) + ")");
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
    protected void work() {
      DeployPlace place = DeployPlace.of(existing(), value(cluster));
      HaltedTiers tiers = given(cluster) ? place.tiers().chosen() : place.tiers();
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
        where.forEach((one, on) -> documents.add(json(one, on)));
        print(JsonObject.ofVersion(1).with("halts", documents));
      } else if (listed.isEmpty()) {
        say("no halt is in force");
      } else {
        printTable(COLUMNS.of(listed).table(style()));
        where.forEach(
            (one, on) -> {
              if (on.size() < tiers.tiers().size()) {
                say(one.halt().id() + " is only on " + String.join(", ", on));
              }
            });
      }
      for (Halts.Judged one : listed) {
        String what = "the lifting of " + one.halt().id() + " does not count: ";
        one.refusal().ifPresent(why -> note(what + why));
      }
    }

    private static JsonObject json(Halts.Judged one, List<String> tiers) {
      return one.halt()
          .json()
          .with("durable", tiers)
          .with("in_force", one.inForce())
          .with("lifted_by", one.lifted().map(lift -> lift.signer().signer()).orElse(null))
          .with("lifted_at", one.lifted().map(lift -> lift.at().toString()).orElse(null))
          .with("lifted_because", one.lifted().map(lift -> lift.reason()).orElse(null))
          .with("refusal", one.refusal().orElse(null));
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

  /** The command {@code nexa-slurm unhalt}. */
  public static final class UnhaltCommand extends Subcommand {
    private final PositionalParamSpec id = parameter("HALT", "The halt, as `halt list` shows it.");
    private final OptionSpec key =
        option("--key FILE", "The approver's SSH key. Default: the first of ssh's own keys.");
    private final OptionSpec reason = option("--reason TEXT", "Why it may go on.");
    private final OptionSpec cluster = HaltCommand.cluster(this, " The policy is the workspace's.");
    private final OptionSpec yes =
        flag("-y, --yes", "Lifts it without a question, as scripts must.");
    private final OptionSpec json = jsonFlag();

    public UnhaltCommand() {
      super(
          "unhalt",
          "Lifts a halt with an approver's signature.",
          "nexa-slurm unhalt halt_20251101_143200 --reason 'the judge was fixed'");
    }

    @Override
    public Integer call() {
      DeployPlace place = DeployPlace.of(existing(), value(cluster));
      place.approvals();
      List<Halts> tiers = tiers(place);
      List<Halts.Judged> found =
          tiers.stream().map(halts -> halts.existing(id.getValue(), place.signers())).toList();
      found.forEach(UnhaltCommand::requireReadable);
      Halts.Judged halt =
          found.stream().filter(Halts.Judged::inForce).findFirst().orElse(found.get(0));
      if (!halt.inForce()) {
        return tell(halt, "was lifted before");
      }
      LineSigner signer = place.signer(value(key), "unhalt");
      if (!given(json)) {
        say(halt.halt().id() + ", " + halt.halt().words());
        out().flush();
      }
      DeployCommand.requireAnswer(this, given(yes), "lift " + halt.halt().id());
      if (!given(yes) && !confirmed("Lift it?")) {
        remark("nothing was changed");
        return ExitCode.NEEDS_APPROVAL.status();
      }
      Map<String, LiftedHalt> signed = new HashMap<>();
      List<Halts.Judged> lifted = new ArrayList<>();
      for (int i = 0; i < tiers.size(); i++) {
        if (found.get(i).inForce()) {
          // The tiers have the same file, so one signature lifts the halt on all of them.
          LiftedHalt lift =
              signed.computeIfAbsent(
                  tiers.get(i).digest(halt.halt()), digest -> signed(halt, digest, signer));
          lifted.add(lift(tiers.get(i), halt, lift, place));
        }
      }
      return tell(lifted.get(0), "is lifted");
    }

    /** A file that cannot be read is a halt in force, whatever anybody signs. */
    private static void requireReadable(Halts.Judged halt) {
      if (halt.broken().isPresent()) {
        throw ErrorCode.RECORD_DAMAGED.error(
            "%s stays in force, and no signature can lift it: %s"
                .formatted(halt.halt().id(), VisibleText.line(halt.halt().reason())),
            halt.ends());
      }
    }

    /** Returns the tiers that have the halt; the chosen one if none has it, for its error. */
    private List<Halts> tiers(DeployPlace place) {
      HaltedTiers all = given(cluster) ? place.tiers().chosen() : place.tiers();
      String halt = id.getValue();
      List<Halts> having =
          all.tiers().keySet().stream().map(all::halts).filter(halts -> halts.has(halt)).toList();
      return having.isEmpty() ? List.of(place.halts()) : having;
    }

    /** Signs the lifting of a halt. ssh-keygen may ask for a passphrase. */
    private LiftedHalt signed(Halts.Judged halt, String digest, LineSigner signer) {
      LiftedHalt unsigned =
          new LiftedHalt(
              halt.halt().id(),
              digest,
              Instant.now().truncatedTo(ChronoUnit.SECONDS),
              signer.author(),
              value(reason).orElse(""),
              "");
      return unsigned.signed(signer.sign().apply(unsigned.statement()));
    }

    /**
     * Lifts the halt on a tier.
     *
     * @throws NexaException if the signature does not count; then nothing was written there
     */
    private Halts.Judged lift(
        Halts halts, Halts.Judged halt, LiftedHalt signed, DeployPlace place) {
      Optional<String> refusal = halts.refusal(halt.halt(), signed, place.signers());
      if (refusal.isPresent()) {
        throw ErrorCode.HALTED.error(
            halt.halt().id() + " is still in force: " + refusal.get() + "; nothing was written",
            "people may lift it whose line in "
                + place.policy().approvals().orElseThrow().allowedSigners()
                + " has the namespace "
                + SignOff.NAMESPACE,
            "one of them types: nexa-slurm unhalt " + halt.halt().id() + " --key FILE");
      }
      halts.lift(signed);
      return halts.existing(halt.halt().id(), place.signers());
    }

    private Integer tell(Halts.Judged halt, String what) {
      if (given(json)) {
        print(
            JsonObject.ofVersion(1)
                .with("halt_id", halt.halt().id())
                .with("in_force", halt.inForce())
                .with("lifted_by", halt.lifted().map(lift -> lift.signer().signer()).orElse(null)));
      } else {
        say(halt.halt().id() + " " + what);
        say("  a pipeline goes on with: nexa-slurm pipeline resume PIPELINE");
      }
      return ExitCode.OK.status();
    }
  }
}
