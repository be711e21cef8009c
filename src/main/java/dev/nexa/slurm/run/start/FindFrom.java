package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.run.ModelFolder;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/** Resolves {@code --from [NAME=]RUN}: finds the earlier runs whose files the new run reads. */
final class FindFrom {
  private final Context context;
  private final Map<String, String> runs = new LinkedHashMap<>();
  private final List<RunInput> inputs = new ArrayList<>();
  private Optional<String> modelSize = Optional.empty();
  private Optional<NexaException> noCheckpoint = Optional.empty();
  private List<String> nodes = List.of();

  private FindFrom(Context context) {
    this.context = context;
  }

  /**
   * The earlier runs.
   *
   * @param runs what the config is read with
   * @param inputs what the job reads
   * @param noCheckpoint the refusal of the run without a name, if it has completed without a
   *     checkpoint. It is thrown after the config was read, because the config may need another
   *     name.
   */
  record Found(FromRuns runs, List<RunInput> inputs, Optional<NexaException> noCheckpoint) {
    /** Throws the refusal, if there is one. */
    void requireCheckpoint() {
      if (noCheckpoint.isPresent()) {
        throw noCheckpoint.get();
      }
    }
  }

  /**
   * Finds the earlier runs. A run may still wait or run: the new run then waits for it.
   *
   * @param references what the user typed after each {@code --from}
   * @param sameNode whether the new run must use the nodes of the first of these runs
   * @throws NexaException with {@link ExitCode#USAGE} if a name is wrong, if a run has ended
   *     without completing, if its folder does not name all completed tasks, or if the nodes are
   *     unknown
   */
  static Found find(Context context, List<String> references, boolean sameNode) {
    FindFrom find = new FindFrom(context);
    references.forEach(reference -> find.add(reference, sameNode));
    return new Found(
        new FromRuns(Collections.unmodifiableMap(find.runs), find.modelSize, find.nodes),
        List.copyOf(find.inputs),
        find.noCheckpoint);
  }

  private void add(String typed, boolean sameNode) {
    int equals = typed.indexOf('=');
    String name = equals < 0 ? FromRuns.UNNAMED : typed.substring(0, equals);
    requireName(name, typed);
    RunLookup.Found found = new RunLookup(context.workspace()).find(typed.substring(equals + 1));
    RunFolder run = found.run();
    requireFiles(run);
    PlanFile plan = run.shownPlan();
    Optional<ManifestFile> manifest =
        Files.exists(run.manifest()) ? Optional.of(ManifestFile.read(run)) : Optional.empty();
    manifest.ifPresent(known -> requireNotFailed(run, known));
    boolean completed = manifest.filter(known -> known.status() == RunStatus.COMPLETED).isPresent();
    if (completed) {
      requireDone(run, plan);
    }
    if (name.equals(FromRuns.UNNAMED)) {
      requireOneCheckpoint(run, plan, found.task());
      if (completed) {
        Optional<String> checkpoint = checkpoint(manifest.orElseThrow(), found.task());
        modelSize = checkpoint.flatMap(ModelFolder::size);
        noCheckpoint = checkpoint.isPresent() ? Optional.empty() : Optional.of(lacks(run));
      }
    }
    if (sameNode && nodes.isEmpty()) {
      nodes = nodes(run, completed);
    }
    runs.put(name, run.id().value());
    inputs.add(RunInput.of(name, run.id(), plan, found.task()));
  }

  private void requireName(String name, String typed) {
    if (!FromRuns.isName(name)) {
      throw ErrorCode.OPTION_INVALID.error(
          ("--from %s: expected RUN or NAME=RUN, where NAME is a stage's name such as train,"
                  + " got the name '%s'")
              .formatted(typed, name));
    }
    if (runs.containsKey(name)) {
      throw ErrorCode.OPTIONS_CONFLICT.error(
          "--from names two runs '" + name + "'",
          "give each run a name of its own: --from train=RUN --from eval=RUN");
    }
  }

  /** An imported run has no plan, and a server makes no files. */
  private static void requireFiles(RunFolder run) {
    boolean planned = Files.exists(run.plan());
    if (!planned || run.shownPlan().servedModel().isPresent()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "--from %s%s"
              .formatted(
                  run.id(),
                  planned
                      ? ": it is a server, which leaves no files"
                      : ": it was submitted without nexa-slurm, so its files are not known"),
          "write the path of the files into the config, or name another run");
    }
  }

  /** The job counts the tasks in {@code done/}, so it would refuse to start later. */
  private static void requireDone(RunFolder run, PlanFile plan) {
    if (run.completedTasks() < plan.tasks()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          ("--from %s: it has completed, but its folder done/ does not name all tasks; an"
                  + " earlier version of nexa-slurm made it, or somebody removed files")
              .formatted(run.id()),
          "write the path of the files into the config instead");
    }
  }

  private static void requireNotFailed(RunFolder run, ManifestFile manifest) {
    if (manifest.status() != RunStatus.FAILED) {
      return;
    }
    boolean cancelled = manifest.state().equals("cancelled");
    throw ErrorCode.RUN_NOT_SUITABLE.error(
        "--from " + run.id() + ": it " + (cancelled ? "was cancelled" : "has failed"),
        cancelled
            ? Advice.command("runs it again", "nexa-slurm", "rerun", run.id())
            : Advice.command("runs again what failed", "nexa-slurm", "rerun", "--failed", run.id()),
        Advice.command("shows other runs", "nexa-slurm", "runs", "list"));
  }

  /** Each point of a sweep has a checkpoint; nexa-slurm does not decide which point is best. */
  private static void requireOneCheckpoint(RunFolder run, PlanFile plan, OptionalInt task) {
    if (!plan.points().isEmpty() && task.isEmpty()) {
      throw ErrorCode.REFERENCE_AMBIGUOUS.error(
          "--from " + run.id() + ": it is a sweep of " + plan.points().size() + " points",
          Advice.step("name one point as JOB_TASK"),
          Advice.command("shows what came of each", "nexa-slurm", "runs", "show", run.id()));
    }
  }

  private static Optional<String> checkpoint(ManifestFile manifest, OptionalInt task) {
    List<ManifestFile.Point> points = manifest.points();
    return points.isEmpty() || task.isEmpty()
        ? manifest.checkpoint()
        : points.get(task.getAsInt()).metrics().optionalText("checkpoint");
  }

  private static NexaException lacks(RunFolder run) {
    return ErrorCode.RUN_NOT_SUITABLE.error(
        "--from " + run.id() + ": its manifest names no checkpoint",
        "a program names it in $NEXA_METRICS, as `checkpoint`",
        "or name it here: --set model_name=… instead of --from");
  }

  private static List<String> nodes(RunFolder run, boolean completed) {
    List<CostFile.Attempt> attempts = completed ? CostFile.read(run).attempts() : List.of();
    String nodes = attempts.isEmpty() ? "" : attempts.get(attempts.size() - 1).held().nodes();
    if (nodes.isEmpty() || run.shownPlan().isLocal()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "--same-node: it is not known on which of Slurm's nodes " + run.id() + " ran",
          "leave --same-node out");
    }
    return HostList.names(nodes);
  }
}
