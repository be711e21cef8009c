package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/**
 * {@code backend: diag}: checks each node of the job with the rows of templates/lib/diag_checks.sh.
 */
public final class DiagBackend implements Backend {
  /** The levels: seconds, or minutes with bandwidths. */
  public static final List<String> LEVELS = List.of("quick", "full");

  /** The key of {@code options}. */
  private static final String LEVEL = "level";

  @Override
  public String name() {
    return Plan.DIAG;
  }

  @Override
  public Launch launch(Plan plan) {
    for (String key : plan.options().members().keySet()) {
      if (!key.equals(LEVEL)) {
        throw plan.written()
            .error("options." + key, "unknown key" + Nearest.hint(key, List.of(LEVEL)));
      }
    }
    Object level = plan.options().members().getOrDefault(LEVEL, LEVELS.get(0));
    if (!LEVELS.contains(level)) {
      throw plan.written().error("options.level", "expected quick or full, got " + level);
    }
    List<String> command = new ArrayList<>(List.of("env"));
    plan.site()
        .health()
        .ifPresent(
            health -> health.variables().forEach((name, value) -> command.add(name + "=" + value)));
    // The others are plugins of Slurm, not programs of the node.
    plan.environment()
        .software()
        .runtime()
        .filter(List.of("apptainer", "singularity")::contains)
        .ifPresent(name -> command.add("NEXA_DIAG_CONTAINER=" + name));
    command.addAll(List.of("bash", "${run_dir}/runner/diag.sh", "job", level.toString()));
    command.add("" + plan.allocation().gpusPerNode());
    return new Launch(Launch.TASK, command, List.of());
  }
}
