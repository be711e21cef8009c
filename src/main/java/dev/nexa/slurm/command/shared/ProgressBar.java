package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.progress.Headway;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.RecentRate;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Shows on standard error how far a command is. On a terminal: one line, drawn again in place,
 * after the first second. Elsewhere: one line a minute, after the first minute.
 *
 * <p>A phase removes the line at its end, so the command can go on to print. A command prints
 * within a phase through {@link #aside}.
 */
public final class ProgressBar implements Progress, AutoCloseable {
  private static final Duration STEP = Duration.ofMillis(500);
  private static final Duration QUIET = Duration.ofSeconds(1);
  private static final Duration MINUTE = Duration.ofMinutes(1);
  private static final Duration WIDTH = Duration.ofSeconds(5);
  private static final String CLEAR_REST = "\u001b[K";

  private final LongSupplier nanos;
  private final Optional<IntSupplier> terminal;
  private final Consumer<String> sink;
  private final CountDownLatch closed = new CountDownLatch(1);
  private @Nullable Part running;
  private @Nullable Thread ticker;
  private long due;
  private boolean shown;
  private int columns;
  private long columnsDue;

  /**
   * Makes a bar that draws when {@link #tick} is called.
   *
   * @param nanos the time, as {@link System#nanoTime} gives it
   * @param terminal asks for the terminal's width; empty if the lines go elsewhere
   * @param sink takes what is written on a terminal, or whole lines
   */
  ProgressBar(LongSupplier nanos, Optional<IntSupplier> terminal, Consumer<String> sink) {
    this.nanos = nanos;
    this.terminal = terminal;
    this.sink = sink;
    columnsDue = nanos.getAsLong();
    due = columnsDue + (terminal.isPresent() ? QUIET : MINUTE).toNanos();
  }

  /** Returns the bar of a command, which draws by itself. The command closes it. */
  public static ProgressBar of(Subcommand command) {
    Map<String, String> environment = command.environment();
    PrintWriter err = command.err();
    boolean canDraw =
        Stdout.isTerminal(2) && !environment.getOrDefault("TERM", "dumb").equals("dumb");
    Optional<IntSupplier> terminal =
        canDraw ? Optional.of(() -> TerminalOutput.width(environment)) : Optional.empty();
    Consumer<String> sink =
        text -> {
          if (canDraw) {
            err.flush();
            // Not through err, which makes control characters visible.
            System.err.print(text);
            System.err.flush();
          } else {
            err.println(text);
            err.flush();
          }
        };
    ProgressBar bar = new ProgressBar(System::nanoTime, terminal, sink);
    bar.ticker = new Thread(bar::tickUntilClosed, "progress");
    bar.ticker.setDaemon(true);
    bar.ticker.start();
    if (canDraw) {
      // After Ctrl-C the shell's prompt begins on an empty line.
      Runtime.getRuntime().addShutdownHook(new Thread(bar::close, "progress end"));
    }
    return bar;
  }

  /**
   * Waits for an end, and shows how far it is.
   *
   * @param goesOn what a signal prints that ends the wait
   * @param wait waits; it gets what prints a line for people, and counts what is done
   * @return what the wait returns
   */
  public static <T> T waiting(
      Subcommand command,
      String goesOn,
      Phase phase,
      BiFunction<Consumer<String>, Running, T> wait) {
    return command.saying(
        () -> goesOn,
        () -> {
          try (ProgressBar bar = of(command);
              Running done = bar.begin(phase)) {
            return wait.apply(line -> bar.aside(() -> command.err().println(line)), done);
          }
        });
  }

  private void tickUntilClosed() {
    try {
      while (!closed.await(STEP.toMillis(), TimeUnit.MILLISECONDS)) {
        tick();
      }
    } catch (InterruptedException ended) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public synchronized Running begin(Phase phase) {
    clear();
    Part part = new Part(phase, nanos.getAsLong());
    running = part;
    if (terminal.isPresent()) {
      // The line of the phase before does not leave a gap.
      tick();
    }
    return part;
  }

  /** Takes the time, and draws if that is due. */
  synchronized void tick() {
    Part part = running;
    if (part == null) {
      return;
    }
    long now = nanos.getAsLong();
    Headway headway = part.at(now);
    if (now - due < 0) {
      return;
    }
    if (terminal.isEmpty()) {
      due = now + MINUTE.toNanos();
      sink.accept(headway.line());
      return;
    }
    if (now - columnsDue >= 0) {
      columns = terminal.get().getAsInt();
      columnsDue = now + WIDTH.toNanos();
    }
    // A terminal that is full to its last column may begin the next line.
    sink.accept("\r" + headway.line(columns - 1) + CLEAR_REST);
    shown = true;
  }

  /** Prints something while a phase runs: the line makes room, and is drawn again later. */
  public synchronized void aside(Runnable print) {
    clear();
    print.run();
  }

  private void clear() {
    if (shown) {
      sink.accept("\r" + CLEAR_REST);
      shown = false;
    }
  }

  @Override
  public void close() {
    synchronized (this) {
      clear();
      running = null;
    }
    closed.countDown();
  }

  /** A phase, and what is done of it. */
  private final class Part implements Running {
    private final Phase phase;
    private final long begun;
    private final AtomicLong items = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final RecentRate itemRate = new RecentRate();
    private final RecentRate byteRate = new RecentRate();

    Part(Phase phase, long begun) {
      this.phase = phase;
      this.begun = begun;
      itemRate.add(begun, 0);
      byteRate.add(begun, 0);
    }

    @Override
    public void done(long moreItems, long moreBytes) {
      items.addAndGet(moreItems);
      bytes.addAndGet(moreBytes);
    }

    Headway at(long now) {
      long itemsDone = items.get();
      long bytesDone = bytes.get();
      itemRate.add(now, itemsDone);
      byteRate.add(now, bytesDone);
      return new Headway(
          phase,
          itemsDone,
          bytesDone,
          itemRate.perSecond(),
          byteRate.perSecond(),
          Duration.ofNanos(now - begun));
    }

    @Override
    public void close() {
      synchronized (ProgressBar.this) {
        if (running == this) {
          clear();
          running = null;
        }
      }
    }
  }
}
