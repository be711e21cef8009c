package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.base.process.ProcessTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Decides whether a process runs a job. For a process on another host, or in another container,
 * only its heartbeat is visible: the modification time of the job's {@code supervisor} file.
 *
 * <p>A file names a process in one line. The line has the process's host, the kernel's id of this
 * boot, the namespace of process ids, the process id, and the start in clock ticks since boot. The
 * namespace is needed because two containers may have the same host name. A wall-clock time would
 * differ between two readers after the clock was set, and a living runner must never count as dead.
 */
record Liveness(JobDirectory job) {
  /** Interval of a runner's heartbeat. */
  static final Duration HEARTBEAT = Duration.ofSeconds(5);

  /** A process that cannot be checked counts as dead after this time without a heartbeat. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  /** Read once, because the host's name may change while we run, and the lookup may be slow. */
  private static final String HOST = ProcessIdentity.localHost();

  /** Returns the line of a process of this machine that lives or has just ended. */
  static String line(long pid) {
    String boot = DurableFiles.read(Path.of("/proc/sys/kernel/random/boot_id")).strip();
    Path space = Path.of("/proc/self/ns/pid");
    Path target = DurableFiles.attempt("read", space, () -> Files.readSymbolicLink(space));
    long start = ProcessTable.read(pid).map(ProcessTable.Entry::startTicks).orElse(-1L);
    return HOST + " " + boot + " " + target + " " + pid + " " + start;
  }

  static String ourLine() {
    return line(ProcessHandle.current().pid());
  }

  /**
   * Returns whether the process of a line lives; empty if this cannot be determined from here, or
   * the text names no process. Other words may follow it.
   */
  static Optional<Boolean> alive(String line) {
    String[] ours = ourLine().split(" ", -1);
    String[] its = words(line);
    if (its.length == 0 || !its[0].equals(ours[0])) {
      return Optional.empty();
    }
    if (!its[1].equals(ours[1])) {
      return Optional.of(false);
    }
    return Optional.of(ProcessTable.read(Long.parseLong(its[3])))
        .filter(visible -> its[2].equals(ours[2]))
        .map(entry -> entry.filter(e -> !e.dead() && its[4].equals("" + e.startTicks())))
        .map(Optional::isPresent);
  }

  /** Returns the words of a line that names a process; none of another text. */
  private static String[] words(String line) {
    String process = "(\\S+ ){3}\\d{1,18} -?\\d{1,18}( .*)?";
    return line.strip().matches(process) ? line.strip().split(" ", -1) : new String[0];
  }

  /**
   * Returns whether the process that a file of the job names lives. The job's lock names its runner
   * or a process that repairs it. The runner that was started last may not have the lock yet.
   */
  boolean runs(Path file) {
    try {
      String line = Files.readString(file);
      return words(line).length > 0 && !dead(line);
    } catch (IOException nobody) {
      return false;
    }
  }

  /**
   * Returns whether the process in a {@link dev.nexa.slurm.base.files.FileLock}'s text is dead;
   * false if the text names none.
   */
  boolean dead(String line) {
    return words(line).length > 0
        && !alive(line).orElseGet(() -> lastSign().plus(SILENCE).isAfter(Instant.now()));
  }

  /** Returns the time of the last heartbeat; now, if it cannot be read. */
  Instant lastSign() {
    try {
      return Files.getLastModifiedTime(job.supervisor()).toInstant();
    } catch (IOException unknown) {
      return Instant.now();
    }
  }

  void giveSign() {
    try {
      Files.setLastModifiedTime(job.supervisor(), FileTime.from(Instant.now()));
    } catch (IOException notThere) {
      System.err.println("no heartbeat: " + notThere);
    }
  }
}
