package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.pipeline.run.AdvancePipelines;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * A workspace with a pipeline of three stages. Each task writes one line of work, with the number
 * of files that it found in the output of the first stage.
 */
record TrialPipeline(Path root) {
  /** The lines of work, sorted, if each task worked once and on complete input. */
  static final List<String> WORK = List.of("eval 0 2", "prepare 0", "prepare 1", "train 0 2");

  private static final Duration PATIENCE = Duration.ofMinutes(4);

  /**
   * Makes the workspace.
   *
   * @param policy further lines of configs/policy.yaml
   */
  static TrialPipeline in(Path root, String policy) throws IOException {
    TrialPipeline trial = new TrialPipeline(Files.createDirectories(root));
    trial.write(
        "configs/policy.yaml",
        "approval_over: {amount: 1000.00, currency: USD}\nsettle_window_seconds: 3\n" + policy);
    trial.write(
        "configs/clusters/default.yaml",
        """
        scheduler: slurm
        health_check: false
        storage: {scratch: %1$s/scratch, durable: %1$s/durable, shared: %1$s/shared}
        slurm: {kill_wait_seconds: 5, message_timeout_seconds: 10}
        """
            .formatted(root));
    trial.stage(
        "prepare",
        "mkdir -p \"$NEXA_OUTPUT\"; echo x >\"$NEXA_OUTPUT/$NEXA_TASK\"; echo \"prepare $NEXA_TASK\"",
        "array: {shards: 2}\n");
    String counts = "echo \"%s $NEXA_TASK $(cat \"${stages.prepare.output}\"/* | wc -l)\"";
    trial.stage("train", counts.formatted("train"), "");
    trial.stage("eval", counts.formatted("eval"), "");
    trial.write(
        "pipeline.yaml",
        """
        stages:
          prepare: {config: prepare.yaml}
          train: {config: train.yaml, after: [prepare]}
          eval: {config: eval.yaml, after: [prepare, train]}
        """);
    return trial;
  }

  /** Writes the config of a stage whose tasks run {@code line} and append its output. */
  void stage(String name, String line, String more) throws IOException {
    write(
        name + ".yaml",
        "stage: "
            + name
            + "\nbackend: shell\nrun: |\n  { "
            + line
            + "; } >>"
            + root
            + "/worked\nresources: {partition: cpu, memory: 50M, time: 5m}\n"
            + more);
  }

  Context context() {
    return new Context(root, System.getenv());
  }

  Path file() {
    return root.resolve("pipeline.yaml");
  }

  /** Returns the lines of work so far, sorted. */
  List<String> worked() throws IOException {
    Path file = root.resolve("worked");
    return Files.exists(file) ? Files.readAllLines(file).stream().sorted().toList() : List.of();
  }

  /** Makes passes of reconcile until all runs and pipelines have ended. */
  void heal() throws InterruptedException {
    Context context = context();
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!context.workspace().openRuns().isEmpty()
        || !context.workspace().openPipelines().isEmpty()) {
      assertThat(Instant.now()).as("%s", root).isBefore(deadline);
      pass(context);
      Thread.sleep(700);
    }
  }

  /** Makes one pass of reconcile. */
  static void pass(Context context) {
    try {
      new ReconcileRuns(context).reconcile();
      new AdvancePipelines(context).advance(new ArrayList<>());
    } catch (SchedulerUnavailable outage) {
      System.err.println(outage.getMessage());
    }
  }

  private void write(String name, String text) throws IOException {
    Path file = root.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
    DurableFiles.onDisk().force(root);
  }
}
