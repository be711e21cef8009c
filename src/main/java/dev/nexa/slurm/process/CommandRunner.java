package dev.nexa.slurm.process;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.commons.exec.CommandLine;
import org.apache.commons.exec.DefaultExecutor;
import org.apache.commons.exec.ExecuteWatchdog;
import org.apache.commons.exec.PumpStreamHandler;
import org.apache.commons.exec.StreamPumper;
import org.apache.commons.exec.Watchdog;
import org.jspecify.annotations.Nullable;

/** Runs programs and waits for them; the one user of Commons Exec. */
public final class CommandRunner {
  private static final int MAX_ERR_BYTES = 64 * 1024;

  /** Runs the command and keeps what it prints. */
  public CommandResult run(Command command) throws IOException {
    return run(command, started -> {});
  }

  /** The same, telling of the process as soon as it runs. */
  public CommandResult run(Command command, Consumer<ProcessIdentity> started) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CommandResult result = stream(command, out, started);
    return new CommandResult(
        result.exit(), out.toString(StandardCharsets.UTF_8), result.err(), result.timedOut());
  }

  /**
   * Runs the command and hands on its standard output while it comes.
   *
   * @throws IOException if the program can't be started (not found, not executable)
   */
  public CommandResult stream(Command command, OutputStream out, Consumer<ProcessIdentity> started)
      throws IOException {
    Bounded err = new Bounded(MAX_ERR_BYTES);
    ExecuteWatchdog watchdog = new TreeWatchdog(command.timeout());
    DefaultExecutor executor = new OurExecutor(command, started);
    executor.setExitValues(null);
    Drained drained = new Drained(out);
    executor.setStreamHandler(new WidePump(drained, err));
    executor.setWatchdog(watchdog);
    int exit = executor.execute(new CommandLine(command.program()), command.environment());
    drained.throwFailure();
    return new CommandResult(
        exit, "", err.toString(StandardCharsets.UTF_8), watchdog.killedProcess());
  }

  /**
   * Takes everything that the program prints, also after who reads it has failed: the program would
   * wait for ever to get rid of the rest, and we for the program.
   */
  private static final class Drained extends OutputStream {
    private final OutputStream reader;
    private volatile @Nullable Throwable failure;

    Drained(OutputStream reader) {
      this.reader = reader;
    }

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    // An OutOfMemoryError too would end the pump's thread in silence.
    @Override
    public void write(byte[] bytes, int offset, int length) {
      if (failure != null) {
        return;
      }
      try {
        reader.write(bytes, offset, length);
      } catch (IOException | RuntimeException | Error failed) {
        failure = failed;
      }
    }

    void throwFailure() throws IOException {
      Throwable failed = failure;
      if (failed instanceof Error error) {
        throw error;
      }
      if (failed != null) {
        throw new IOException("what it printed could not be read: " + failed, failed);
      }
    }
  }

  /** Reads in large pieces: sacct may print hundreds of megabytes, Commons Exec reads 1 KiB. */
  private static final class WidePump extends PumpStreamHandler {
    private static final int PIECE = 1 << 16;

    WidePump(OutputStream out, OutputStream err) {
      super(out, err);
    }

    @Override
    protected Thread createPump(InputStream in, OutputStream out, boolean closeWhenExhausted) {
      Thread pump = new Thread(new StreamPumper(in, out, closeWhenExhausted, PIECE), "pump");
      pump.setDaemon(true);
      return pump;
    }
  }

  /**
   * Commons Exec keeps the process to itself and trims arguments, a delimiter of one control
   * character among them; its launch is the one place to mend both.
   */
  private static final class OurExecutor extends DefaultExecutor {
    private final Command command;
    private final Consumer<ProcessIdentity> started;

    // DefaultExecutor's builder can't make a subclass.
    @SuppressWarnings("deprecation")
    OurExecutor(Command command, Consumer<ProcessIdentity> started) {
      this.command = command;
      this.started = started;
    }

    @Override
    protected Process launch(CommandLine line, Map<String, String> environment, Path directory)
        throws IOException {
      List<String> argv = new ArrayList<>(command.argv());
      argv.set(0, found(command));
      ProcessBuilder builder = new ProcessBuilder(argv);
      builder.environment().clear();
      builder.environment().putAll(command.environment());
      Process process = builder.directory(command.directory().toFile()).start();
      started.accept(ProcessIdentity.of(process.toHandle()));
      return process;
    }

    /** By the PATH that the program is given; Java would look along its own. */
    private static String found(Command command) throws IOException {
      String program = command.program();
      if (program.indexOf('/') >= 0) {
        return program;
      }
      String path = command.environment().getOrDefault("PATH", "");
      for (String folder : path.split(File.pathSeparator, -1)) {
        Path candidate = command.directory().resolve(folder).resolve(program);
        if (Files.isRegularFile(candidate) && Files.isExecutable(candidate)) {
          return candidate.toString();
        }
      }
      throw new FileNotFoundException("there is no " + program + " on the PATH");
    }
  }

  /**
   * Kills the program's children with it: where a site wraps sbatch in a script, the real one would
   * live on, and hold the pipes that we read to their end.
   */
  private static final class TreeWatchdog extends ExecuteWatchdog {
    private @Nullable Process process;

    // ExecuteWatchdog's builder can't make a subclass.
    @SuppressWarnings("deprecation")
    TreeWatchdog(Duration timeout) {
      super(timeout.toMillis());
    }

    @Override
    public synchronized void start(Process started) {
      process = started;
      super.start(started);
    }

    @Override
    public synchronized void timeoutOccured(Watchdog dog) {
      Process late = process;
      List<ProcessHandle> children = late == null ? List.of() : late.descendants().toList();
      super.timeoutOccured(dog);
      if (late != null && killedProcess()) {
        late.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
      }
    }
  }

  /** Keeps the first bytes and drops the rest: a chatty program must not fill our memory. */
  private static final class Bounded extends ByteArrayOutputStream {
    private final int limit;

    Bounded(int limit) {
      this.limit = limit;
    }

    @Override
    public synchronized void write(int b) {
      if (count < limit) {
        super.write(b);
      }
    }

    @Override
    public synchronized void write(byte[] bytes, int offset, int length) {
      super.write(bytes, offset, Math.min(length, limit - count));
    }
  }
}
