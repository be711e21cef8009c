package dev.nexa.slurm.command.jobs.watch;

import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.util.Optional;

/** Does for the view what other commands do. Each method may take seconds. */
public interface WatchSource {
  /**
   * Returns the runs at this moment.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if they cannot be read, or if a scheduler
   *     cannot be asked
   */
  LiveSnapshot snapshot();

  /** Returns the end of the run's newest log; empty if no task has printed anything. */
  Optional<LogTail> log(RunId run, int lines) throws IOException;

  /** Returns what {@code why} prints about the run. */
  String why(RunId run);

  /** Cancels the run, and returns a sentence that says what was done. */
  String cancel(RunId run);
}
