package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.HostList;
import dev.nexa.slurm.job.config.FromRun;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** Resolves {@code --from RUN}: finds the checkpoint that a finished run left for the next run. */
final class FindFrom {
  private FindFrom() {}

  /**
   * Returns the run's checkpoint.
   *
   * @param sameNode whether to return the nodes of the run's last attempt too
   * @throws NexaException with {@link ExitCode#USAGE} if the run has not completed, names no
   *     checkpoint, or its nodes are unknown
   */
  static FromRun find(Context context, String reference, boolean sameNode) {
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference);
    RunFolder run = found.run();
    Optional<ManifestFile> manifest =
        Files.exists(run.manifest()) ? Optional.of(ManifestFile.read(run)) : Optional.empty();
    RunStatus status = manifest.isPresent() ? manifest.get().status() : RunStatus.RUNNING;
    if (status != RunStatus.COMPLETED) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          "--from " + run.id() + ": it is " + status.text() + ", not completed",
          Advice.command("writes what a run has come to", "nexa-slurm", "reconcile"),
          Advice.command("shows others", "nexa-slurm", "runs", "list"));
    }
    Optional<String> checkpoint = checkpoint(run, manifest.orElseThrow(), found.task());
    if (checkpoint.isEmpty()) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          "--from " + run.id() + ": its manifest names no checkpoint",
          Advice.step("a program names it in $NEXA_METRICS, as `checkpoint`"),
          Advice.step("or name it here: --set model_name=… instead of --from"));
    }
    return new FromRun(run.id().value(), checkpoint.get(), sameNode ? nodes(run) : List.of());
  }

  /**
   * Returns the checkpoint. The user must name one point of a sweep: nexa-slurm does not decide
   * which point is best.
   */
  private static Optional<String> checkpoint(
      RunFolder run, ManifestFile manifest, OptionalInt task) {
    List<ManifestFile.Point> points = manifest.points();
    if (points.isEmpty()) {
      return manifest.checkpoint();
    }
    if (task.isEmpty()) {
      throw new NexaException(
          ErrorCode.REFERENCE_AMBIGUOUS,
          "--from " + run.id() + ": it is a sweep of " + points.size() + " points",
          Advice.step("name one as JOB_TASK"),
          Advice.command("shows what came of each", "nexa-slurm", "runs", "show", run.id()));
    }
    return points.get(task.getAsInt()).metrics().optionalText("checkpoint");
  }

  private static List<String> nodes(RunFolder run) {
    List<CostFile.Attempt> attempts =
        CostFile.parse(DurableFiles.read(run.cost()), run.cost().toString()).attempts();
    String nodes = attempts.isEmpty() ? "" : attempts.get(attempts.size() - 1).nodes();
    if (nodes.isEmpty() || run.shownPlan().isLocal()) {
      throw new NexaException(
          ErrorCode.RUN_NOT_SUITABLE,
          "--same-node: it is not known on which of Slurm's nodes " + run.id() + " ran",
          Advice.step("leave --same-node out"));
    }
    return HostList.names(nodes);
  }
}
