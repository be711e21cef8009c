package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.plan.Plan;
import java.util.List;

/**
 * Turns a plan into the command that a job runs.
 *
 * <p>Backends are found with {@link java.util.ServiceLoader}: the built-in ones on the class path,
 * others in the jars of the workspace's {@code plugins/} (docs/plugins.md).
 *
 * <p>A plugin may use this interface, {@link Launch}, {@link Plan} and the types of their methods,
 * and {@link dev.nexa.slurm.job.config.yaml.ConfigException} to refuse a config. All other classes
 * may change. An implementation is a public class with a public constructor without parameters.
 */
public interface Backend {

  /**
   * Returns the name that a config gives: letters, digits, '.', '_' and '-'. It must be unique
   * among all backends.
   */
  String name();

  /** Returns other names of this backend; each must be unique too. */
  default List<String> shortNames() {
    return List.of();
  }

  /**
   * Returns the command to run. Reads only the plan, so that a plan always gives the same script.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if the config lacks a key that this backend
   *     needs
   */
  Launch launch(Plan plan);
}
