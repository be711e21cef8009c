package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.FollowLogs;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
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
          "The task; 0 if not given.");
  private final OptionSpec follow = flag("-f, --follow", "Goes on until the run has ended.");

  LogsCommand() {
    super(
        "logs",
        "Prints what a task printed.",
        "nexa-slurm logs latest",
        "nexa-slurm logs -f --task 3 train_20251101_143200",
        "nexa-slurm logs 12345_7");
  }

  @Override
  public Integer call() {
    Nexa nexa = existing();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference.getValue());
    Integer asked = task.getValue();
    int index = asked != null ? asked : found.task().orElse(0);
    RunLookup.requireTask(found.run(), index);
    new FollowLogs(nexa).copy(found.run(), index, given(follow), new WriterStream(out()));
    return ExitCode.OK.status();
  }

  /**
   * The command's output as a stream of bytes; what is no UTF-8 shows as replacement characters.
   */
  private static final class WriterStream extends OutputStream {
    private final PrintWriter out;

    WriterStream(PrintWriter out) {
      this.out = out;
    }

    @Override
    public void write(int b) {
      out.print((char) b);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
      out.print(new String(bytes, offset, length, StandardCharsets.UTF_8));
    }

    @Override
    public void flush() {
      out.flush();
    }
  }
}
