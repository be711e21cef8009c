package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/**
 * Asks one scheduler about many runs: the queue once, accounting in parts that fit into memory.
 *
 * <p>It asks for the next part while the caller processes the current one. There is never more than
 * one query at a time.
 */
public final class SchedulerPoll {
  /**
   * The most tasks in one call of sacct, some 15 MB of rows. With twice as many, MariaDB was
   * observed to read the whole table for each call (docs/performance.md).
   */
  private static final int MOST_TASKS = 50_000;

  /** Smaller calls do not pay: sacct takes about 90 ms before its first row. */
  private static final int FEWEST_TASKS = 10_000;

  private SchedulerPoll() {}

  /**
   * Passes the evidence on, part by part, in the order of the runs.
   *
   * @throws dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable if the scheduler cannot be asked;
   *     parts that were passed on before remain valid
   */
  public static void forEachPart(
      Scheduler scheduler,
      Map<RunId, RunState> runs,
      BiConsumer<TaskEvidence, Map<RunId, RunState>> part) {
    List<Map<RunId, RunState>> parts = parts(runs);
    if (parts.size() == 1) {
      part.accept(TaskEvidence.gather(scheduler, runs.values()), runs);
      return;
    }
    QueueSnapshot queue = QueueSnapshot.of(scheduler);
    Question<TaskEvidence> asking = ask(scheduler, queue, parts.get(0));
    for (int i = 0; i < parts.size(); i++) {
      TaskEvidence evidence = asking.get();
      if (i + 1 < parts.size()) {
        asking = ask(scheduler, queue, parts.get(i + 1));
      }
      part.accept(evidence, parts.get(i));
    }
  }

  /**
   * Splits the runs into large parts first and small parts last, because the last part is processed
   * while no query runs.
   */
  private static List<Map<RunId, RunState>> parts(Map<RunId, RunState> runs) {
    long left = runs.values().stream().mapToLong(SchedulerPoll::tasks).sum();
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
    return state.submissions().stream().mapToLong(sent -> sent.tasks().indices().size()).sum();
  }

  private static Question<TaskEvidence> ask(
      Scheduler scheduler, QueueSnapshot queue, Map<RunId, RunState> part) {
    return Question.ask("accounting", () -> TaskEvidence.gather(scheduler, queue, part.values()));
  }

  /** A question to a scheduler that a thread of its own asks. */
  record Question<T>(FutureTask<T> task) implements Supplier<T> {
    /** Begins to ask. The name is for the thread. */
    static <T> Question<T> ask(String name, Callable<T> question) {
      FutureTask<T> task = new FutureTask<>(question);
      Thread thread = new Thread(task, name);
      thread.setDaemon(true);
      thread.start();
      return new Question<>(task);
    }

    /** Waits for the answer, and throws what the scheduler throws. */
    @Override
    public T get() {
      try {
        return task.get();
      } catch (ExecutionException failed) {
        if (failed.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new IllegalStateException(failed);
      } catch (InterruptedException stopped) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException("interrupted while a scheduler was asked", stopped);
      }
    }
  }
}
