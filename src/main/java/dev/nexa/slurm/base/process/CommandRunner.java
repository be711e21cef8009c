package dev.nexa.slurm.base.process;

import java.io.ByteArrayInputStream;
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

/** Runs programs and waits for them. The only class that uses Commons Exec. */
public class CommandRunner {
  private static final int MAX_ERR_BYTES = 64 * 1024;

  /**
   * Runs the command and returns its output.
   *
   * @throws IOException if the program cannot be started (not found, not executable)
   */
  public CommandResult run(Command command) throws IOException {
    return run(command, started -> {});
  }

  /**
   * Runs the command and returns its output.
   *
   * @param started receives the process as soon as it runs
   * @throws IOException if the program cannot be started (not found, not executable)
   */
  public CommandResult run(Command command, Consumer<ProcessIdentity> started) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CommandResult result = stream(command, out, started);
    return new CommandResult(
        result.exit(), out.toString(StandardCharsets.UTF_8), result.err(), result.timedOut());
  }

  /**
   * Runs the command and writes its standard output to a stream while it runs.
   *
   * @param started receives the process as soon as it runs
   * @return a result whose {@code out} is empty
   * @throws IOException if the program cannot be started (not found, not executable), or if {@code
   *     out} has thrown an exception
   */
  public CommandResult stream(Command command, OutputStream out, Consumer<ProcessIdentity> started)
      throws IOException {
    return stream(command, null, out, started);
  }

  /**
   * Runs the command with a text on its standard input, and drops what it prints. Does not wait for
   * programs that it leaves behind.
   *
   * @throws IOException if the program cannot be started (not found, not executable)
   */
  public CommandResult feed(Command command, String input) throws IOException {
    InputStream in = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
    return stream(command, in, OutputStream.nullOutputStream(), started -> {});
  }

  @SuppressWarnings("deprecation") // The builder that replaces the setter makes no subclass.
  private static CommandResult stream(
      Command command,
      @Nullable InputStream in,
      OutputStream out,
      Consumer<ProcessIdentity> started)
      throws IOException {
    Bounded err = new Bounded(MAX_ERR_BYTES);
    ExecuteWatchdog watchdog = new TreeWatchdog(command.timeout());
    DefaultExecutor executor = new OurExecutor(command, started, in != null);
    executor.setExitValues(null);
    // Its default is this process's folder, which may be closed by now.
    executor.setWorkingDirectory(command.directory().toFile());
    Drained drained = new Drained(out);
    executor.setStreamHandler(new WidePump(drained, err, in));
    executor.setWatchdog(watchdog);
    int exit = executor.execute(new CommandLine(command.program()), command.environment());
    drained.throwFailure();
    return new CommandResult(
        exit, "", err.toString(StandardCharsets.UTF_8), watchdog.killedProcess());
  }

  /**
   * Reads all output of the program, even after the reader of the output has failed. Otherwise the
   * program would block on a full pipe, and this process would wait for the program.
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

    // Catches errors too: an OutOfMemoryError would end the pump's thread silently.
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

  /**
   * Reads 64 KiB at a time: sacct may print hundreds of megabytes, and Commons Exec reads 1 KiB.
   */
  private static final class WidePump extends PumpStreamHandler {
    private static final int PIECE = 1 << 16;

    WidePump(OutputStream out, OutputStream err, @Nullable InputStream in) {
      super(out, err, in);
    }

    @Override
    protected Thread createPump(InputStream in, OutputStream out, boolean closeWhenExhausted) {
      Thread pump = new Thread(new StreamPumper(in, out, closeWhenExhausted, PIECE), "pump");
      pump.setDaemon(true);
      return pump;
    }
  }

  /**
   * Overrides the launch, because Commons Exec does not expose the process and trims arguments,
   * including a delimiter that is a single control character.
   */
  private static final class OurExecutor extends DefaultExecutor {
    private final Command command;
    private final Consumer<ProcessIdentity> started;
    private final boolean dropsOutput;

    // DefaultExecutor's builder cannot make a subclass.
    @SuppressWarnings("deprecation")
    OurExecutor(Command command, Consumer<ProcessIdentity> started, boolean dropsOutput) {
      this.command = command;
      this.started = started;
      this.dropsOutput = dropsOutput;
    }

    @Override
    protected Process launch(CommandLine line, Map<String, String> environment, Path directory)
        throws IOException {
      List<String> argv = new ArrayList<>(command.argv());
      argv.set(0, found(command));
      ProcessBuilder builder = new ProcessBuilder(argv);
      builder.environment().clear();
      builder.environment().putAll(command.environment());
      if (dropsOutput) {
        // Without a pipe, the caller does not wait for a program that the command leaves behind.
        builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
        builder.redirectError(ProcessBuilder.Redirect.DISCARD);
      }
      Process process = builder.directory(command.directory().toFile()).start();
      started.accept(ProcessIdentity.of(process.toHandle()));
      return process;
    }

    /**
     * Finds the program on the PATH of the command's environment; Java would search its own PATH.
     */
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
   * Kills the program's children too. Where a site wraps sbatch in a script, the real sbatch would
   * otherwise survive and keep the pipes to this process open.
   */
  private static final class TreeWatchdog extends ExecuteWatchdog {
    private @Nullable Process process;

    // ExecuteWatchdog's builder cannot make a subclass.
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

  /**
   * Keeps the first {@code limit} bytes and drops the rest, so that a program's output cannot fill
   * the memory.
   */
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
