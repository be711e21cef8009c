package dev.nexa.slurm.run.serving;

import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.TaskLog;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.reconcile.RunOutcome;
import dev.nexa.slurm.run.server.Probe;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.status.AwaitRun;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.StatusRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Implements the wait of {@code serve}: waits until a submitted server takes requests, ends, or
 * takes too long.
 */
public final class AwaitServer {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final int LOG_LINES = 20;
  private static final int LOG_BYTES = 1 << 20;

  private final Context context;
  private final Probe probe = new Probe(Duration.ofSeconds(5));

  public AwaitServer(Context context) {
    this.context = context;
  }

  /**
   * The end of the wait.
   *
   * @param server the server's registration if it is ready; else empty
   * @param ended whether the run has ended; if it has neither ended nor become ready, it took too
   *     long
   * @param last the server's last answer, or the run's state
   */
  public record Outcome(Optional<Registration> server, boolean ended, String last) {}

  /**
   * Asks the server until it is ready. The pause grows from 0.5 to 5 seconds.
   *
   * @param within the most time that the server may take after its start; the time in the queue is
   *     free and does not count
   * @param progress receives a line when the answer changes
   */
  public Outcome await(RunFolder run, Duration within, Consumer<String> progress) {
    ReconcileRuns reconcile = new ReconcileRuns(context);
    Path shared = sharedFolder(run);
    Duration pause = FIRST;
    String last = "";
    @Nullable Instant began = null;
    while (true) {
      AwaitRun.pass(reconcile, run, progress);
      ManifestFile manifest = ManifestFile.read(run);
      String state = manifest.state();
      if (manifest.status().ended()) {
        return new Outcome(Optional.empty(), true, state);
      }
      boolean waits = RunOutcome.waits(state);
      Optional<Registration> server = waits ? Optional.empty() : Registration.of(shared, run);
      String now = waits ? "queued: " + reason(run) : state.equals("running") ? "starting" : state;
      if (server.isPresent()) {
        String answer = probe.ask(server.get());
        if (answer.equals(Probe.READY)) {
          return new Outcome(server, false, answer);
        }
        now = "on " + server.get().node() + ": " + answer;
      }
      if (!now.equals(last)) {
        progress.accept(run.id() + ": " + now);
        last = now;
        pause = FIRST;
      }
      boolean starts = server.isPresent() || state.equals("running");
      began = !starts ? null : began == null ? Instant.now() : began;
      if (began != null && Instant.now().isAfter(began.plus(within))) {
        return new Outcome(Optional.empty(), false, last);
      }
      pause = AwaitRun.sleep(pause, LONGEST);
    }
  }

  /** Returns the run's server if it takes requests now. */
  public Optional<Registration> ready(RunFolder run) {
    return Registration.of(sharedFolder(run), run)
        .filter(server -> probe.ask(server).equals(Probe.READY));
  }

  /** Returns NEXA_SHARED from the run's plan. */
  public static Path sharedFolder(RunFolder run) {
    return Path.of(run.shownPlan().storage().shared());
  }

  /** Returns the reason that {@code status} shows for a pending run. */
  private String reason(RunFolder run) {
    return new StatusRows(context)
        .rows(List.of(run.id()), new ArrayList<>()).stream()
            .map(RunRow::note)
            .filter(note -> !note.isEmpty())
            .findFirst()
            .orElse("waits to start");
  }

  /** Returns the last 20 lines of the server's log; empty if there is no log. */
  public static List<String> lastLines(RunFolder run) {
    Optional<Path> log = LogFiles.of(run).newest(0);
    if (log.isEmpty()) {
      return List.of();
    }
    try (FileChannel channel = FileChannel.open(log.get())) {
      long from = TaskLog.startOfLast(log.get(), LOG_LINES);
      ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(LOG_BYTES, channel.size() - from));
      channel.read(bytes, from);
      return new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8)
          .lines()
          .toList();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + log.get(), failed);
    }
  }
}
