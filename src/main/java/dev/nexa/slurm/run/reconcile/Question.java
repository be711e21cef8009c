package dev.nexa.slurm.run.reconcile;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.Supplier;

/** A question to a scheduler that a thread of its own asks. */
final class Question<T> implements Supplier<T> {
  private final FutureTask<T> task;

  private Question(FutureTask<T> task) {
    this.task = task;
  }

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
