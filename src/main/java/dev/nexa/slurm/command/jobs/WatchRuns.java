package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.command.jobs.watch.WatchTerminal;
import dev.nexa.slurm.command.shared.Stdout;
import dev.nexa.slurm.command.shared.TerminalOutput;
import dev.nexa.slurm.insight.live.LiveReader;
import dev.nexa.slurm.insight.live.LiveRun;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import dev.nexa.slurm.pipeline.run.PipelineProgress;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.status.RunRow;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * Implements {@code status --watch}: a view on a terminal; elsewhere a block of lines for each
 * change. Loaded only by this option, because status must start quickly.
 */
record WatchRuns(Context context, LiveReader reader, Duration interval)
    implements WatchTerminal.WatchSource {

  /**
   * Makes a watch.
   *
   * @param named the runs to watch; empty for all unfinished runs and pipelines
   * @param interval how often the runs are read
   */
  WatchRuns(Context context, List<RunId> named, Duration interval) {
    this(context, new LiveReader(context.waiting(ClientTimeouts.OF_A_VIEW), named), interval);
  }

  /** Returns whether a person sees the output and can press keys. */
  static boolean hasTerminal(Map<String, String> environment) {
    return Stdout.isTerminal()
        && Stdout.canAsk()
        && !environment.getOrDefault("TERM", "dumb").equals("dumb");
  }

  /** Shows the view until the user ends it, and returns the exit status. */
  int onTerminal() {
    try {
      return new WatchTerminal(this, interval, TerminalOutput.mayColour(context.environment()))
          .show();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot use the terminal", failed);
    }
  }

  /**
   * Prints a block for each change until everything has ended, or until the rest cannot start.
   *
   * @return the exit status
   */
  int asLines(PrintWriter out) {
    Map<String, String> known = new HashMap<>();
    String outage = "";
    while (true) {
      try {
        LiveSnapshot snapshot = reader.read(Instant.now());
        if (!outage.isEmpty()) {
          outage = "";
          out.println(PlainTime.utc(Instant.now()) + ": the scheduler answers again");
        }
        out.print(block(snapshot, known));
        if (snapshot.unfinished() == 0 || snapshot.rests()) {
          out.flush();
          return (snapshot.unfinished() == 0 ? ExitCode.OK : ExitCode.RUN_FAILED).status();
        }
      } catch (NexaException unavailable) {
        String reason = VisibleText.line(String.valueOf(unavailable.getMessage()));
        if (!reason.equals(outage)) {
          outage = reason;
          out.println(PlainTime.utc(Instant.now()) + ": " + reason);
        }
      }
      if (out.checkError()) {
        return ExitCode.OK.status();
      }
      Sleep.millis(interval.toMillis(), "following");
    }
  }

  /**
   * Returns the rows that differ from the last block.
   *
   * @param known what was printed of each run and pipeline; the new block is added
   */
  static String block(LiveSnapshot snapshot, Map<String, String> known) {
    boolean first = known.isEmpty();
    List<RunRow> changed = new ArrayList<>();
    for (LiveRun run : snapshot.runs()) {
      RunRow row = run.row();
      String now = row.forPeople().state() + " " + row.tasks() + " " + row.note();
      if (!now.equals(known.put(row.runId(), now))) {
        changed.add(row);
      }
    }
    StringBuilder lines = new StringBuilder();
    for (PipelineProgress pipeline : snapshot.pipelines()) {
      String now = pipeline.state() + ", " + pipeline.completed() + "/" + pipeline.stages().size();
      if (!now.equals(known.put(pipeline.file().id(), now))) {
        lines.append(pipeline.file().id()).append(" (").append(pipeline.file().name());
        lines.append("): ").append(now).append(" stages, cost ").append(pipeline.cost());
        lines.append(" of at most ").append(pipeline.file().total()).append('\n');
      }
    }
    if (!changed.isEmpty() || (first && snapshot.runs().isEmpty())) {
      lines.append(StatusText.of(changed, TableStyle.PLAIN));
    }
    for (String problem : snapshot.problems()) {
      if (known.put(problem, "") == null) {
        lines.append(problem).append('\n');
      }
    }
    if (lines.length() == 0) {
      return "";
    }
    StringBuilder block = new StringBuilder(PlainTime.utc(snapshot.at())).append('\n');
    lines.toString().lines().forEach(line -> block.append(VisibleText.line(line)).append('\n'));
    return block.append('\n').toString();
  }

  @Override
  public LiveSnapshot snapshot() {
    return reader.read(Instant.now());
  }

  @Override
  public Optional<LogTail> log(RunId run, int lines) throws IOException {
    return LogTail.of(context.workspace().run(run), lines);
  }

  @Override
  public String why(RunId run) {
    List<String> problems = new ArrayList<>();
    String text =
        WhyText.of(
            new ExplainRun(context)
                .of(context.workspace().run(run), OptionalInt.empty(), problems));
    return problems.isEmpty() ? text : text + "\nnote: " + String.join("\nnote: ", problems);
  }

  @Override
  public String cancel(RunId run) {
    List<String> jobs =
        new CancelRun(context).cancel(context.workspace().run(run), OptionalInt.empty());
    return jobs.isEmpty()
        ? "No job of " + run + " is known yet. If one appears, `nexa-slurm reconcile` cancels it."
        : "Cancelling job " + String.join(", ", jobs) + " of " + run + ".";
  }
}
