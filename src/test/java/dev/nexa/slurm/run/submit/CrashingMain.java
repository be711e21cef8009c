package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.pipeline.plan.PipelinePlan;
import dev.nexa.slurm.pipeline.run.AdvancePipelines;
import dev.nexa.slurm.pipeline.run.ChosenStages;
import dev.nexa.slurm.pipeline.run.SubmitPipeline;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.SubmitRun;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A process of ours that stops at one crash point, so that somebody can kill it exactly there.
 *
 * <p>{@code WORKSPACE COMMAND POINT NTH MARKER}: at the n-th passing of the point the marker file
 * is made, and nothing happens any more. The command is {@code submit} or {@code pipeline}; or
 * {@code heal}, which reconciles until no run is open; or {@code serve}, which reconciles once for
 * each line it reads and answers with a line. The point {@code -} is never passed.
 */
final class CrashingMain {
  private static final long PAUSE_MILLIS = 400;

  private CrashingMain() {}

  public static void main(String[] args) throws IOException {
    Path root = Path.of(args[0]);
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[3]));
    Consumer<CrashPoint> passing =
        point -> {
          if (point.name().equals(args[2]) && left.decrementAndGet() == 0) {
            stop(Path.of(args[4]));
          }
        };
    Context context = new Context(root, System.getenv(), passing);
    try {
      run(context, args[1]);
    } catch (NexaException failed) {
      System.err.println(failed.getMessage());
      System.exit(failed.exitCode().status());
    }
  }

  private static void run(Context context, String command) throws IOException {
    ReconcileRuns reconcile = new ReconcileRuns(context);
    switch (command) {
      case "submit" -> {
        String config = context.root().resolve("work.yaml").toString();
        new SubmitRun(context)
            .submit(
                new Prepared.Request(config, List.of(), Optional.of("default")),
                Optional.empty(),
                Optional.empty());
      }
      case "pipeline" -> {
        String file = context.root().resolve("pipeline.yaml").toString();
        PipelinePlan plan =
            PipelinePlan.of(
                context, new PipelinePlan.Request(file, List.of(), Optional.of("default")));
        ChosenStages stages =
            ChosenStages.of(
                context, plan, () -> new Renderer(context.source()), false, Optional.empty());
        new SubmitPipeline(context).submit(stages, Optional.empty(), id -> {});
      }
      case "heal" -> {
        while (!context.workspace().openRuns().isEmpty()) {
          reconcile.reconcile();
          new AdvancePipelines(context).advance(new ArrayList<>());
          sleep(PAUSE_MILLIS);
        }
      }
      case "serve" -> {
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        while (in.readLine() != null) {
          // A problem may hold the lines of a client; the answer is one line.
          System.out.println(reconcile.reconcile().problems().toString().replace('\n', ' '));
        }
      }
      default -> throw new IllegalArgumentException(command);
    }
  }

  private static void stop(Path marker) {
    try {
      Files.createFile(marker);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    sleep(Long.MAX_VALUE);
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }
}
