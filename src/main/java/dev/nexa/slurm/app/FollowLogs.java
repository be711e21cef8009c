package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
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

/**
 * {@code logs}: what one task printed, and with -f what it goes on to print until the run has
 * ended.
 */
public final class FollowLogs {
  private static final long PAUSE_MILLIS = 500;

  private static final long ASK_NANOS = Duration.ofSeconds(5).toNanos();

  private final Nexa nexa;
  private long lastAsked = System.nanoTime() - ASK_NANOS;

  public FollowLogs(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * Copies the task's log to the stream; follows it where asked.
   *
   * @param tail how many of its last lines to begin with; empty for all
   */
  public void copy(RunFolder run, int task, OptionalInt tail, boolean follow, OutputStream out) {
    Optional<Path> log = LogFiles.of(run).newest(task);
    while (log.isEmpty() && follow && !ended(run)) {
      pause(PAUSE_MILLIS);
      log = LogFiles.of(run).newest(task);
    }
    Path file = log.orElseThrow(() -> nothing(run, "task " + task, follow));
    try {
      long start = tail.isEmpty() ? 0 : TaskLog.startOfLast(file, tail.getAsInt());
      copy(file, start, run, follow, out);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + file, failed);
    }
  }

  static NexaException nothing(RunFolder run, String subject, boolean followed) {
    String message =
        subject
            + " of "
            + run.id()
            + (subject.equals("no task") ? " has printed anything" : " has printed nothing");
    return followed || RunState.of(run.journal().read()).finished()
        ? new NexaException(
            ExitCode.USAGE,
            message,
            "`nexa-slurm runs show " + run.id() + "` says what became of it")
        : new NexaException(
            ExitCode.USAGE,
            message + " yet",
            "`nexa-slurm status " + run.id() + "` says why; add -f to wait for it");
  }

  private void copy(Path file, long start, RunFolder run, boolean follow, OutputStream out)
      throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      channel.position(start);
      boolean last = !follow;
      while (true) {
        Channels.newInputStream(channel).transferTo(out);
        out.flush();
        if (last) {
          return;
        }
        // One more look after the end: the last lines may have come in between.
        last = ended(run);
        pause(PAUSE_MILLIS);
      }
    }
  }

  /** Whether the scheduler is done with the run; asked no more often than a person would. */
  private boolean ended(RunFolder run) {
    long now = System.nanoTime();
    if (now - lastAsked < ASK_NANOS) {
      return false;
    }
    lastAsked = now;
    return new ShowStatus(nexa)
        .rows(List.of(run.id()), new ArrayList<>()).stream()
            .allMatch(row -> !row.status().equals("running"));
  }

  static void pause(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while following", interrupted);
    }
  }
}
