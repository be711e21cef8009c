package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.base.process.Sleep;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.command.jobs.EndedTasks.End;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.LogFiles;
import dev.nexa.slurm.run.lookup.TaskLog;
import dev.nexa.slurm.run.status.RunRow;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Implements {@code logs} of an array: prints the last lines of failed tasks, then all tasks' logs
 * with the task's number before each line, and with {@code -f} the lines that follow.
 *
 * <p>No log file stays open. While following, each unfinished task's log is read twice a second.
 * With more than a hundred tasks, it is read less often, so that there are at most {@value
 * #LOOKS_PER_SECOND} reads a second. One read copies at most {@value #LOOK_BYTES} bytes, so that
 * one busy task does not delay the others.
 */
public final class MergeLogs {
  static final int LOOKS_PER_SECOND = 200;
  static final int LOOK_BYTES = 1 << 20;

  private static final int FAILED_LINES = 20;

  private final Context context;
  private final RunFolder run;
  private final Asked asked;
  private final OutputStream out;
  private final Consumer<String> problems;
  private final int tasks;
  private final List<String> groups;
  private final Map<Integer, TaskLog> logs = new HashMap<>();
  private String lastProblem = "";
  private String lastReason = "";

  /**
   * The options of the command.
   *
   * @param tail how many last lines of each task to print; empty for all, and for twenty of a
   *     failed task
   * @param colour whether to colour the prefixes
   */
  public record Asked(OptionalInt tail, boolean follow, boolean colour) {}

  /**
   * Makes a merger for one run.
   *
   * @param out receives complete lines of UTF-8 with each write
   * @param problems receives a line if it is unknown which tasks have ended, and while following a
   *     line that says why the run waits
   */
  public MergeLogs(
      Context context, RunFolder run, Asked asked, OutputStream out, Consumer<String> problems) {
    this.context = context;
    this.run = run;
    this.asked = asked;
    this.out = out;
    this.problems = problems;
    this.tasks = run.shownPlan().tasks();
    this.groups = run.shownPlan().groupNames();
  }

  /** Copies the logs, and follows them if requested. */
  public void copy() {
    try {
      EndedTasks ended = ended().orElse(EndedTasks.NONE);
      LogFiles files = LogFiles.of(run);
      Map<Integer, End> failed = ended.failed();
      failedFirst(failed, files);
      for (int task = 0; task < tasks; task++) {
        Optional<Path> file = files.newest(task);
        if (file.isPresent()) {
          begin(task, file.get(), failed.containsKey(task), ended.isOver(task));
        }
      }
      out.flush();
      if (asked.follow()) {
        follow(ended, files);
      }
      if (logs.isEmpty()) {
        throw FollowLogs.nothing(context, run, Optional.empty());
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read a log in " + run.logs(), failed);
    }
  }

  private void failedFirst(Map<Integer, End> failed, LogFiles files) throws IOException {
    Map<String, List<Integer>> silent = new TreeMap<>();
    for (Map.Entry<Integer, End> each : failed.entrySet()) {
      int task = each.getKey();
      Optional<Path> file = files.newest(task);
      if (file.isPresent()) {
        header(task, each.getValue(), file.get());
        long start = TaskLog.startOfLast(file.get(), asked.tail().orElse(FAILED_LINES));
        log(task, file.get(), start).copy(out, Long.MAX_VALUE, true);
        print("");
      } else {
        silent.computeIfAbsent(each.getValue().state(), none -> new ArrayList<>()).add(task);
      }
    }
    for (Map.Entry<String, List<Integer>> state : silent.entrySet()) {
      print(LogText.silent(new IndexRange(state.getValue()), state.getKey()));
      print("");
    }
    if (!failed.isEmpty() && asked.tail().isEmpty()) {
      print(LogText.all(tasks));
    }
  }

  /** Copies the existing log. With --tail, a failed task's lines were printed before. */
  private void begin(int task, Path file, boolean shown, boolean over) throws IOException {
    int lines = shown ? 0 : asked.tail().orElse(0);
    long start = asked.tail().isEmpty() ? 0 : TaskLog.startOfLast(file, lines);
    TaskLog log = log(task, file, start);
    logs.put(task, log);
    log.copy(out, Long.MAX_VALUE, over || !asked.follow());
  }

  private void follow(EndedTasks atFirst, LogFiles filesAtFirst) throws IOException {
    LogFiles files = filesAtFirst;
    TreeSet<Integer> open = new TreeSet<>();
    for (int task = 0; task < tasks; task++) {
      if (!atFirst.isOver(task)) {
        open.add(task);
      }
    }
    EndedTasks ended = atFirst;
    long lastAsked = System.nanoTime();
    while (!open.isEmpty()) {
      // Needs one more look after the end, because the last lines may have been written in between.
      Sleep.millis(pauseMillis(open.size()), "following");
      for (int task : List.copyOf(open)) {
        boolean over = ended.isOver(task);
        look(task, files, over);
        if (over) {
          open.remove(task);
          End end = ended.ends().get(task);
          Optional<Path> file = files.newest(task);
          // The lines of a task that failed were printed before.
          if (end != null && !end.well() && file.isPresent()) {
            header(task, end, file.get());
          }
        }
      }
      out.flush();
      if (!open.isEmpty() && System.nanoTime() - lastAsked >= FollowLogs.ASK_NANOS) {
        ended = ended().orElse(ended);
        files = LogFiles.of(run);
        lastAsked = System.nanoTime();
      }
    }
  }

  /** Returns the pause between two rounds over this many tasks, in milliseconds. */
  public static long pauseMillis(int tasks) {
    return Math.max(FollowLogs.PAUSE_MILLIS, tasks * 1000L / LOOKS_PER_SECOND);
  }

  private void look(int task, LogFiles files, boolean over) throws IOException {
    Optional<Path> file = files.newest(task);
    if (file.isEmpty()) {
      return;
    }
    TaskLog log = logs.computeIfAbsent(task, none -> log(task, file.get(), 0));
    log.movedTo(file.get());
    log.copy(out, over ? Long.MAX_VALUE : LOOK_BYTES, over);
  }

  /** Prints the heading of a task that failed. */
  private void header(int task, End end, Path file) throws IOException {
    print(LogText.failed(task, end.state(), end.exitCode(), file.toString()));
  }

  private TaskLog log(int task, Path file, long start) {
    String prefix =
        groups.isEmpty()
            ? LogText.prefix(task, tasks, asked.colour())
            : LogText.prefix(groups, task, asked.colour());
    return new TaskLog(file, start, prefix);
  }

  private void print(String line) throws IOException {
    out.write((line + "\n").getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the ended tasks; empty during an outage, which is reported once. */
  private Optional<EndedTasks> ended() {
    try {
      EndedTasks ended = EndedTasks.of(context, run);
      lastProblem = "";
      String reason = asked.follow() ? ended.waits().orElse("") : "";
      if (asked.follow() && ended.stuck() && !reason.isEmpty()) {
        throw RunRow.neverStarts(run.id().value(), reason);
      }
      if (!reason.isEmpty() && !reason.equals(lastReason)) {
        problems.accept(LogText.waits(run.id().value(), reason));
      }
      lastReason = reason;
      return Optional.of(ended);
    } catch (SchedulerUnavailable outage) {
      String problem = "which tasks have failed is not known: " + outage.getMessage();
      if (!problem.equals(lastProblem)) {
        problems.accept(problem);
      }
      lastProblem = problem;
      return Optional.empty();
    }
  }
}
