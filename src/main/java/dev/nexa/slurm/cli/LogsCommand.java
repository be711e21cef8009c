package dev.nexa.slurm.cli;

import dev.nexa.slurm.app.FollowLogs;
import dev.nexa.slurm.app.Nexa;
import dev.nexa.slurm.app.RunLookup;
import dev.nexa.slurm.error.ExitCode;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code nexa-slurm logs}. */
@Command(
    name = "logs",
    mixinStandardHelpOptions = true,
    description = "Prints what a task printed.",
    footerHeading = "%nExamples:%n",
    footer = {
      "  nexa-slurm logs latest",
      "  nexa-slurm logs -f --task 3 train_20251101_143200",
      "  nexa-slurm logs 12345_7"
    })
final class LogsCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Parameters(
      paramLabel = "RUN",
      defaultValue = "latest",
      description = "A run id, `latest`, a job id or 12345_7; the latest run if not given.")
  private String reference = "latest";

  @Option(names = "--task", paramLabel = "N", description = "The task; 0 if not given.")
  private @Nullable Integer task;

  @Option(
      names = {"-f", "--follow"},
      description = "Goes on until the run has ended.")
  private boolean follow;

  @Override
  public Integer call() {
    Nexa nexa = RootCommand.of(spec).nexa();
    RunLookup.Found found = new RunLookup(nexa.workspace()).find(reference);
    int index = task != null ? task : found.task().orElse(0);
    new FollowLogs(nexa)
        .copy(found.run(), index, follow, new WriterStream(spec.commandLine().getOut()));
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
