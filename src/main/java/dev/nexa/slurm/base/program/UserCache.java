package dev.nexa.slurm.base.program;

import java.nio.file.Path;

/** The folder where this user's commands keep files that they can make again. */
public final class UserCache {
  private UserCache() {}

  /** Returns the folder: {@code nexa-slurm} below XDG_CACHE_HOME, else below ~/.cache. */
  public static Path folder() {
    String cache = System.getenv().getOrDefault("XDG_CACHE_HOME", "");
    Path caches =
        cache.isEmpty() ? Path.of(System.getProperty("user.home", "/"), ".cache") : Path.of(cache);
    return caches.resolve("nexa-slurm");
  }
}
