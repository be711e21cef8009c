package dev.nexa.slurm.app;

import dev.nexa.slurm.config.FromRun;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.units.HostList;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/** {@code --from RUN}: what a finished run leaves to the next one. */
final class FindFrom {
  private FindFrom() {}

  /**
   * The run's checkpoint.
   *
   * @param sameNode whether its last attempt's nodes are wanted too
   */
  static FromRun find(Nexa nexa, String reference, boolean sameNode) {
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
    RunFolder run = found.run();
    JsonObject manifest =
        Files.exists(run.manifest())
            ? Json.parseObject(DurableFiles.read(run.manifest()))
            : new JsonObject().with("status", "running");
    String status = manifest.text("status");
    if (!status.equals("completed")) {
      throw new NexaException(
          ExitCode.USAGE,
          "--from " + run.id() + ": it is " + status + ", not completed",
          "`nexa-slurm reconcile` writes what a run has come to; `nexa-slurm runs list` shows others");
    }
    Optional<String> checkpoint = checkpoint(run, manifest, found.task());
    if (checkpoint.isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "--from " + run.id() + ": its manifest names no checkpoint",
          "a program names it in $NEXA_METRICS, as `checkpoint`",
          "or name it here: --set model_name=… instead of --from");
    }
    return new FromRun(run.id().value(), checkpoint.get(), sameNode ? nodes(run) : List.of());
  }

  /** Of a sweep that of the point that was named: which is the best is not ours to say. */
  private static Optional<String> checkpoint(RunFolder run, JsonObject manifest, OptionalInt task) {
    List<JsonObject> points =
        manifest.members().containsKey("points") ? manifest.objects("points") : List.of();
    if (points.isEmpty()) {
      return manifest.optionalText("checkpoint");
    }
    if (task.isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "--from " + run.id() + ": it is a sweep of " + points.size() + " points",
          "name one as JOB_TASK; `nexa-slurm runs show " + run.id() + "` shows what came of each");
    }
    return points
        .get(task.getAsInt())
        .optionalObject("metrics")
        .flatMap(metrics -> metrics.optionalText("checkpoint"));
  }

  private static List<String> nodes(RunFolder run) {
    String scheduler = run.planJson().text("scheduler");
    List<JsonObject> attempts =
        Json.parseObject(DurableFiles.read(run.cost())).object("actual").objects("attempts");
    String nodes =
        attempts.isEmpty()
            ? ""
            : attempts.get(attempts.size() - 1).optionalText("nodes").orElse("");
    if (nodes.isEmpty() || !scheduler.equals("slurm")) {
      throw new NexaException(
          ExitCode.USAGE,
          "--same-node: it is not known on which of Slurm's nodes " + run.id() + " ran",
          "leave --same-node out");
    }
    return HostList.names(nodes);
  }
}
