package dev.nexa.slurm.scheduler.local;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * All processes of one attempt, also those that became daemons: whatever has its mark in the
 * environment, and their sessions and descendants.
 */
final class ProcessGroup {
  private static final int ROUNDS = 250;
  private static final int PAUSE_MILLIS = 2;

  private final String variable;

  ProcessGroup(String mark) {
    variable = TaskEnvironment.MARK + "=" + mark;
  }

  /** Those that live. */
  List<Long> members() {
    List<ProcessTable.Entry> all = ProcessTable.all();
    long self = ProcessHandle.current().pid();
    Set<Long> found = new HashSet<>();
    for (ProcessTable.Entry entry : all) {
      if (entry.pid() != self && ProcessTable.hasVariable(entry.pid(), variable)) {
        found.add(entry.pid());
      }
    }
    boolean grew = !found.isEmpty();
    while (grew) {
      grew = false;
      for (ProcessTable.Entry entry : all) {
        if (found.contains(entry.parent()) || found.contains(entry.session())) {
          grew |= found.add(entry.pid());
        }
      }
    }
    List<Long> living = new ArrayList<>();
    for (ProcessTable.Entry entry : all) {
      if (found.contains(entry.pid()) && !entry.dead()) {
        living.add(entry.pid());
      }
    }
    return living;
  }

  /** The holder's one child, once the holder waits for nothing any more; 0 before. */
  long childOf(long holder) {
    if (!ProcessTable.name(holder).equals("sleep")) {
      return 0;
    }
    for (ProcessTable.Entry entry : ProcessTable.all()) {
      if (entry.parent() == holder) {
        return entry.pid();
      }
    }
    return 0;
  }

  /** Signals all but one. */
  void signal(String signal, long except) {
    List<Long> pids = members();
    pids.remove(except);
    send(signal, pids);
  }

  /** Kills all; new ones may appear while the old ones die. */
  void destroy() {
    for (int round = 0; round < ROUNDS; round++) {
      List<Long> pids = members();
      if (pids.isEmpty()) {
        return;
      }
      for (long pid : pids) {
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
      }
      pause();
    }
  }

  private static void pause() {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** kill(2) by a shell's own kill, the one that is everywhere; who is gone is no error. */
  static void send(String signal, List<Long> pids) {
    if (pids.isEmpty()) {
      return;
    }
    List<String> argv =
        new ArrayList<>(List.of("sh", "-c", "kill -s \"$0\" \"$@\" 2>/dev/null", signal));
    pids.forEach(pid -> argv.add(Long.toString(pid)));
    try {
      new ProcessBuilder(argv)
          .redirectInput(new File("/dev/null"))
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .redirectError(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
    } catch (IOException failed) {
      throw new java.io.UncheckedIOException("Cannot start sh to send SIG" + signal, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
