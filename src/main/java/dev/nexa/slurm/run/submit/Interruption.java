package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Event;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import java.io.UncheckedIOException;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Lets a signal that ends this process find the run that the process submits, and stop the run.
 *
 * <p>After a signal the JVM runs its shutdown hooks, while the thread that submits goes on. That
 * thread writes the run's journal through this object, so that the two threads never write at once.
 * After the interrupt, the thread records the answer of a running sbatch, but calls sbatch no more.
 */
public final class Interruption {
  private @Nullable RunFolder run;
  private @Nullable FileLock lock;
  private boolean stoppable;
  private boolean submitted;
  private boolean interrupted;

  /**
   * The run that a signal has found.
   *
   * @param state the state of the run, derived from its journal
   * @param submitted whether all jobs of the run were submitted before the signal
   * @param stopped whether the journal says that the run is to end
   */
  public record Found(RunFolder run, RunState state, boolean submitted, boolean stopped) {}

  /**
   * Begins to submit a run. The caller holds the run's lock until {@link #end}.
   *
   * @param stops whether an interrupt ends the run; it does not end one stage of a pipeline, whose
   *     other stages go on
   */
  public synchronized void begin(RunFolder begun, FileLock held, boolean stops) {
    requireNone();
    run = begun;
    lock = held;
    stoppable = stops;
    submitted = false;
  }

  /** Records that sbatch has answered for all jobs of the run. Never returns after an interrupt. */
  public synchronized void end() {
    requireNone();
    lock = null;
    submitted = true;
  }

  /** Forgets the run: its result was printed, or an error. Never returns after an interrupt. */
  public synchronized void forget() {
    requireNone();
    run = null;
    lock = null;
  }

  /** Writes to the run's journal, also after an interrupt. */
  synchronized void write(Runnable change) {
    change.run();
  }

  /** Writes to the run's journal before sbatch is called. Never returns after an interrupt. */
  public synchronized void writeBefore(Runnable change) {
    requireNone();
    change.run();
  }

  /** Returns the answer of sbatch. Does not call sbatch, and never returns, after an interrupt. */
  <T> T unlessInterrupted(Supplier<T> sbatch) {
    synchronized (this) {
      requireNone();
    }
    return sbatch.get();
  }

  /** Waits for the end of the JVM if a signal has come. */
  private synchronized void requireNone() {
    while (interrupted) {
      try {
        wait();
      } catch (InterruptedException ignored) {
        // Nothing but the end of the JVM ends this wait: a second sbatch would make a second job.
      }
    }
  }

  /**
   * Stops the thread that submits at its next step, and writes to the journal that the run is to
   * end, as {@code cancel} does. The next pass of reconcile then cancels a job, and makes none.
   *
   * <p>Writes nothing if the journal does not exist yet, if all jobs were submitted, or if another
   * process has taken the run's lock over.
   *
   * @return the run that this process submits; empty if it submits none, or if its journal has no
   *     event yet
   */
  public synchronized Optional<Found> interrupt() {
    interrupted = true;
    if (run == null) {
      return Optional.empty();
    }
    RunFolder found = run;
    RunState state = RunState.of(found.journal().read());
    if (state.created().isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(new Found(found, state, submitted, stopped(found, state)));
  }

  /** Writes that the run is to end; returns false if that must not or cannot be written. */
  private boolean stopped(RunFolder found, RunState state) {
    try {
      if (!stoppable || lock == null || !lock.holds()) {
        return false;
      }
      if (!state.cancelRequested()) {
        found.journal().append(Event.now(Event.Type.CANCEL_REQUESTED, new JsonObject()));
      }
      return true;
    } catch (UncheckedIOException failed) {
      // The user must learn of the run in any case. The next pass then looks for its job.
      return false;
    }
  }
}
