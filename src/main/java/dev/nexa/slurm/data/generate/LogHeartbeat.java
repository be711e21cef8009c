package dev.nexa.slurm.data.generate;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Forces the log to disk once a second and reports the progress once a minute, while requests are
 * sent. If the process is asked to end, it stops the requests and waits a while for the answers
 * that are under way.
 */
final class LogHeartbeat implements AutoCloseable {
  private static final long FORCED_MILLIS = 500;
  private static final int TOLD_EACH = 120;

  /** Slurm kills a job 30 seconds after it asked the job to end. */
  private static final Duration GRACE = Duration.ofSeconds(15);

  private final AnswerLog log;
  private final Stop stop;
  private final Consumer<Boolean> tell;
  private final Thread beats = new Thread(this::beat, "heartbeat");
  private final Thread hook = new Thread(this::end, "end");

  /** No interrupt ends the beats: it would close the log's file. */
  private final CountDownLatch over = new CountDownLatch(1);

  /**
   * Makes a heartbeat.
   *
   * @param tell receives whether requests are under way
   */
  LogHeartbeat(AnswerLog log, Stop stop, Consumer<Boolean> tell) {
    this.log = log;
    this.stop = stop;
    this.tell = tell;
    beats.setDaemon(true);
  }

  void start() {
    Runtime.getRuntime().addShutdownHook(hook);
    beats.start();
  }

  private void beat() {
    try {
      for (int beat = 1; !over.await(FORCED_MILLIS, TimeUnit.MILLISECONDS); beat++) {
        log.force();
        if (beat % TOLD_EACH == 0) {
          tell.accept(true);
        }
      }
    } catch (InterruptedException ours) {
      stop.now();
    } catch (RuntimeException full) {
      stop.because(full);
    }
  }

  /** Runs when the process is asked to end. */
  private void end() {
    stop.now();
    try {
      boolean settled = over.await(GRACE.toMillis(), TimeUnit.MILLISECONDS);
      if (!settled) {
        log.force();
      }
      tell.accept(!settled);
    } catch (InterruptedException | RuntimeException hurried) {
      // The process ends now; the next attempt reads the lines in the log.
    }
  }

  @Override
  public void close() {
    over.countDown();
    try {
      beats.join();
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    } catch (IllegalStateException ending) {
      // The process ends already.
    }
  }
}
