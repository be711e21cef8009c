package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.Plan;
import java.util.List;

/**
 * Turns a plan into what is started inside the allocation. Found through {@link
 * java.util.ServiceLoader}: ours on the class path, others in the jars of the workspace's {@code
 * plugins/} (docs/plugins.md).
 *
 * <p>A plugin may use this interface, {@link Launch}, {@link Plan} and the types of their methods,
 * and {@link dev.nexa.slurm.config.ConfigException} to refuse a config. Nothing else is promised to
 * stay as it is. An implementation is public, with a public constructor without parameters.
 */
public interface Backend {

  /** The name a config gives: letters, digits, '.', '_' and '-'; no other backend may have it. */
  String name();

  /** Other names for the same. */
  default List<String> shortNames() {
    return List.of();
  }

  /**
   * What to start. Reads nothing but the plan, so that one plan gives one script.
   *
   * @throws dev.nexa.slurm.error.NexaException if the config lacks what this backend needs
   */
  Launch launch(Plan plan);
}
