package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The current state of an unfinished run, for {@code runs show}: its records are as old as the last
 * pass.
 *
 * @param row the row of {@code status}; empty if the run is finished, or if the scheduler did not
 *     answer quickly
 * @param asOf the sentence that says how old the shown state is; empty for a finished run
 */
public record RunNow(Optional<RunRow> row, String asOf) {
  private static final long MOST_SECONDS = 3;

  /** For a run whose records are final. */
  public static final RunNow FINAL = new RunNow(Optional.empty(), "");

  /** Asks the scheduler for at most three seconds. Writes nothing. */
  static RunNow of(Context context, RunFolder run) {
    if (Files.notExists(run.manifest())
        || !run.hasJournal()
        || RunState.of(run.journal().read()).finished()) {
      return FINAL;
    }
    Optional<RunRow> row = run.isOfAnotherUser() ? Optional.empty() : ask(context, run);
    return new RunNow(
        row,
        row.isPresent()
            ? "now; `nexa-slurm reconcile` writes the records"
            : PlainTime.utc(known(context, run))
                + ", the last pass; `nexa-slurm reconcile` brings it up to date");
  }

  private static Optional<RunRow> ask(Context context, RunFolder run) {
    return rows(context, List.of(run.id())).flatMap(rows -> rows.stream().findFirst());
  }

  /**
   * Returns the rows of {@code status} for unfinished runs; empty if a scheduler did not answer
   * within three seconds. Asks each scheduler once.
   */
  static Optional<List<RunRow>> rows(Context context, List<RunId> runs) {
    FutureTask<List<RunRow>> question =
        new FutureTask<>(() -> new StatusRows(context).rows(runs, new ArrayList<>()));
    Thread asking = new Thread(question, "status");
    asking.setDaemon(true);
    asking.start();
    try {
      return Optional.of(question.get(MOST_SECONDS, TimeUnit.SECONDS));
    } catch (ExecutionException | TimeoutException noAnswer) {
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    }
  }

  /** Returns when a pass last looked at the run, or when its manifest was written. */
  private static Instant known(Context context, RunFolder run) {
    Instant written = DurableFiles.written(run.manifest());
    return Heartbeat.read(context.workspace())
        .flatMap(Heartbeat::lastSuccess)
        .filter(pass -> pass.isAfter(written))
        .orElse(written);
  }
}
