package dev.nexa.slurm.run.submit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A real process of ours, {@link CrashingMain}, that is killed at a crash point. */
public final class Victim implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int KILLED = 137;

  private final Process process;
  private final Path marker;

  private Victim(Process process, Path marker) {
    this.process = process;
    this.marker = marker;
  }

  /** Starts it; it stops by itself at the n-th passing of the point. */
  public static Victim start(Path root, String command, CrashPoint point, int nth)
      throws IOException {
    Path marker = root.resolve("stopped-" + System.nanoTime());
    List<String> argv = new ArrayList<>(java());
    argv.addAll(List.of(root.toString(), command, point.name(), "" + nth, marker.toString()));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.redirectErrorStream(true).redirectOutput(root.resolve("said").toFile());
    return new Victim(builder.start(), marker);
  }

  /** Kills it after a time. It may have ended by itself before, or a moment before the kill. */
  public void killAfter(long millis) throws InterruptedException {
    if (!process.waitFor(millis, TimeUnit.MILLISECONDS)) {
      process.destroyForcibly();
      assertThat(process.waitFor()).isIn(KILLED, 0);
    }
  }

  /** Starts one that reconciles for each line it is sent. */
  static Process serve(Path root, Map<String, String> environment) throws IOException {
    List<String> argv = new ArrayList<>(java());
    argv.addAll(List.of(root.toString(), "serve", "-", "0", "-"));
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().putAll(environment);
    return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  static List<String> java() {
    return OwnJvm.words(CrashingMain.class);
  }

  /** Waits until it has stopped at its point; false if it ended without passing there. */
  public boolean stopped() throws InterruptedException {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!Files.exists(marker)) {
      if (!process.isAlive()) {
        return Files.exists(marker);
      }
      assertThat(Instant.now()).as("stopped or ended in time").isBefore(deadline);
      Thread.sleep(20);
    }
    return true;
  }

  /** Whatever a test ran into, nothing of it stays. */
  @Override
  public void close() {
    process.destroyForcibly();
  }

  /** kill -9, and nothing else. */
  public void kill() throws InterruptedException {
    process.destroyForcibly();
    assertThat(process.waitFor()).isEqualTo(KILLED);
  }
}
