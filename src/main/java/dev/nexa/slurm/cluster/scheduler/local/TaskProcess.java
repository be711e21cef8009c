package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.process.ProcessTable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A running batch script and its holder, as with slurmstepd: the holder leads the session, and the
 * script leads a process group in it.
 *
 * <p>The holder is a {@code sleep} that never waits for its child, so that the script's status
 * stays in /proc after its end. Java's own Process cannot distinguish {@code exit 137} from {@code
 * kill -9}, but sacct does.
 */
final class TaskProcess {
  /**
   * The holder's script. The batch script starts only after its parent has become {@code sleep},
   * because bash would wait for it. The option {@code set -m} gives the batch script its own
   * process group and keeps bash from ignoring SIGINT. The option {@code -p} keeps bash from
   * reading BASH_ENV. The program env removes the variables that bash adds. It also resets the
   * signals that the submitter ignored (nohup), if coreutils is 8.31 or later.
   */
  private static final String HOLDER =
      """
      set -m
      umask "$1"
      shift
      reset=$(env --default-signal true 2>/dev/null && echo --default-signal)
      (
        until read -r name </proc/$$/comm && [[ $name == sleep ]]; do
          [[ -e /proc/$$ ]] || exit 1
        done
        export SLURM_TASK_PID=$BASHPID
        exec env $reset -u _ -u SHLVL -u PWD -u OLDPWD "$@"
      ) </dev/null &
      exec sleep 2147483647 >/dev/null 2>&1
      """;

  /** The status of a script whose own was lost with its holder. */
  private static final ExitStatus LOST = new ExitStatus(1 << 8);

  private final Process holder;
  private final ProcessGroup group;
  private long script;

  /**
   * Starts a script.
   *
   * @param command the program and its arguments
   * @param output the file that its output is appended to
   * @param mark the value of {@link TaskEnvironment#MARK} in the processes' environment
   */
  TaskProcess(
      List<String> command,
      LocalSubmission submission,
      Map<String, String> environment,
      Path output,
      String mark)
      throws IOException {
    List<String> argv = new ArrayList<>(List.of("setsid", "bash", "-p", "-c", HOLDER, "holder"));
    argv.add(submission.umask());
    argv.addAll(command);
    ProcessBuilder builder = ProcessGroup.builder(argv, environment, output);
    builder.directory(submission.directory().toFile());
    holder = builder.start();
    group = new ProcessGroup(mark);
  }

  /** Returns the script's exit status; empty while it runs. */
  Optional<ExitStatus> status() {
    // The script is the holder's child once the holder has become sleep.
    if (script == 0 && ProcessTable.name(holder.pid()).equals("sleep")) {
      ProcessTable.all().stream()
          .filter(entry -> entry.parent() == holder.pid())
          .forEach(entry -> script = entry.pid());
    }
    Optional<ProcessTable.Entry> entry = script == 0 ? Optional.empty() : ProcessTable.read(script);
    if (entry.isPresent() && entry.get().parent() == holder.pid()) {
      return entry.filter(ProcessTable.Entry::dead).map(e -> new ExitStatus(e.waitStatus()));
    }
    // Without its holder, the script's status is lost.
    return holder.isAlive() ? Optional.empty() : Optional.of(LOST);
  }

  /** Signals the script and all processes that it started. */
  void signalAll(String signal) {
    group.signal(signal, holder.pid());
  }

  /** Signals only the script. */
  void signalScript(String signal) {
    if (script != 0) {
      ProcessGroup.send(signal, List.of(script));
    }
  }

  /** Kills all processes, the holder included. */
  void destroy() {
    group.destroy();
  }

  /**
   * The exit status of a batch script.
   *
   * @param waitStatus the status of waitpid(2)
   */
  record ExitStatus(int waitStatus) {
    String state() {
      return waitStatus == 0 ? "COMPLETED" : "FAILED";
    }

    /**
     * Returns sacct's {@code exit:signal} as Slurm prints it up to 25.05. Slurm subtracts 128 from
     * an exit code of 128 and more: 137 is {@code 9:0}. Slurm prints signal 1 as exit code 1:
     * {@code 1:0}.
     */
    String text() {
      int signal = waitStatus & 0x7f;
      int code = signal == 1 ? 1 : waitStatus >> 8 & 0xff;
      return signal > 1 ? "0:" + signal : (code >= 128 ? code - 128 : code) + ":0";
    }
  }
}
