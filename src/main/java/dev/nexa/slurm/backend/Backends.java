package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The backends that nexa-slurm has itself; {@link Plugins} finds the others. */
public final class Backends {
  private Backends() {}

  /** What a plan starts, at each point of its sweep if it has one. */
  public static Launch launch(Plan plan, Backend backend) {
    return plan.points().isEmpty() ? backend.launch(plan) : SweepLaunch.of(plan, backend);
  }

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
