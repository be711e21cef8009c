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
 */
record Owner(String host, String boot, long pid, long startTicks) {
  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

  static Owner ofThisProcess() {
    return of(ProcessHandle.current().pid());
  }

  /** A process that lives, or just did. */
  static Owner of(long pid) {
    long start = ProcessTable.read(pid).map(ProcessTable.Entry::startTicks).orElse(-1L);
    return new Owner(ProcessIdentity.localHost(), bootId(), pid, start);
  }

  private static String bootId() {
    try {
      return Files.readString(BOOT_ID).strip();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + BOOT_ID, failed);
    }
  }

  /** One line without a newline. */
  String line() {
    return host + " " + boot + " " + pid + " " + startTicks;
  }

  /** Reads the beginning of a line; empty if it is none of ours. */
  static Optional<Owner> parse(String line) {
    String[] word = line.strip().split(" ", -1);
    if (word.length < 4 || !word[2].matches("\\d{1,18}") || !word[3].matches("-?\\d{1,18}")) {
      return Optional.empty();
    }
    return Optional.of(
        new Owner(word[0], word[1], Long.parseLong(word[2]), Long.parseLong(word[3])));
  }

  /** Whether it surely is no more. Of another host's processes nothing is sure. */
  boolean dead() {
    if (!host.equals(ProcessIdentity.localHost())) {
      return false;
    }
    if (!boot.equals(bootId())) {
      return true;
    }
    Optional<ProcessTable.Entry> entry = ProcessTable.read(pid);
    return entry.isEmpty() || entry.get().dead() || entry.get().startTicks() != startTicks;
  }

  /** For {@link dev.nexa.slurm.files.FileLock}: a text that names nobody is not known dead. */
  static boolean dead(String line) {
    return parse(line).map(Owner::dead).orElse(false);
  }
}
