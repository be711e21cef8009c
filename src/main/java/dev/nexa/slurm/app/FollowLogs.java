package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.journal.Submission;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

  /** Copies the task's log to the stream; follows it where asked. */
  public void copy(RunFolder run, int task, boolean follow, OutputStream out) {
    Optional<Path> log = log(run, task);
    while (log.isEmpty() && follow && !ended(run)) {
      pause();
      log = log(run, task);
    }
    Path file = log.orElseThrow(() -> nothing(run, task, follow));
    try {
      copy(file, run, follow, out);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + file, failed);
    }
  }

  private static NexaException nothing(RunFolder run, int task, boolean followed) {
    String message = "task " + task + " of " + run.id() + " has printed nothing";
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

  private void copy(Path file, RunFolder run, boolean follow, OutputStream out) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      boolean last = !follow;
      while (true) {
        Channels.newInputStream(channel).transferTo(out);
        out.flush();
        if (last) {
          return;
        }
        // One more look after the end: the last lines may have come in between.
        last = ended(run);
        pause();
      }
    }
  }

  private static Optional<Path> log(RunFolder run, int task) {
    Optional<Path> newest = Optional.empty();
    for (Submission submission : RunState.of(run.journal().read()).submissions()) {
      Optional<Path> log =
          submission
              .jobId()
              .map(id -> run.logs().resolve(id + "_" + task + ".out"))
              .filter(Files::exists);
      newest = log.isPresent() ? log : newest;
    }
    return newest;
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

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while following", interrupted);
    }
  }
}
