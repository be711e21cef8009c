package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Implements {@code --wait}: reconciles one run until it has ended. The pause grows from 0.5 to 30
 * seconds while nothing changes.
 */
public final class AwaitRun {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Context context;

  public AwaitRun(Context context) {
    this.context = context;
  }

  /**
   * Waits until the run has ended.
   *
   * @param progress receives a line when the state or the task counts change
   * @return the final manifest
   * @throws NexaException if the run's files are broken
   */
  public ManifestFile await(RunFolder run, Consumer<String> progress) {
    ReconcileRuns reconcile = new ReconcileRuns(context);
    Duration pause = FIRST;
    String last = "";
    while (true) {
      pass(reconcile, run, progress);
      ManifestFile manifest = ManifestFile.read(run);
      String now = state(run, manifest);
      if (!now.equals(last)) {
        progress.accept(run.id() + ": " + now);
        last = now;
        pause = FIRST;
      }
      if (manifest.status().ended()) {
        return manifest;
      }
      sleep(pause);
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
    }
  }

  /** Makes one pass over the run. An outage is reported as progress: the job continues in Slurm. */
  public static void pass(ReconcileRuns reconcile, RunFolder run, Consumer<String> progress) {
    try {
      ReconcileRuns.Pass pass = reconcile.reconcile(List.of(run.id()));
      if (!pass.broken().isEmpty()) {
        throw new NexaException(
            ErrorCode.RECORD_DAMAGED,
            String.join("\n", pass.problems()),
            Advice.command("", "nexa-slurm", "explain", "docs/recovery.md"));
      }
      pass.problems().forEach(progress);
    } catch (SchedulerUnavailable outage) {
      progress.accept(String.valueOf(outage.getMessage()));
    }
  }

  /** Returns the run's state, and why it waits if none of its tasks has begun. */
  private String state(RunFolder run, ManifestFile manifest) {
    String state = summary(manifest);
    if (!manifest.states().members().keySet().equals(Set.of("pending"))) {
      return state;
    }
    try {
      List<RunRow> rows = new StatusRows(context).rows(List.of(run.id()), new ArrayList<>());
      if (rows.isEmpty()) {
        return state;
      }
      RunRow row = rows.get(0);
      // A run that has left the queue would seem to wait again.
      return row.hasLeft() || row.status().ended()
          ? "ending; " + RunRow.LEFT
          : state + row.waitsBecause().map(why -> "; " + why).orElse("");
    } catch (SchedulerUnavailable outage) {
      // The pass reports an outage.
      return state;
    }
  }

  private static String summary(ManifestFile manifest) {
    boolean waits = Set.of("unconfirmed", "pending").contains(manifest.state());
    StringBuilder text = new StringBuilder(waits ? "queued" : manifest.state());
    JsonObject states = manifest.states();
    String separator = " (";
    for (String state : states.members().keySet()) {
      text.append(separator).append(states.number(state)).append(' ').append(state);
      separator = ", ";
    }
    return text.append(separator.equals(" (") ? "" : ")").toString();
  }

  /**
   * Sleeps.
   *
   * @throws IllegalStateException if the thread is interrupted
   */
  public static void sleep(Duration pause) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", interrupted);
    }
  }
}
