package dev.nexa.slurm.command.jobs.watch;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.insight.live.LiveRun;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.Display;
import org.jline.utils.InfoCmp.Capability;
import org.jline.utils.ShutdownHooks;

/**
 * Runs the view on a terminal until the user ends it.
 *
 * <p>This thread reads keys and draws. One thread takes the snapshots and one does everything else
 * that takes time, so that keys work while Slurm is slow.
 */
public final class WatchTerminal {
  private static final long TICK_MILLIS = 250;
  private static final int LINES_OF_LOG = 2000;
  private static final int LINES_IN_LIST = 5;

  private final WatchSource source;
  private final Duration interval;
  private final boolean colours;
  private final WatchScreen screen = new WatchScreen();
  private final BlockingQueue<Consumer<WatchScreen>> news = new LinkedBlockingQueue<>();
  private final BlockingQueue<Boolean> wake = new ArrayBlockingQueue<>(1);
  private final AtomicBoolean readsLog = new AtomicBoolean();
  private final AtomicBoolean restored = new AtomicBoolean();
  private final Semaphore drawing = new Semaphore(1);

  /** The action of a signal; none before there is a terminal. */
  private volatile Runnable atExit = () -> {};

  private final ExecutorService worker =
      Executors.newSingleThreadExecutor(task -> daemon(task, "watch worker"));
  private long logRead;
  private String logOf = "";

  /**
   * Makes a view.
   *
   * @param interval how often the runs are read
   */
  public WatchTerminal(WatchSource source, Duration interval, boolean colours) {
    this.source = source;
    this.interval = interval;
    this.colours = colours;
  }

