package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.error.Nearest;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The backends on the class path. */
public final class Backends {
  private Backends() {}

  /** The backend of that name. */
  public static Backend named(String name, Written written) {
    List<String> names = new ArrayList<>();
    for (Backend backend : ServiceLoader.load(Backend.class)) {
      if (backend.name().equals(name) || backend.shortNames().contains(name)) {
        return backend;
      }
      names.add(backend.name());
    }
    throw new ConfigException(
        written.problem(
            "backend",
            "there is no backend '"
                + name
                + "'"
                + Nearest.hint(name, names)
                + "; there are "
                + String.join(", ", names)));
  }
}
