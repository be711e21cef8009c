package dev.nexa.slurm.cluster.scheduler.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The owner of a job.
 *
 * @param name the login name
 * @param uid the user id
 * @param gid the group id
 */
record JobUser(String name, long uid, long gid) {

  /** Returns the user of this process. Java has no user ids, but the owner of /proc/self does. */
  static JobUser current() {
    Path self = Path.of("/proc/self");
    return new JobUser(
        System.getProperty("user.name", ""), id(self, "unix:uid"), id(self, "unix:gid"));
  }

  /** Returns the user id of a file's owner. */
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
