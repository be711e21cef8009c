package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.journal.Event;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.reconcile.RunFacts;
import dev.nexa.slurm.reconcile.RunOutcome;
import dev.nexa.slurm.reconcile.RunRecords;
import dev.nexa.slurm.render.Renderer;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.serve.ApiKey;
import dev.nexa.slurm.submit.CrashPoint;
import dev.nexa.slurm.submit.SubmitOnce;
import dev.nexa.slurm.units.IndexRange;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

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

  /**
   * What came of it.
   *
   * @param scheduler its name
   * @param key the submission's
   * @param answer what the scheduler said
   */
  public record Submitted(
      RunFolder run,
      Prepared prepared,
      String scheduler,
      String key,
      SubmitAnswer answer,
      RunOutcome outcome) {

    /** What the scheduler said where it made no job, or may have made one. */
    private @Nullable String message() {
      if (answer instanceof SubmitAnswer.Refused refused) {
        return refused.message();
      }
      return answer instanceof SubmitAnswer.Unknown unknown ? unknown.message() : null;
    }

    /** The document that {@code --json} prints. */
    public JsonObject json() {
      List<JsonObject> jobs = new ArrayList<>();
      if (answer instanceof SubmitAnswer.Submitted submitted) {
        String cluster = submitted.cluster().isEmpty() ? scheduler : submitted.cluster();
        jobs.add(
            new JsonObject()
                .with("cluster", cluster)
                .with("job_id", submitted.jobId())
                .with("submit_time", null)
                .with("name", key));
      }
      return new JsonObject()
          .with("schema_version", 1)
          .with("run_id", run.id().value())
          .with("status", outcome.status())
          .with("state", outcome.state())
          .with("message", message())
          .with("jobs", jobs)
          .with("tasks", prepared.plan().tasks())
          .with("estimate", prepared.estimateJson())
          .with(
              "files",
              new JsonObject()
                  .with("script", run.script().toString())
                  .with("plan", run.plan().toString())
                  .with("manifest", run.manifest().toAbsolutePath().normalize().toString())
                  .with("cost", run.cost().toAbsolutePath().normalize().toString()));
    }
  }

  /** Submits; an estimate over the threshold goes no further than estimates/. */
  public Submitted submit(Prepared.Request request) {
    Supplier<Renderer> renderer = Renderer.inBackground(nexa.source());
    Prepared prepared = Prepared.of(nexa, request);
    Renderer ready =
        prepared.plugin().isEmpty()
            ? renderer.get()
            : new Renderer(nexa.source(), prepared.plugin());
    Script script = ready.render(prepared.plan(), prepared.launch());
    requireApproval(prepared);
    Scheduler scheduler = nexa.scheduler(prepared.plan().scheduler());
    RunFolder run = nexa.workspace().claim(prepared.plan().stage(), Instant.now());
    nexa.passing().accept(CrashPoint.RUN_CLAIMED);
    try (FileLock lock = lock(run)) {
      return locked(prepared, script, scheduler, run, lock);
    }
  }

  private FileLock lock(RunFolder run) {
    try {
      return run.lock(Duration.ofSeconds(5)).orElseThrow();
    } catch (UncheckedIOException failed) {
      nexa.workspace().files().removeEmpty(run.path());
      throw failed;
    }
  }

  private Submitted locked(
      Prepared prepared, Script script, Scheduler scheduler, RunFolder run, FileLock lock) {
    Workspace workspace = nexa.workspace();
    JsonObject plan =
        prepared
            .plan()
            .toJson()
            .with("config", prepared.plan().config())
            .with("script_digest", script.digest());
    if (prepared.plugin().isPresent()) {
      plan.with("plugin", prepared.plugin().get().toJson());
    }
    JsonObject estimate = prepared.estimateJson();
    workspace.markOpen(run.id());
    nexa.passing().accept(CrashPoint.RUN_OPENED);
    run.stage(script, plan, estimate);
    if (prepared.launch().serves()) {
      ApiKey.make(run, workspace.files());
    }
    nexa.passing().accept(CrashPoint.RUN_STAGED);
    if (!lock.holds()) {
      throw new IllegalStateException(
          "the lock of " + run.id() + " was taken over while we hold it");
    }
    try {
      return submitted(prepared, scheduler, run, plan, estimate);
    } catch (UncheckedIOException failed) {
      throw new NexaException(
          ExitCode.DEFECT,
          String.valueOf(failed.getMessage()),
          failed,
          "a job may exist: do not submit again",
          "mend that, then `nexa-slurm reconcile` finds out and goes on with " + run.id());
    }
  }

  private Submitted submitted(
      Prepared prepared, Scheduler scheduler, RunFolder run, JsonObject plan, JsonObject estimate) {
    Workspace workspace = nexa.workspace();
    SubmitAnswer answer =
        new SubmitOnce(scheduler, nexa.passing())
            .submit(run, IndexRange.upTo(prepared.plan().tasks()), Optional.of(created(prepared)));
    RunState state = RunState.of(run.journal().read());
    RunFacts facts = RunFacts.of(run, plan, estimate);
    RunOutcome outcome = RunOutcome.of(facts, state, List.of(), List.of(), Map.of(), Instant.now());
    new RunRecords(workspace, nexa.passing()).write(run, facts, state, outcome, new ArrayList<>());
    workspace.linkLatest(run.id());
    String key = state.last().orElseThrow().key();
    return new Submitted(run, prepared, scheduler.name(), key, answer, outcome);
  }

  private void requireApproval(Prepared prepared) {
    if (!prepared.needsApproval()) {
      return;
    }
    Workspace workspace = nexa.workspace();
    Path file = workspace.estimate(prepared.estimate().configDigest());
    workspace.files().directories(workspace.estimates());
    workspace
        .files()
        .replace(
            file, Json.pretty(prepared.estimateJson().with("config", prepared.plan().config())));
    throw new NexaException(
        ExitCode.NEEDS_APPROVAL,
        "this run can cost "
            + prepared.estimate().total()
            + "; the policy lets "
            + prepared.policy().approvalOver()
            + " through without an approval ("
            + prepared.policy().name()
            + ")",
        "nothing was submitted; the estimate is in " + file,
        "ask for less (a shorter time, fewer tasks, fewer requeues), or ask whoever keeps the policy");
  }

  private Event created(Prepared prepared) {
    JsonObject data =
        new JsonObject()
            .with("user", System.getProperty("user.name", ""))
            .with("config", prepared.plan().config())
            .with("config_digest", prepared.estimate().configDigest());
    return Event.now(Event.Type.CREATED, data);
  }
}
