package dev.nexa.slurm.base.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Identifies one process on one host. A pid alone does not, because the system reuses pids.
 *
 * @param host the name of its host
 * @param pid its process id
 * @param started its start time, truncated to seconds; {@link Instant#EPOCH} if the system does not
 *     report it
 */
public record ProcessIdentity(String host, long pid, Instant started) {
  private static final Duration TOLERANCE = Duration.ofSeconds(2);

  /** Returns the identity of a process of this host. */
  public static ProcessIdentity of(ProcessHandle process) {
    return new ProcessIdentity(localHost(), process.pid(), start(process));
  }

  /** Returns the identity of this JVM. */
  public static ProcessIdentity ofThisProcess() {
    return of(ProcessHandle.current());
  }

  /**
   * Returns whether the process is alive; empty if it belongs to another host, or to another user
   * whose processes are hidden. A zombie is not alive.
   */
  public Optional<Boolean> alive() {
    if (!host.equals(localHost())) {
      return Optional.empty();
    }
    Optional<ProcessHandle> process = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    if (process.isEmpty() && isHidden()) {
      return Optional.empty();
    }
    // Java reports a process as alive whose parent has not waited for it yet.
    boolean zombie = ProcessTable.read(pid).filter(ProcessTable.Entry::dead).isPresent();
    return Optional.of(process.filter(this::startedWithIt).isPresent() && !zombie);
  }

  /**
   * Returns whether a process with this pid may exist although /proc does not show it, as on hosts
   * that mount /proc with {@code hidepid} (proc(5)).
   */
  private boolean isHidden() {
    if (Files.isReadable(Path.of("/proc/1/stat")) || Files.notExists(Path.of("/proc/self"))) {
      return false;
    }
    Command kill =
        new Command(
            List.of("/bin/sh", "-c", "kill -0 " + pid),
            Map.of("LC_ALL", "C"),
            Path.of("/"),
            Duration.ofSeconds(5));
    try {
      // kill(2) fails with EPERM for another user's process, and with ESRCH if there is none.
      return !new CommandRunner().run(kill).err().contains("No such process");
    } catch (IOException noShell) {
      return true;
    }
  }

  /**
   * Two JVMs may compute start times that differ by a second: each adds clock ticks to its own
   * estimate of the boot time.
   */
  private boolean startedWithIt(ProcessHandle process) {
    return Duration.between(start(process), started).abs().compareTo(TOLERANCE) <= 0;
  }

  private static Instant start(ProcessHandle process) {
    Optional<Instant> at = process.info().startInstant();
    return at.isEmpty() ? Instant.EPOCH : Instant.ofEpochSecond(at.get().getEpochSecond());
  }

  /**
   * Returns this host's name, read from /proc. Does not ask the resolver first, which may be slow
   * or down.
   */
  public static String localHost() {
    try {
      return Files.readString(Path.of("/proc/sys/kernel/hostname"), ISO_8859_1).strip();
    } catch (IOException notLinux) {
      return localHostByAddress();
    }
  }

  private static String localHostByAddress() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException noName) {
      // The message is "NAME: Name or service not known": the name is known, its address is not.
      String message = noName.getMessage();
      return message == null ? "localhost" : message.split(":", 2)[0];
    }
  }
}
