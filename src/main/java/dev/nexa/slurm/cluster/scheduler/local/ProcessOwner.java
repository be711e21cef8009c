package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.process.ProcessIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Identifies a process permanently in one line of text. The start time is in clock ticks since
 * boot. A wall-clock time would differ between two readers after the clock was set, and a living
 * runner must never count as dead.
 *
 * @param host the host's name
 * @param boot the kernel's id of this boot
 * @param space the process id namespace, because two containers may have the same host name
 * @param pid the process id
 * @param startTicks start in clock ticks since boot; -1 if it could not be read
 */
record ProcessOwner(String host, String boot, String space, long pid, long startTicks) {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final Path SPACE = Path.of("/proc/self/ns/pid");

  /** Read once, because the host's name may change while we run, and the lookup may be slow. */
  private static final String HOST = ProcessIdentity.localHost();

  static ProcessOwner ofThisProcess() {
    return of(ProcessHandle.current().pid());
  }

  /** Returns the identity of a process that lives or has just ended. */
  static ProcessOwner of(long pid) {
    long start = ProcessTable.read(pid).map(ProcessTable.Entry::startTicks).orElse(-1L);
    return new ProcessOwner(HOST, bootId(), ourSpace(), pid, start);
  }

  private static String bootId() {
    try {
      return Files.readString(BOOT_ID).strip();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + BOOT_ID, failed);
    }
  }

  private static String ourSpace() {
    try {
      return Files.readSymbolicLink(SPACE).toString();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + SPACE, failed);
    }
  }

  /** Returns one line without a newline. */
  String line() {
    return String.join(" ", host, boot, space, Long.toString(pid), Long.toString(startTicks));
  }

  /** Reads the beginning of a line; empty if it has another form. */
  static Optional<ProcessOwner> parse(String line) {
    String[] word = line.strip().split(" ", -1);
    if (word.length < 5 || !word[3].matches("\\d{1,18}") || !word[4].matches("-?\\d{1,18}")) {
      return Optional.empty();
    }
    long pid = Long.parseLong(word[3]);
    return Optional.of(new ProcessOwner(word[0], word[1], word[2], pid, Long.parseLong(word[4])));
  }

  /** Returns whether the process lives; empty if this cannot be determined from here. */
  Optional<Boolean> alive() {
    if (!host.equals(HOST)) {
      return Optional.empty();
    }
    if (!boot.equals(bootId())) {
      return Optional.of(false);
    }
    if (!space.equals(ourSpace())) {
      return Optional.empty();
    }
    Optional<ProcessTable.Entry> entry = ProcessTable.read(pid);
    return Optional.of(
        entry.isPresent() && !entry.get().dead() && entry.get().startTicks() == startTicks);
  }
}
