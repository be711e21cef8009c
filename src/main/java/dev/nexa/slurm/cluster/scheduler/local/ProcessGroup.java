package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.ProcessTable;
import dev.nexa.slurm.base.process.Sleep;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * All processes of one attempt, including daemons: the processes that have its mark in their
 * environment, their sessions and their descendants.
 */
final class ProcessGroup {
  private static final int ROUNDS = 250;
  private static final int PAUSE_MILLIS = 2;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final String variable;

  ProcessGroup(String mark) {
    variable = TaskEnvironment.MARK + "=" + mark;
  }

  /** Returns the start of a process with these variables only, and all output in one file. */
  static ProcessBuilder builder(List<String> argv, Map<String, String> environment, Path output) {
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.redirectInput(new File("/dev/null"));
    builder.redirectErrorStream(true);
    return builder.redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()));
  }

  /** Returns the pids of the living processes. */
  List<Long> members() {
    List<ProcessTable.Entry> all = ProcessTable.all();
    long self = ProcessHandle.current().pid();
    Set<Long> found = new HashSet<>();
    all.stream()
        .map(ProcessTable.Entry::pid)
        .filter(pid -> pid != self && ProcessTable.hasVariable(pid, variable))
        .forEach(found::add);
    boolean grew = !found.isEmpty();
    while (grew) {
      grew = false;
      for (ProcessTable.Entry entry : all) {
        if (found.contains(entry.parent()) || found.contains(entry.session())) {
          grew |= found.add(entry.pid());
        }
      }
    }
    return all.stream()
        .filter(entry -> found.contains(entry.pid()) && !entry.dead())
        .map(ProcessTable.Entry::pid)
        .toList();
  }

  /** Signals all processes except one. */
  void signal(String signal, long except) {
    send(signal, members().stream().filter(pid -> pid != except).toList());
  }

  /** Kills all processes, in several rounds, because new processes may appear meanwhile. */
  void destroy() {
    for (int round = 0; round < ROUNDS; round++) {
      List<Long> pids = members();
      if (pids.isEmpty()) {
        return;
      }
      pids.forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
      Sleep.millis(PAUSE_MILLIS, "killing a task");
    }
  }

  /**
   * Sends a signal by the shell's built-in kill, which exists everywhere. A process that is gone is
   * ignored.
   */
  static void send(String signal, List<Long> pids) {
    if (pids.isEmpty()) {
      return;
    }
    List<String> argv =
        new ArrayList<>(List.of("sh", "-c", "kill -s \"$0\" \"$@\" 2>/dev/null", signal));
    pids.forEach(pid -> argv.add(Long.toString(pid)));
    try {
      new CommandRunner().run(new Command(argv, System.getenv(), Path.of("/"), PATIENCE));
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot start sh to send SIG" + signal, failed);
    }
  }
}
