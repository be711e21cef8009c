package dev.nexa.slurm.app;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.report.RunRow;
import dev.nexa.slurm.serve.Probe;
import dev.nexa.slurm.serve.Registration;
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

/** {@code serve}: waits until a submitted server takes requests, or can't. */
public final class AwaitServer {
  private static final Duration FIRST = Duration.ofMillis(500);
  private static final Duration LONGEST = Duration.ofSeconds(5);
  private static final int LOG_LINES = 20;
  private static final int LOG_BYTES = 1 << 20;

  private final Nexa nexa;
  private final Probe probe = new Probe(Duration.ofSeconds(5));

  public AwaitServer(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * How the waiting ended.
   *
   * @param server where it is, once it is ready
   * @param ended whether the run has ended instead; if it has not, and is not ready, it took too
   *     long
   * @param last what it said last
   */
  public record Outcome(Optional<Registration> server, boolean ended, String last) {}

  /**
   * Asks until it is ready, more slowly the longer it takes.
   *
   * @param within how long it may take from when it starts; to wait in the queue costs nothing
   * @param progress told whenever the answer changes
   */
  public Outcome await(RunFolder run, Duration within, Consumer<String> progress) {
    ReconcileRuns reconcile = new ReconcileRuns(nexa);
    Path shared = sharedFolder(run);
    Duration pause = FIRST;
    String last = "";
    @Nullable Instant began = null;
    while (true) {
      AwaitRun.pass(reconcile, run, progress);
      JsonObject manifest = Json.parseObject(DurableFiles.read(run.manifest()));
      String state = manifest.text("state");
      if (!manifest.text("status").equals("running")) {
        return new Outcome(Optional.empty(), true, state);
      }
      boolean waits = state.equals("pending");
      Optional<Registration> server = waits ? Optional.empty() : Registration.of(shared, run.id());
      String now = waits ? "pending: " + reason(run) : state.equals("running") ? "starting" : state;
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
      AwaitRun.sleep(pause);
      Duration longer = pause.multipliedBy(3).dividedBy(2);
      pause = longer.compareTo(LONGEST) > 0 ? LONGEST : longer;
    }
  }

  /** NEXA_SHARED as the run was planned with it. */
  static Path sharedFolder(RunFolder run) {
    return Path.of(run.planJson().object("storage").text("shared"));
  }

  /** The sentence that status shows. */
  private String reason(RunFolder run) {
    for (RunRow row : new ShowStatus(nexa).rows(List.of(run.id()), new ArrayList<>())) {
      if (!row.note().isEmpty()) {
        return row.note();
      }
    }
    return "waits to start";
  }

  /** The last lines that the server printed; none where it printed nothing. */
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
