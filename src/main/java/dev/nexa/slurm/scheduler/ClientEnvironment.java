package dev.nexa.slurm.scheduler;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The environment that Slurm's clients and, through them, jobs get: an allow-list. SBATCH_*,
 * SACCT_* and SQUEUE_* variables would beat the script and our arguments (sbatch(1), INPUT
 * ENVIRONMENT VARIABLES), and sbatch's default {@code --export=ALL} would store every secret of the
 * login shell in slurmdbd.
 */
public final class ClientEnvironment {
  private static final Set<String> NAMES =
      Set.of(
          "PATH",
          "HOME",
          "USER",
          "LOGNAME",
          "SHELL",
          "LANG",
          "LC_CTYPE",
          "LD_LIBRARY_PATH",
          "MODULEPATH",
          "MODULESHOME",
          "MODULES_CMD",
          "LOADEDMODULES",
          "_LMFILES_",
          "BASH_ENV",
          "SLURM_CONF");
  private static final Set<String> PREFIXES = Set.of("LMOD_", "BASH_FUNC_module", "BASH_FUNC_ml");

  /** What only the client may see: a token here would let the job act as the user. */
  private static final Set<String> CLIENT_ONLY = Set.of("SLURM_JWT");

  private ClientEnvironment() {}

  /** What a job may inherit. */
  public static Map<String, String> forJobs(Map<String, String> all) {
    Map<String, String> kept = new TreeMap<>();
    for (Map.Entry<String, String> variable : all.entrySet()) {
      String name = variable.getKey();
      if (NAMES.contains(name) || hasPrefix(name)) {
        kept.put(name, variable.getValue());
      }
    }
    return kept;
  }

  /** What Slurm's clients get: the same and their own credentials. */
  public static Map<String, String> forClients(Map<String, String> all) {
    Map<String, String> kept = forJobs(all);
    for (String name : CLIENT_ONLY) {
      String value = all.get(name);
      if (value != null) {
        kept.put(name, value);
      }
    }
    return kept;
  }

  /** Whether the variable must be kept from the job. */
  public static boolean isClientOnly(String name) {
    return CLIENT_ONLY.contains(name);
  }

  private static boolean hasPrefix(String name) {
    for (String prefix : PREFIXES) {
      if (name.startsWith(prefix)) {
        return true;
      }
    }
    return false;
  }
}
