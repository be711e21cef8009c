package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.Plan;
import java.util.List;

/**
 * Turns a plan into what is started inside the allocation. Found through {@link
 * java.util.ServiceLoader}.
 */
public interface Backend {

  /** The name a config gives. */
  String name();

  /** Other names for the same. */
  default List<String> shortNames() {
    return List.of();
  }

  /**
   * What to start.
   *
   * @throws dev.nexa.slurm.error.NexaException if the config lacks what this backend needs
   */
  Launch launch(Plan plan);
}
