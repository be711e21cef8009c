package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.process.ProcessIdentity;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A process named for good in one line of text. Its start is in clock ticks since this boot: a
 * start in seconds of the day differs between two readers when the clock was set in between, and a
 * living supervisor must never be taken for dead.
 *
 * @param boot the kernel's id of this boot
 * @param space the process id namespace: two containers may have one host name
 */
record Owner(String host, String boot, String space, long pid, long startTicks) {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final Path SPACE = Path.of("/proc/self/ns/pid");

  /** Asked once: a host may be given another name while we run, and the answer may be slow. */
  private static final String HOST = ProcessIdentity.localHost();

  static Owner ofThisProcess() {
    return of(ProcessHandle.current().pid());
  }

  /** A process that lives, or just did. */
  static Owner of(long pid) {
    long start = ProcessTable.read(pid).map(ProcessTable.Entry::startTicks).orElse(-1L);
    return new Owner(HOST, bootId(), ourSpace(), pid, start);
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

  /** One line without a newline. */
  String line() {
    return String.join(" ", host, boot, space, Long.toString(pid), Long.toString(startTicks));
  }

  /** Reads the beginning of a line; empty if it is none of ours. */
  static Optional<Owner> parse(String line) {
    String[] word = line.strip().split(" ", -1);
    if (word.length < 5 || !word[3].matches("\\d{1,18}") || !word[4].matches("-?\\d{1,18}")) {
      return Optional.empty();
    }
    long pid = Long.parseLong(word[3]);
    return Optional.of(new Owner(word[0], word[1], word[2], pid, Long.parseLong(word[4])));
  }

  /** Whether it lives; empty if that can't be told from here. */
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
