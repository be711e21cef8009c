package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.error.Nearest;
import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;

/** The backends on the class path. */
public final class Backends {
  private Backends() {}

  /** What a plan starts, at each point of its sweep if it has one. */
  public static Launch launch(Plan plan) {
    Backend backend = named(plan.backend(), plan.written());
    return plan.points().isEmpty() ? backend.launch(plan) : SweepLaunch.of(plan, backend);
  }

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
