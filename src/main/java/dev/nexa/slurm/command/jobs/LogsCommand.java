package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.command.shared.TerminalOutput;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.RunLookup;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.OptionalInt;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/** The command {@code nexa-slurm logs}. */
public final class LogsCommand extends Subcommand {
  private final PositionalParamSpec reference = runOrLatest();
  private final OptionSpec task =
      number(
          "--task N", "Prints only this task's log, without the task's number before each line.");
  private final OptionSpec group =
      option("--group NAME", "Only this group of a heterogeneous job; the same as its --task N.");
  private final OptionSpec rank =
      number("--rank N", "Only this rank of the task, where torchrun or accelerate started it.");
  private final OptionSpec tail =
      number(
          "--tail N",
          "Prints only the last N lines; for an array, of each task. Default: all lines, and before them the last 20 of each failed task.");
  private final OptionSpec follow = flag("-f, --follow", "Goes on until the run has ended.");

  public LogsCommand() {
    super(
        "logs",
        "Prints the output of a run. For an array, each line begins with its task's number; failed tasks come first.",
        "nexa-slurm logs latest",
        "nexa-slurm logs -f --tail 5 train_20251101_143200",
        "nexa-slurm logs --task 3 train_20251101_143200",
        "nexa-slurm logs --rank 5 latest",
        "nexa-slurm logs 12345_7");
    // Main reads this flag before it opens the output.
    flag(
        "--raw",
        "Sends control characters to a terminal as the job printed them. Output to a pipe or a file"
            + " is never changed.");
  }

  @Override
  protected void work() {
    Context context = existing();
    RunLookup.Found found = new RunLookup(context.workspace()).find(reference.getValue());
    RunFolder run = found.run();
    Integer named = task.getValue();
    String ofGroup = group.getValue();
    if (ofGroup != null && (named != null || found.task().isPresent())) {
      throw invalid("--group " + ofGroup + " names one task already: leave out the task's number");
    }
    OptionalInt one =
        ofGroup != null
            ? OptionalInt.of(groupOf(run, ofGroup))
            : named != null ? OptionalInt.of(named) : found.task();
    try {
      copy(context, run, one, new WriterStream(out()));
    } catch (NobodyReads enough) {
      // Main reports the reason, unless the reader closed the pipe, as `| head` does.
    }
  }

  private void copy(Context context, RunFolder run, OptionalInt one, OutputStream stream) {
    if (Files.notExists(run.plan())) {
      throw ErrorCode.LOGS_MISSING.error(
          run.id() + " has no logs here: it was not submitted from this workspace");
    }
    Integer asked = rank.getValue();
    if (asked != null && asked < 0) {
      throw invalid("--rank " + asked + ": ranks count from 0");
    }
    OptionalInt ofRank = asked == null ? OptionalInt.empty() : OptionalInt.of(asked);
    boolean array = one.isEmpty() && run.shownPlan().tasks() > 1;
    if (array && ofRank.isPresent()) {
      throw ErrorCode.REFERENCE_AMBIGUOUS.error(
          "--rank " + asked + ": " + run.id() + " has several tasks, each with ranks of its own",
          "nexa-slurm logs --task 0 --rank " + asked + " " + run.id());
    }
    if (array) {
      boolean colour = TerminalOutput.mayColour(context.environment()) && Stdout.isTerminal();
      MergeLogs.Asked wanted = new MergeLogs.Asked(lines(), given(follow), colour);
      new MergeLogs(context, run, wanted, stream, problem -> err().println(problem)).copy();
      return;
    }
    RunLookup.requireTask(run, one.orElse(0));
    if (asked != null) {
      requireRank(run, one.orElse(0), asked);
    }
    new FollowLogs(context, err()::println)
        .copy(run, one.orElse(0), ofRank, lines(), given(follow), stream);
  }

  private static int groupOf(RunFolder run, String name) {
    List<String> names = run.shownPlan().groupNames();
    if (names.contains(name)) {
      return names.indexOf(name);
    }
    String has = names.isEmpty() ? " has no groups" : " has " + String.join(", ", names);
    throw ErrorCode.RUN_UNKNOWN.error(
        "there is no group " + name + Nearest.hint(name, names) + ": " + run.id() + has);
  }

  /** Checks that the task has this rank. A program may start other ranks than were planned. */
  private static void requireRank(RunFolder run, int task, int rank) {
    long ranks = run.shownPlan().ranks();
    if (rank < ranks || LogFiles.of(run).ofRank(task, rank).isPresent()) {
      return;
    }
    String has = ranks < 2 ? " is one process, without ranks" : " has ranks 0 to " + (ranks - 1);
    String does = ranks < 2 ? "prints its output" : "prints the output of all ranks";
    throw ErrorCode.RUN_UNKNOWN.error(
        "there is no rank " + rank + ": a task of " + run.id() + has,
        Advice.command(does, "nexa-slurm", "logs", "--task", task, run.id()));
  }

  private OptionalInt lines() {
    Integer lines = tail.getValue();
    if (lines != null && lines < 0) {
      throw invalid("--tail " + lines + ": a number of lines is 0 or more");
    }
    return lines == null ? OptionalInt.empty() : OptionalInt.of(lines);
  }

  /** The output cannot be written any more, so following the logs is useless. */
  private static final class NobodyReads extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  /**
   * The command's output as a byte stream. Bytes that are not UTF-8 become replacement characters.
   */
  private static final class WriterStream extends OutputStream {
    private final PrintWriter out;
    private final CharsetDecoder decoder =
        StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);

    /** The first bytes of a character that the next write completes. */
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
