package dev.nexa.slurm.process;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Names one process for good: a pid alone is given again.
 *
 * @param host the host it runs on
 * @param pid its process id
 * @param started when it started, truncated to seconds; {@link Instant#EPOCH} if the system does
 *     not say
 */
public record ProcessIdentity(String host, long pid, Instant started) {
  private static final Duration TOLERANCE = Duration.ofSeconds(2);

  public static ProcessIdentity of(ProcessHandle process) {
    return new ProcessIdentity(localHost(), process.pid(), start(process));
  }

  public static ProcessIdentity ofThisProcess() {
    return of(ProcessHandle.current());
  }

  /** Whether the process lives; empty if that can't be told from this host. */
  public Optional<Boolean> alive() {
    if (!host.equals(localHost())) {
      return Optional.empty();
    }
    Optional<ProcessHandle> process = ProcessHandle.of(pid).filter(ProcessHandle::isAlive);
    return Optional.of(process.filter(this::startedWithIt).isPresent() && !zombie());
  }

  /** Whether it ended and nobody waited for it yet, of which Java says that it lives. */
  private boolean zombie() {
    try {
      String stat = Files.readString(Path.of("/proc/" + pid + "/stat"), ISO_8859_1);
      return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
    } catch (IOException noSuchProcess) {
      return false;
    }
  }

  /**
   * Two JVMs may differ by a second: each adds clock ticks to a boot time that it works out itself.
   */
  private boolean startedWithIt(ProcessHandle process) {
    return Duration.between(start(process), started).abs().compareTo(TOLERANCE) <= 0;
  }

  private static Instant start(ProcessHandle process) {
    Optional<Instant> at = process.info().startInstant();
    return at.isEmpty() ? Instant.EPOCH : Instant.ofEpochSecond(at.get().getEpochSecond());
  }

  /** This host's name; not asked of the resolver, which may be slow, or down. */
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
