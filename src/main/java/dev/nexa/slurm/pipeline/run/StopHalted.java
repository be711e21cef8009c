package dev.nexa.slurm.pipeline.run;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.pipeline.run.PipelineProgress.StageProgress;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.documents.PipelineFile;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.Halts.Halt;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Applies halts to a submitted pipeline, and sets the halt of a failed gate. */
final class StopHalted {
  private final Context context;
  private final Policy policy;
  private final RequireNoHalt halts;

  StopHalted(Context context) {
    this.context = context;
    this.policy = context.configs().policy();
    this.halts = new RequireNoHalt(context, policy);
  }

  /** Sets a halt for each gate that failed, once for each run, if the policy asks for it. */
  void afterFailedGate(PipelineProgress progress, List<String> problems) {
    if (!policy.evaluation().haltOnFailure()) {
      return;
    }
    for (StageProgress stage : progress.stages()) {
      RunFolder run = context.workspace().run(stage.stage().run());
      if (!stage.gated() || !stage.ended() || run.isOpen() || stage.stage().reused()) {
        continue;
      }
      Optional<String> why = ManifestFile.read(run).failedGate();
      if (why.isEmpty()) {
        continue;
      }
      new Halts(RequireNoHalt.deploy(plan(stage).storage().durable()), context.workspace().files())
          .setByGate(
              Instant.now().truncatedTo(ChronoUnit.SECONDS),
              UnixUser.me().user(),
              ProcessIdentity.ofThisProcess().host(),
              why.get(),
              progress.file().name(),
              run.id().value())
          .ifPresent(halt -> publish(progress.file(), stage, halt, problems));
    }
  }

  private void publish(PipelineFile file, StageProgress stage, Halt halt, List<String> problems) {
    onOtherTiers(stage, halt, problems);
    new Outbox(context.workspace())
        .recordIfAsked(policy.channels(), HaltedTiers.notice(halt))
        .ifPresent(problems::add);
    problems.add(
        ("%s: the gate %s failed, so the halt %s stops releases of the pipeline %s;"
                + " an approver lifts it: `nexa-slurm unhalt %s`")
            .formatted(file.id(), stage.stage().name(), halt.id(), file.name(), halt.id()));
  }

  /** A release of the pipeline may be deployed on another profile's tier. */
  private void onOtherTiers(StageProgress stage, Halt halt, List<String> problems) {
    HaltedTiers.of(context, plan(stage).storage().durable()).others().put(halt).stream()
        .filter(tried -> tried.halt().isEmpty())
        .map(it -> "the halt " + halt.id() + " is not in force on " + it.tier() + ": " + it.why())
        .forEach(problems::add);
  }

  /**
   * Cancels each waiting stage that a halt stops.
   *
   * @return whether a stage was cancelled
   */
  boolean cancelWaiting(PipelineProgress progress, List<String> problems) {
    boolean any = false;
    for (StageProgress stage : progress.stages()) {
      if (stage.ended() || stage.row().isEmpty() || stage.row().get().tasks().running() > 0) {
        continue;
      }
      List<Halts.Judged> stops = stops(progress, stage);
      if (stops.isEmpty()) {
        continue;
      }
      RunFolder run = context.workspace().run(stage.stage().run());
      new CancelRun(context).cancel(run, OptionalInt.empty());
      new ReconcileRuns(context).reconcile(List.of(run.id()));
      String id = progress.file().id();
      problems.add(
          ("%s: %s was cancelled, because the halt %s is in force, %s; after `%s`, `nexa-slurm"
                  + " pipeline resume %s` goes on")
              .formatted(
                  id,
                  stage.stage().name(),
                  stops.get(0).halt().id(),
                  stops.get(0).words(),
                  Advice.command("", stops.get(0).ends().command().toArray()),
                  id));
      any = true;
    }
    return any;
  }

  /**
   * Checks that no halt stops a stage that has not completed.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if one does
   */
  void requireNone(PipelineProgress progress) {
    for (StageProgress stage : progress.stages()) {
      if (stage.completed() || stage.isSkipped()) {
        continue;
      }
      List<Halts.Judged> stops = stops(progress, stage);
      if (!stops.isEmpty()) {
        throw RequireNoHalt.refusal(
            progress.file().id() + ": " + stage.stage().name() + " may not start", stops);
      }
    }
  }

  private List<Halts.Judged> stops(PipelineProgress progress, StageProgress stage) {
    PlanFile plan = plan(stage);
    return RequireNoHalt.concerns(policy, plan.stage())
        ? halts.halts(plan.storage().durable(), Optional.of(progress.file().name()))
        : List.of();
  }

  private PlanFile plan(StageProgress stage) {
    return ProvenFiles.of(context.workspace().run(stage.stage().run())).plan();
  }
}
