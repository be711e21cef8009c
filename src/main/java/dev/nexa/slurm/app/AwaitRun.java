package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** {@code --wait}: reconciles one run until it has ended, more slowly the longer it takes. */
public final class AwaitRun {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(30);

  private final Nexa nexa;

  public AwaitRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /** The final manifest; progress is told whenever the state or the counts change. */
  public JsonObject await(RunFolder run, Consumer<String> progress) {
    ReconcileRuns reconcile = new ReconcileRuns(nexa);
    Duration pause = FIRST;
    String last = "";
    while (true) {
      pass(reconcile, run, progress);
      JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
      String now = manifest.text("state") + " " + manifest.object("tasks").object("states");
      if (!now.equals(last)) {
        progress.accept(run.id() + ": " + summary(manifest));
        last = now;
        pause = FIRST;
      }
      if (!manifest.text("status").equals("running")) {
        return manifest;
      }
      sleep(pause);
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
    }
  }

  /** An outage is told and waited out: the job goes on without us. */
  static void pass(ReconcileRuns reconcile, RunFolder run, Consumer<String> progress) {
    try {
      ReconcileRuns.Pass pass = reconcile.reconcile(List.of(run.id()));
      if (!pass.broken().isEmpty()) {
        throw new NexaException(
            ExitCode.DEFECT, String.join("\n", pass.problems()), "see docs/operations.md");
      }
      pass.problems().forEach(progress);
    } catch (SchedulerUnavailable outage) {
      progress.accept(String.valueOf(outage.getMessage()));
    }
  }

  private static String summary(JsonObject manifest) {
    StringBuilder text = new StringBuilder(manifest.text("state"));
    JsonObject states = manifest.object("tasks").object("states");
    String separator = " (";
    for (String state : states.members().keySet()) {
      text.append(separator).append(states.number(state)).append(' ').append(state);
      separator = ", ";
    }
    return text.append(separator.equals(" (") ? "" : ")").toString();
  }

  static void sleep(Duration pause) {
    try {
      Thread.sleep(pause.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while waiting", interrupted);
    }
  }
}
