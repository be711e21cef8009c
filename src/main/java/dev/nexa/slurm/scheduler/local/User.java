package dev.nexa.slurm.scheduler.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whom a job belongs to. */
record User(String name, long uid, long gid) {

  /** Who we are: Java does not say, but a process's own folder in /proc does. */
  static User current() {
    Path self = Path.of("/proc/self");
    return new User(
        System.getProperty("user.name", ""), id(self, "unix:uid"), id(self, "unix:gid"));
  }

  /** Who owns a file. */
  static long owner(Path file) {
    return id(file, "unix:uid");
  }

  private static long id(Path file, String attribute) {
    try {
      return ((Number) Files.getAttribute(file, attribute)).longValue();
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read the owner of " + file, failed);
    }
  }
}
