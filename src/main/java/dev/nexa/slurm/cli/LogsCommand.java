package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.FollowLogs;
import dev.nexa.slurm.app.MergeLogs;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.RunFolder;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Map;
import java.util.OptionalInt;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** {@code nexa-slurm logs}. */
final class LogsCommand extends Subcommand {
  private final PositionalParamSpec reference =
      add(
          PositionalParamSpec.builder()
              .paramLabel("RUN")
              .arity("0..1")
              .type(String.class)
              .defaultValue("latest"),
          "A run id, `latest`, a job id or 12345_7; the latest run if not given.");
  private final OptionSpec task =
      add(
          OptionSpec.builder("--task").paramLabel("N").type(Integer.class),
          "Only this task, as it printed it.");
  private final OptionSpec tail =
      add(
          OptionSpec.builder("--tail").paramLabel("N").type(Integer.class),
          "The last N lines; of an array, of each task. All if not given, and 20 of a failed task.");
  private final OptionSpec follow = flag("-f, --follow", "Goes on until the run has ended.");

  LogsCommand() {
    super(
        "logs",
        "Prints what a run printed: of an array each line with its task, failed tasks first.",
        "nexa-slurm logs latest",
        "nexa-slurm logs -f --tail 5 train_20251101_143200",
        "nexa-slurm logs --task 3 train_20251101_143200",
        "nexa-slurm logs 12345_7");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference.getValue());
    RunFolder run = found.run();
    Integer named = task.getValue();
    OptionalInt one = named != null ? OptionalInt.of(named) : found.task();
    try {
      copy(nexa, run, one, new WriterStream(out()));
    } catch (NobodyReads enough) {
      // Main tells why, where it was not `| head`.
    }
    return ExitCode.OK.status();
  }

  private void copy(Nexa nexa, RunFolder run, OptionalInt one, OutputStream stream) {
    if (Files.notExists(run.plan())) {
      throw new NexaException(
          ExitCode.USAGE, run.id() + " has no logs here: it was not submitted from this workspace");
    }
    if (one.isEmpty() && run.planJson().number("tasks") > 1) {
      MergeLogs.Asked asked = new MergeLogs.Asked(lines(), given(follow), colour(nexa));
      new MergeLogs(nexa, run, asked, stream, problem -> err().println(problem)).copy();
      return;
    }
    RunLookup.requireTask(run, one.orElse(0));
    new FollowLogs(nexa).copy(run, one.orElse(0), lines(), given(follow), stream);
  }

  private OptionalInt lines() {
    Integer lines = tail.getValue();
    if (lines != null && lines < 0) {
      throw new NexaException(
          ExitCode.USAGE, "--tail " + lines + ": a number of lines is 0 or more");
    }
    return lines == null ? OptionalInt.empty() : OptionalInt.of(lines);
  }

  /** Only where a person looks, and has not set NO_COLOR. */
  private static boolean colour(Nexa nexa) {
    Map<String, String> environment = nexa.environment();
    return environment.getOrDefault("NO_COLOR", "").isEmpty()
        && !environment.getOrDefault("TERM", "dumb").equals("dumb")
        && Stdout.isTerminal();
  }

  /** Output can't be written any more: following on would be for nobody. */
  private static final class NobodyReads extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * The command's output as a stream of bytes; what is no UTF-8 shows as replacement characters.
   */
  private static final class WriterStream extends OutputStream {
    private final PrintWriter out;
    private final CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /** The first bytes of a character whose others come with the next write. */
    private byte[] begun = {};

    WriterStream(PrintWriter out) {
      this.out = out;
    }

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      ByteBuffer in = ByteBuffer.allocate(begun.length + length);
      in.put(begun).put(bytes, offset, length).flip();
      CharBuffer text = CharBuffer.allocate(in.remaining());
      decoder.decode(in, text, false);
      out.print(text.flip());
      begun = new byte[in.remaining()];
      in.get(begun);
    }

    @Override
    public void flush() {
      if (out.checkError()) {
        throw new NobodyReads();
      }
    }
  }
}
