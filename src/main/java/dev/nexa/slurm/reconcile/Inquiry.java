package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import dev.nexa.slurm.scheduler.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;

/**
 * Asks one scheduler about any number of runs: the queue once, accounting in parts that fit into
 * memory, the next part while one is worked on. Never two questions at a time.
 */
public final class Inquiry {
  /**
   * Tasks of which one sacct call tells: some 15 MB of rows. With twice as many MariaDB was seen to
   * read the whole table for each call (docs/performance.md).
   */
  private static final int MOST_TASKS = 50_000;

  /** Smaller calls cost more than they give: each takes sacct some 90 ms before its first row. */
  private static final int FEWEST_TASKS = 10_000;

  private Inquiry() {}

  /**
   * Hands on what is known, part by part, in the order of the runs.
   *
   * @throws dev.nexa.slurm.scheduler.SchedulerUnavailable if it can't be asked; parts that were
   *     handed on before stay true
   */
  public static void forEachPart(
      Scheduler scheduler,
      Map<RunId, RunState> runs,
      BiConsumer<Evidence, Map<RunId, RunState>> part) {
    List<Map<RunId, RunState>> parts = parts(runs);
    if (parts.size() == 1) {
      part.accept(Evidence.gather(scheduler, runs.values()), runs);
      return;
    }
    QueueSnapshot queue = QueueSnapshot.of(scheduler);
    FutureTask<Evidence> asking = ask(scheduler, queue, parts.get(0));
    for (int i = 0; i < parts.size(); i++) {
      Evidence evidence = answer(asking);
      if (i + 1 < parts.size()) {
        asking = ask(scheduler, queue, parts.get(i + 1));
      }
      part.accept(evidence, parts.get(i));
    }
  }

  /**
   * Large parts first and small ones at the end: what is left to do once accounting has given its
   * last answer is the last part's work.
   */
  private static List<Map<RunId, RunState>> parts(Map<RunId, RunState> runs) {
    long left = 0;
    for (RunState state : runs.values()) {
      left += tasks(state);
    }
    List<Map<RunId, RunState>> parts = new ArrayList<>();
    Map<RunId, RunState> part = new LinkedHashMap<>();
    long held = 0;
    for (Map.Entry<RunId, RunState> run : runs.entrySet()) {
      long tasks = tasks(run.getValue());
      long most = Math.max(FEWEST_TASKS, Math.min(MOST_TASKS, left / 3));
      if (!part.isEmpty() && held + tasks > most) {
        parts.add(part);
        part = new LinkedHashMap<>();
        left -= held;
        held = 0;
      }
      part.put(run.getKey(), run.getValue());
      held += tasks;
    }
    parts.add(part);
    return parts;
  }

  private static long tasks(RunState state) {
    long tasks = 0;
    for (Submission submission : state.submissions()) {
      tasks += submission.tasks().indices().size();
    }
    return tasks;
  }

  private static FutureTask<Evidence> ask(
      Scheduler scheduler, QueueSnapshot queue, Map<RunId, RunState> part) {
    FutureTask<Evidence> asking =
        new FutureTask<>(() -> Evidence.gather(scheduler, queue, part.values()));
    Thread thread = new Thread(asking, "accounting");
    thread.setDaemon(true);
    thread.start();
    return asking;
  }

  private static Evidence answer(FutureTask<Evidence> asking) {
    try {
      return asking.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(failed);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while accounting was asked", stopped);
    }
  }
}
