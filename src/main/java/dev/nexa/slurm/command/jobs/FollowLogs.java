package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.TaskLog;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Implements {@code logs} of one task: copies its log and, with {@code -f}, follows it until the
 * run has ended.
 */
public final class FollowLogs {
  static final long PAUSE_MILLIS = 500;
  static final long ASK_NANOS = Duration.ofSeconds(5).toNanos();

  private final Context context;
  private final Consumer<String> progress;
  private String reason = "";
  private long lastAsked = System.nanoTime() - ASK_NANOS;

  /**
   * Makes a follower.
   *
   * @param progress receives a line that says why the run waits, and another one if the reason
   *     changes
   */
  public FollowLogs(Context context, Consumer<String> progress) {
    this.context = context;
    this.progress = progress;
  }

  /**
   * Copies the task's log to the stream.
   *
   * @param rank copies only this rank's output; empty for the task's own log
   * @param tail how many last lines to begin with; empty for all
   * @param follow whether to continue until the run has ended
   * @throws NexaException if the task has no log, or if it is followed and can never start
   */
  public void copy(
      RunFolder run,
      int task,
      OptionalInt rank,
      OptionalInt tail,
      boolean follow,
      OutputStream out) {
    Optional<Path> log = log(run, task, rank);
    while (log.isEmpty() && follow && !ended(run)) {
      Sleep.millis(PAUSE_MILLIS, "following");
      log = log(run, task, rank);
    }
    String subject =
        rank.isEmpty() ? "task " + task : "rank " + rank.getAsInt() + " of task " + task;
    Path file = log.orElseThrow(() -> nothing(context, run, Optional.of(subject)));
    try (FileChannel channel = FileChannel.open(file)) {
      channel.position(tail.isEmpty() ? 0 : TaskLog.startOfLast(file, tail.getAsInt()));
      boolean last = !follow;
      while (true) {
        Channels.newInputStream(channel).transferTo(out);
        out.flush();
        if (last) {
          return;
        }
        // Needs one more look after the end, because the last lines may have been written in
        // between.
        last = ended(run);
        Sleep.millis(PAUSE_MILLIS, "following");
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + file, failed);
    }
  }

  private static Optional<Path> log(RunFolder run, int task, OptionalInt rank) {
    LogFiles files = LogFiles.of(run);
    return rank.isEmpty() ? files.newest(task) : files.ofRank(task, rank.getAsInt());
  }

  /**
   * Returns the error for a run that has no log.
   *
   * @param subject the task or rank that has none; empty if no task has one
   */
  static NexaException nothing(Context context, RunFolder run, Optional<String> subject) {
    Optional<RunRow> row = Optional.empty();
    try {
      row = new StatusRows(context).rows(List.of(run.id()), new ArrayList<>()).stream().findFirst();
    } catch (SchedulerUnavailable unknown) {
      // The journal alone says whether the run has ended.
    }
    boolean ended =
        RunState.of(run.journal().read()).finished()
            || row.map(one -> one.status().ended()).orElse(false);
    boolean neverRan =
        ended
            && row.isPresent()
            && row.get().tasks().cancelled() == row.get().tasks().all()
            && row.get().elapsed().isZero();
    if (neverRan) {
      return ErrorCode.LOGS_MISSING.error(
          run.id() + " was cancelled before it started: it printed nothing",
          "To run it again: nexa-slurm rerun " + run.id());
    }
    String message =
        subject
            .map(one -> one + " of " + run.id() + " has printed nothing")
            .orElse("no task of " + run.id() + " has printed anything");
    return ErrorCode.LOGS_MISSING.error(
        ended ? message : message + " yet",
        ended
            ? Advice.command("shows its state", "nexa-slurm", "runs", "show", run.id())
            : Advice.command("says why; add -f to wait for it", "nexa-slurm", "status", run.id()));
  }

  /** Returns whether the run has ended. Asks the scheduler every 5 seconds at most. */
  private boolean ended(RunFolder run) {
    long now = System.nanoTime();
    if (now - lastAsked < ASK_NANOS) {
      return false;
    }
    lastAsked = now;
    boolean ended = true;
    try {
      for (RunRow row : new StatusRows(context).rows(List.of(run.id()), new ArrayList<>())) {
        if (row.stuck()) {
          throw RunRow.neverStarts(row.runId(), row.note());
        }
        row.waitsBecause().ifPresent(why -> tell(why, LogText.waits(run.id().value(), why)));
        ended &= row.status().ended();
      }
      return ended;
    } catch (SchedulerUnavailable outage) {
      // The job goes on while slurmctld is away, and its log grows.
      String why = "whether " + run.id() + " goes on is not known: " + outage.getMessage();
      tell(why, why);
      return false;
    }
  }

  private void tell(String why, String line) {
    if (!why.equals(reason)) {
      reason = why;
      progress.accept(line);
    }
  }
}
