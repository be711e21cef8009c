package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/** The built-in backends. {@link Plugins} finds the others. */
public final class Backends {
  private Backends() {}

  /**
   * Returns the launch of a plan, or one launch for all points of its sweep. Notes the training
   * keys that change nothing that runs.
   *
   * @throws dev.nexa.slurm.job.config.yaml.ConfigException if the environment or the entrypoint
   *     contradicts the plan
   */
  public static Launch launch(Plan plan, Backend backend) {
    if (!plan.environment().env().isEmpty() || plan.payload().entrypoint().isPresent()) {
      List<Problem> problems = new ArrayList<>();
      PlanDecides decides = new PlanDecides(plan, problems);
      decides.env();
      if (plan.payload().entrypoint().isPresent()) {
        decides.entrypoint(plan.payload().entrypoint().get());
      }
      Problem.throwIfAny(problems);
    }
    Launch launch =
        plan.shape().array().points().isEmpty()
            ? backend.launch(plan)
            : SweepLaunch.of(plan, backend);
    requireNoProcesses(plan, launch);
    if (backend instanceof Plugin || plan.training().given().isEmpty()) {
      return launch;
    }
    List<String> notes = new ArrayList<>(launch.notes());
    notes.addAll(UnreadKeys.notes(plan, backend));
    return launch.noting(notes);
  }

  /** Throws if the config counts processes, and the template starts them itself. */
  private static void requireNoProcesses(Plan plan, Launch launch) {
    boolean once = launch.template().equals(Launch.TASK) && !plan.isPythonAlone();
    if (once || !plan.allocation().hasProcesses()) {
      return;
    }
    String key = "resources.nodes";
    for (ResourceOption option : plan.allocation().options().keySet()) {
      key = option.countsProcesses() ? "resources." + option.key() : key;
    }
    throw plan.written()
        .error(
            key,
            "is for scripts that call srun; backend "
                + plan.backend()
                + " starts its processes itself, by nodes: N and gpus_per_node: N");
  }

  /** Returns the built-in backend with that name or short name; empty if there is none. */
  public static Optional<Backend> builtIn(String name) {
    for (Backend backend : ServiceLoader.load(Backend.class)) {
      if (backend.name().equals(name) || backend.shortNames().contains(name)) {
        return Optional.of(backend);
      }
    }
    return Optional.empty();
  }

  /** Returns the names of the built-in backends. */
  public static List<String> names() {
    return all().stream().map(Backend::name).toList();
  }

  static List<Backend> all() {
    List<Backend> all = new ArrayList<>();
    ServiceLoader.load(Backend.class).forEach(all::add);
    return all;
  }
}