  /**
   * Shows the view.
   *
   * @return the exit status: 0, or 130 after Ctrl-C
   */
  public int show() throws IOException {
    // stty(1) does what is needed, so no native code is loaded.
    // Before the terminal's own task, which closes it: JLine runs them in the order of adding.
    ShutdownHooks.add(() -> atExit.run());
    try (Terminal terminal =
        TerminalBuilder.builder().system(true).provider("exec").dumb(false).build()) {
      Attributes before = terminal.getAttributes();
      atExit = () -> restore(terminal, before);
      try {
        enter(terminal);
        daemon(this::takeSnapshots, "watch snapshots").start();
        return loop(terminal);
      } catch (IOException | RuntimeException failed) {
        if (restored.get()) {
          return ExitCode.INTERRUPTED.status(); // A signal has closed the terminal.
        }
        throw failed;
      } finally {
        restore(terminal, before);
        worker.shutdownNow();
      }
    }
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  private static void enter(Terminal terminal) {
    terminal.enterRawMode();
    // Ctrl-C and Ctrl-Z arrive as keys, so they cannot stop the view between two of its sequences.
    Attributes raw = terminal.getAttributes();
    raw.setLocalFlags(EnumSet.of(Attributes.LocalFlag.ISIG), false);
    terminal.setAttributes(raw);
    terminal.puts(Capability.enter_ca_mode);
    terminal.puts(Capability.cursor_invisible);
    terminal.puts(Capability.clear_screen);
    terminal.flush();
  }

  /** Restores the terminal once, at the end, after a signal, or after a failure. */
  private void restore(Terminal terminal, Attributes before) {
    if (restored.compareAndSet(false, true)) {
      // The rest of a picture would follow on the user's screen. It is never drawn again.
      try {
        drawing.tryAcquire(1, TimeUnit.SECONDS);
      } catch (InterruptedException ended) {
        Thread.currentThread().interrupt();
      }
      terminal.puts(Capability.exit_attribute_mode);
      terminal.puts(Capability.cursor_normal);
      terminal.puts(Capability.exit_ca_mode);
      terminal.flush();
      terminal.setAttributes(before);
    }
  }

  private int loop(Terminal terminal) throws IOException {
    AtomicBoolean resized = new AtomicBoolean(true);
    terminal.handle(Terminal.Signal.WINCH, signal -> resized.set(true));
    Display display = new Display(terminal, true);
    WatchKeys keys = new WatchKeys(terminal.reader());
    Size size = new Size(80, 24);
    while (true) {
      if (resized.getAndSet(false)) {
        size = sizeOf(terminal);
        display.resize(size.getRows(), size.getColumns());
        display.clear();
        terminal.puts(Capability.clear_screen);
      }
      for (Consumer<WatchScreen> one = news.poll(); one != null; one = news.poll()) {
        one.accept(screen);
      }
      readLog();
      WatchPicture picture = new WatchPicture(size.getColumns(), size.getRows(), colours);
      drawing.acquireUninterruptibly();
      display.update(picture.of(screen, Instant.now(), interval), -1);
      drawing.release();
      String key = keys.next(TICK_MILLIS);
      WatchScreen.Request request = screen.press(key);
      if (request == WatchScreen.Request.QUIT) {
        return key.equals("ctrl-c") ? ExitCode.INTERRUPTED.status() : ExitCode.OK.status();
      }
      answer(request);
    }
  }

  private static Size sizeOf(Terminal terminal) {
    Size size = terminal.getSize();
    return size.getColumns() > 0 && size.getRows() > 0 ? size : new Size(80, 24);
  }

  private void takeSnapshots() {
    while (true) {
      try {
        Instant begun = Instant.now();
        news.add(to -> to.asking(begun));
        var snapshot = source.snapshot();
        news.add(to -> to.show(snapshot));
      } catch (NexaException outage) {
        Instant now = Instant.now();
        news.add(to -> to.outage(String.valueOf(outage.getMessage()), now));
      } catch (RuntimeException defect) {
        news.add(to -> fail(defect));
        return;
      }
      try {
        wake.poll(interval.toMillis(), TimeUnit.MILLISECONDS);
      } catch (InterruptedException ended) {
        return;
      }
    }
  }

  /** Throws a defect of another thread in the thread that draws, so that the view ends with it. */
  private static void fail(RuntimeException defect) {
    throw defect;
  }

  private void answer(WatchScreen.Request request) {
    Optional<RunId> run = screen.selected().flatMap(WatchItem::run).map(LiveRun::id);
    switch (request) {
      case REFRESH -> wake.offer(true);
      case LOG -> logOf = "";
      case WHY -> run.ifPresent(this::why);
      case CANCEL -> run.ifPresent(this::cancel);
      // Nothing is asked for.
      default -> {}
    }
  }

  private void why(RunId run) {
    work(
        () -> {
          String text = source.why(run);
          news.add(to -> to.why(run.value(), text.lines().toList()));
        });
  }

  private void cancel(RunId run) {
    work(
        () -> {
          String done = source.cancel(run);
          news.add(to -> to.message(done));
          wake.offer(true);
        });
  }

  private void work(Runnable task) {
    worker.execute(
        () -> {
          try {
            task.run();
          } catch (NexaException failed) {
            news.add(
                to -> {
                  to.why(to.page().title(), List.of(String.valueOf(failed.getMessage())));
                  to.message(String.valueOf(failed.getMessage()));
                });
          } catch (RuntimeException defect) {
            news.add(to -> fail(defect));
          }
        });
  }

  /** Reads the selected run's log each second, and at once after another run was selected. */
  private void readLog() {
    Optional<RunId> run = screen.selected().flatMap(WatchItem::run).map(LiveRun::id);
    long now = System.nanoTime();
    boolean due = now - logRead > TimeUnit.SECONDS.toNanos(1);
    if (run.isEmpty()
        || (run.get().value().equals(logOf) && !due)
        || !readsLog.compareAndSet(false, true)) {
      return;
    }
    logRead = now;
    logOf = run.get().value();
    int lines = screen.mode() == WatchScreen.Mode.LOG ? LINES_OF_LOG : LINES_IN_LIST;
    worker.execute(
        () -> {
          try {
            var tail = source.log(run.get(), lines);
            news.add(to -> to.log(run.get().value(), tail));
          } catch (IOException | NexaException unreadable) {
            news.add(to -> to.log(run.get().value(), Optional.empty()));
          } catch (RuntimeException defect) {
            news.add(to -> fail(defect));
          } finally {
            readsLog.set(false);
          }
        });
  }

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
}
