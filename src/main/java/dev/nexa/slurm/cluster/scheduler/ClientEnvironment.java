package dev.nexa.slurm.cluster.scheduler;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * The environment variables that Slurm's commands, and the jobs they submit, may inherit: an
 * allow-list.
 *
 * <p>It leaves out SBATCH_* variables, which override the script's options (sbatch(1), INPUT
 * ENVIRONMENT VARIABLES), and SACCT_* and SQUEUE_* variables, which change what these commands
 * print. With all variables, sbatch's default {@code --export=ALL} would store every secret of the
 * login shell in slurmdbd.
 */
public final class ClientEnvironment {
  private static final Set<String> NAMES =
      Set.of(
          ("PATH HOME USER LOGNAME SHELL LANG LC_CTYPE LD_LIBRARY_PATH MODULEPATH"
                  + " MODULESHOME MODULES_CMD LOADEDMODULES _LMFILES_ BASH_ENV SLURM_CONF")
              .split(" ", -1));
  private static final Set<String> PREFIXES = Set.of("LMOD_", "BASH_FUNC_module", "BASH_FUNC_ml");

  /** Variables for Slurm's commands only. A job that inherited this token could act as the user. */
  private static final Set<String> CLIENT_ONLY = Set.of("SLURM_JWT");

  private ClientEnvironment() {}

  /** Returns the variables that a job may inherit, sorted by name. */
  public static Map<String, String> forJobs(Map<String, String> all) {
    return only(all, ClientEnvironment::isForJobs);
  }

  /**
   * Returns the variables for Slurm's commands: the variables of {@link #forJobs} and the user's
   * credentials.
   */
  public static Map<String, String> forClients(Map<String, String> all) {
    return only(all, name -> isForJobs(name) || isClientOnly(name));
  }

  /** Returns whether the variable must not reach a job. */
  public static boolean isClientOnly(String name) {
    return CLIENT_ONLY.contains(name);
  }

  private static Map<String, String> only(Map<String, String> all, Predicate<String> wanted) {
    Map<String, String> kept = new TreeMap<>(all);
    kept.keySet().removeIf(wanted.negate());
    return kept;
  }

  private static boolean isForJobs(String name) {
    return NAMES.contains(name) || PREFIXES.stream().anyMatch(name::startsWith);
  }
}
