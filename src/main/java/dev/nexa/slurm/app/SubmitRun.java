package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.render.Renderer;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.report.OutlookText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** {@code submit}: from a config to a job, once. */
public final class SubmitRun {
  private final Nexa nexa;

  public SubmitRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Loads what every submit needs, beside what its caller does next: reading the command line. */
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

  /** Submits; an estimate over the threshold goes no further than estimates/. */
  public Submitted submit(Prepared.Request request) {
    return submit(request, Optional.empty(), Optional.empty());
  }

  /**
   * The same for a run that waits for others.
   *
   * @param after what {@link Dependencies} reads
   * @param approval the file that covers it; else it is looked for where the policy says
   */
  public Submitted submit(
      Prepared.Request request, Optional<String> after, Optional<String> approval) {
    Supplier<Renderer> renderer = Renderer.inBackground(nexa.source());
    Prepared prepared = Prepared.of(nexa, request);
    Renderer ready =
        prepared.plugin().isEmpty()
            ? renderer.get()
            : new Renderer(nexa.source(), prepared.plugin());
    Script script = ready.render(prepared.plan(), prepared.launch());
    JsonObject plan = plan(prepared, script);
    Proposal proposal = Proposal.of(nexa.root(), plan, script, prepared.estimate(), Person.me());
    JsonObject estimate = proposal.addTo(prepared.estimateJson());
    String scheduler = prepared.plan().scheduler();
    String dependency =
        after.isPresent() ? new Dependencies(nexa, scheduler).onJobs(after.get()) : "";
    try (Clearance clearance =
        Clearance.of(nexa, prepared.policy(), proposal, plan, estimate, approval)) {
      return new NewRun(
              script,
              plan,
              clearance.addTo(proposal.addTo(prepared.at(clearance.estimate()).estimateJson())),
              clearance,
              notes(prepared, clearance),
              prepared.ownFiles(nexa),
              dependency)
          .submit(nexa);
    }
  }

  private static JsonObject plan(Prepared prepared, Script script) {
    JsonObject plan =
        prepared
            .plan()
            .toJson()
            .with("config", prepared.plan().config())
            .with("script_digest", script.digest())
            .withOptional("served_model", prepared.launch().servedModel());
    Optional<Duration> ready = prepared.plan().serving().readyWithin();
    if (ready.isPresent()) {
      plan.with("ready_within_seconds", ready.get().toSeconds());
    }
    if (prepared.plugin().isPresent()) {
      plan.with("plugin", prepared.plugin().get().toJson());
    }
    return plan;
  }

  private static List<String> notes(Prepared prepared, Clearance clearance) {
    List<String> notes = new ArrayList<>();
    Optional<String> reason = prepared.plan().partitionReason();
    if (reason.isPresent()) {
      notes.add(reason.get());
    }
    for (String note : prepared.plan().notes()) {
      notes.add("note: " + note);
    }
    if (prepared.outlook().expected().isPresent() || prepared.outlook().accuracy().isPresent()) {
      notes.addAll(OutlookText.lines(prepared.outlook()));
    }
    Optional<ModelNumbers> model = prepared.model();
    if (model.isPresent() && model.get().note().isPresent()) {
      notes.add(model.get().note().get());
    }
    notes.addAll(clearance.notes());
    return notes;
  }
}
