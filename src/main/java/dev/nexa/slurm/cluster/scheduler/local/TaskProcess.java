package dev.nexa.slurm.cluster.scheduler.local;

import java.io.File;
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
   * because bash would wait for it. {@code set -m} gives it its own group and keeps bash from
   * ignoring SIGINT, {@code -p} keeps bash from reading BASH_ENV, and env removes the variables
   * that bash adds.
   */
  private static final String HOLDER =
      """
      set -m
      umask "$1"
      shift
      (
        until read -r name </proc/$$/comm && [[ $name == sleep ]]; do
          [[ -e /proc/$$ ]] || exit 1
        done
        export SLURM_TASK_PID=$BASHPID
        exec env -u _ -u SHLVL -u PWD -u OLDPWD "$@"
      ) </dev/null &
      exec sleep 2147483647 >/dev/null 2>&1
      """;

  private final Process holder;
  private final ProcessGroup group;
  private long script;

  private TaskProcess(Process holder, ProcessGroup group) {
    this.holder = holder;
    this.group = group;
  }

  /**
   * Starts a script. Its output is appended to the files.
   *
   * @param command the program and its arguments, optionally after options of env(1)
   * @param mark the value of {@link TaskEnvironment#MARK} in the processes' environment
   */
  static TaskProcess start(
      List<String> command,
      String umask,
      Map<String, String> environment,
      Path directory,
      OutputFiles files,
      String mark)
      throws IOException {
    List<String> argv =
        new ArrayList<>(List.of("setsid", "bash", "-p", "-c", HOLDER, "holder", umask));
    argv.addAll(command);
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.environment().clear();
    builder.environment().putAll(environment);
    builder.directory(directory.toFile());
    builder.redirectInput(new File("/dev/null"));
    builder.redirectOutput(ProcessBuilder.Redirect.appendTo(files.output().toFile()));
    if (files.error().equals(files.output())) {
      builder.redirectErrorStream(true);
    } else {
      builder.redirectError(ProcessBuilder.Redirect.appendTo(files.error().toFile()));
    }
    return new TaskProcess(builder.start(), new ProcessGroup(mark));
  }

  /** Returns the script's exit status; empty while it runs. */
  Optional<ExitStatus> status() {
    if (script == 0) {
      script = group.childOf(holder.pid());
    }
    Optional<ProcessTable.Entry> entry = script == 0 ? Optional.empty() : ProcessTable.read(script);
    if (entry.isPresent() && entry.get().parent() == holder.pid()) {
      return entry.filter(ProcessTable.Entry::dead).map(e -> new ExitStatus(e.waitStatus()));
    }
    // Without its holder, the script's status is lost.
    return holder.isAlive() ? Optional.empty() : Optional.of(ExitStatus.exited(1));
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
}
