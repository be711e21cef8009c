package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.plan.Payload;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Site;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Earlier;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.Asked;
import dev.nexa.slurm.run.decision.Clearance;
import dev.nexa.slurm.run.decision.RequireGate;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.submit.BadNodes;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Implements {@code submit}: turns a config into a run and its jobs. */
public record SubmitRun(Context context) {
  /**
   * Loads the classes that every submit needs, in the background while the command line is parsed.
   */
  public static void loadEarly() {
    Thread thread =
        new Thread(
            () -> {
              Sha256.load();
              Renderer.load();
              Json.pretty(new JsonObject());
            },
            "load-early");
    thread.setDaemon(true);
    thread.start();
  }

  /**
   * Submits a run, which may wait for other runs.
   *
   * @param after the value of {@code --dependency}, as {@link Dependencies} reads it
   * @param approval the approval's file; if empty, it is searched in the places that the policy
   *     names
   * @throws dev.nexa.slurm.base.error.NexaException if the run needs an approval; the estimate is
   *     then kept in {@code estimates/}
   */
  public Submitted submit(
      Prepared.Request request, Optional<String> after, Optional<String> approval) {
    Supplier<Renderer> renderer = Renderer.inBackground(context.source());
    Prepared prepared = Prepared.of(context, request);
    context.requireWorkspace(prepared.plan().site().scheduler());
    RequirePartition.of(context, prepared);
    Renderer ready =
        prepared.plugin().isEmpty()
            ? renderer.get()
            : new Renderer(context.source(), prepared.plugin());
    Script script = ready.render(prepared.plan(), prepared.launch());
    PlanFile plan = plan(prepared, script);
    Proposal proposal =
        Proposal.of(context.root(), plan, script, prepared.estimate(), UnixUser.me());
    EstimateFile estimate = proposal.addTo(prepared.estimateFile());
    String scheduler = prepared.plan().site().scheduler();
    // The classes for dependencies are loaded only for a run that has some.
    List<Earlier> earlier =
        after.isPresent() || !prepared.inputs().isEmpty()
            ? Dependencies.of(context, prepared.inputs(), after)
            : List.of();
    new RequireGate(context, prepared.policy()).of(plan, earlier);
    new RequireNoHalt(context, prepared.policy()).require(plan, Optional.empty());
    String dependency =
        earlier.isEmpty()
            ? ""
            : Dependencies.onJobs(context, scheduler, prepared.inputs(), earlier);
    Asked asked = Asked.ofRun(proposal, plan, estimate);
    try (Clearance clearance = clear(prepared, asked, approval)) {
      EstimateFile kept =
          clearance.grant().isPresent()
              ? proposal.addTo(prepared.at(clearance.estimate()).estimateFile())
              : estimate;
      Payload payload = prepared.plan().payload();
      return new NewRun(
              script,
              plan,
              clearance.addTo(kept),
              clearance,
              prepared.estimate().words(prepared.plan()),
              notes(prepared, clearance),
              prepared.ownFiles(context),
              earlier,
              dependency,
              prepared.inputs(),
              payload.code(),
              payload.program().isPresent() ? payload.program().get().files() : List.of())
          .submit(context);
    }
  }

  /**
   * Returns the permission to submit. A refusal begins with the plan's notes: the sum can follow
   * from values that the user did not write.
   */
  private Clearance clear(Prepared prepared, Asked asked, Optional<String> approval) {
    try {
      return Clearance.of(context, prepared.policy(), asked, approval);
    } catch (NexaException refused) {
      List<String> notes = prepared.plan().notes();
      if (notes.isEmpty() || refused.exitCode() != ExitCode.NEEDS_APPROVAL) {
        throw refused;
      }
      List<Advice> advice = new ArrayList<>();
      notes.forEach(note -> advice.add(Advice.note(note)));
      advice.addAll(refused.advice());
      throw refused.code().error(String.valueOf(refused.getMessage()), advice);
    }
  }

  /** Returns the content of plan.json. */
  public static PlanFile plan(Prepared prepared, Script script) {
    PlanFile plan =
        PlanFile.of(prepared.plan())
            .rendered(prepared.plan().config(), script.digest(), prepared.launch().servedModel());
    Optional<Duration> ready = prepared.plan().inputs().serving().readyWithin();
    if (ready.isPresent()) {
      plan.readyWithin(ready.get());
    }
    if (prepared.plugin().isPresent()) {
      plan.plugin(prepared.plugin().get().toJson());
    }
    return plan;
  }

