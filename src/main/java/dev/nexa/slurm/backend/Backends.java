package dev.nexa.slurm.backend;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The backends that nexa-slurm has itself; {@link Plugins} finds the others. */
public final class Backends {
  private Backends() {}

  /** The backend of that name or short name. */
  public static Optional<Backend> builtIn(String name) {
    for (Backend backend : ServiceLoader.load(Backend.class)) {
      if (backend.name().equals(name) || backend.shortNames().contains(name)) {
        return Optional.of(backend);
      }
    }
    return Optional.empty();
  }

  static List<Backend> all() {
    List<Backend> all = new ArrayList<>();
    ServiceLoader.load(Backend.class).forEach(all::add);
    return all;
  }
}