  /** Returns the note for a run without a workspace: it names the files in force. */
  public static String withoutWorkspace(Context context) {
    return withoutWorkspace(
        context.missing().orElseThrow().reason(),
        Files.isRegularFile(ConfigReader.ADMIN_POLICY),
        Files.isDirectory(ConfigSource.SITE));
  }

  static String withoutWorkspace(String reason, boolean adminsPolicy, boolean site) {
    String policy = adminsPolicy ? "the policy is " + ConfigReader.ADMIN_POLICY + "; " : "policy, ";
    String whose = site ? "those of " + ConfigSource.SITE + ", else the jar's" : "the jar's";
    return "note: " + reason + ": " + policy + "prices and cluster profile are " + whose;
  }

  /** Returns a note about storage of Slurm's jobs that this user cannot write to. */
  private static Optional<String> notWritable(Site site) {
    List<String> not = site.storage().notWritable();
    // Scratch may be a disk that only the nodes have.
    not.removeIf(
        tier -> tier.startsWith("scratch ") && !Files.exists(Path.of(site.storage().scratch())));
    return not.isEmpty() || site.scheduler().equals(ClusterProfile.LOCAL)
        ? Optional.empty()
        : Optional.of(
            ("note: you can't write to %s from here; a job whose node can't either fails"
                    + " before its command starts: set `storage` in configs/clusters/%s.yaml")
                .formatted(String.join(", ", not), site.cluster()));
  }

  /** Returns a note about a uv project of this host that has no environment. */
  private static Optional<String> notSynced(String folder) {
    return !Files.isDirectory(Path.of(folder))
            || Files.exists(Path.of(folder, ".venv", "bin", "activate"))
        ? Optional.empty()
        : Optional.of(
            "note: software.uv: there is no %s/.venv on this host: type `uv sync --locked` in that folder"
                .formatted(folder));
  }

  /** Returns the notes about nodes that the submission leaves out. */
  public static List<String> withoutNodes(Context context, Prepared prepared) {
    if (context.missing().isPresent() || !Files.isDirectory(context.workspace().badNodes())) {
      return List.of();
    }
    Scheduler scheduler = context.scheduler(prepared.plan().site().scheduler());
    return BadNodes.notes(context.workspace().badNodes(), PlanFile.of(prepared.plan()), scheduler);
  }

  private List<String> notes(Prepared prepared, Clearance clearance) {
    List<String> notes = new ArrayList<>();
    if (context.missing().isPresent()) {
      notes.add(withoutWorkspace(context));
    }
    Optional<String> reason = prepared.plan().shape().partitionReason();
    if (reason.isPresent()) {
      notes.add(reason.get());
    }
    if (prepared.plan().payload().code().isPresent()) {
      notes.add(prepared.plan().payload().code().get().sentence());
    }
    for (String note : prepared.plan().notes()) {
      notes.add("note: " + note);
    }
    if (!prepared.plan().whyBilled().isEmpty()) {
      notes.add("note: " + prepared.plan().whyBilled());
    }
    if (prepared.slurmIsSilent()) {
      notes.add(
          "note: Slurm did not say how it shares its nodes; the most that the run can cost rests on the cluster profile");
    }
    if (prepared.plan().training().has("dataset_path")) {
      DataPathCheck.of(prepared.plan()).ifPresent(note -> notes.add("note: " + note));
    }
    notWritable(prepared.plan().site()).ifPresent(notes::add);
    Software software = prepared.plan().environment().software();
    software.uv().flatMap(SubmitRun::notSynced).ifPresent(notes::add);
    Optional<String> environment = software.environment();
    if (environment.isPresent()
        && prepared.plan().billed().gpus() > 0
        && context.missing().isEmpty()) {
      TorchForDriver.note(context.workspace(), Path.of(environment.get())).ifPresent(notes::add);
    }
    for (String note : context.configs().ignored(prepared.plan().site().cluster())) {
      notes.add("note: " + note);
    }
    notes.addAll(withoutNodes(context, prepared));
    if (prepared.outlook().expected().isPresent() || prepared.outlook().accuracy().isPresent()) {
      notes.addAll(OutlookText.lines(prepared.outlook()));
    }
    if (prepared.egress().isPresent()) {
      notes.add("note: " + prepared.egress().get().sentence(prepared.estimate().rates()));
    }
    prepared.pastUse(context).ifPresent(notes::add);
    Optional<ModelNumbers> model = prepared.model();
    if (model.isPresent() && model.get().note().isPresent()) {
      notes.add(model.get().note().get());
    }
    notes.addAll(clearance.notes());
    return notes;
  }
}
