package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.base.files.Sha256;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Replaces what can't be equal on two schedulers: ids, hosts, times, folders. */
final class Normal {
  /**
   * Variables that only one of the schedulers sets, on purpose: they name the cluster's own daemons
   * and files, or what its admin configured (the default memory); and ours marks processes.
   */
  static final Set<String> ONE_SIDED =
      Set.of(
          "SLURM_CONF",
          "SLURM_WORKING_CLUSTER",
          "SLURM_TOPOLOGY_ADDR",
          "SLURM_TOPOLOGY_ADDR_PATTERN",
          "SLURM_NODE_ALIASES",
          "SLURM_MEM_PER_CPU",
          "NEXA_LOCAL_TASK",
          "NEXA_LOCAL_REQUEUE");

  /** Variables that Slurm 24.11 sets, and neither 22.05 nor the local scheduler. */
  private static final Set<String> NEWER =
      Set.of(
          "HYDRA_BOOTSTRAP",
          "HYDRA_LAUNCHER_EXTRA_ARGS",
          "I_MPI_HYDRA_BOOTSTRAP",
          "I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS",
          "OMPI_MCA_plm_slurm_args",
          "PRTE_MCA_plm_slurm_args",
          "SLURM_JOB_START_TIME",
          "SLURM_JOB_END_TIME",
          "SLURM_OOM_KILL_STEP",
          "SLURM_TRES_PER_TASK");

  private static final Map<String, String> REPLACED =
      Map.ofEntries(
          Map.entry("SLURM_JOB_ID", "<id>"),
          Map.entry("SLURM_JOBID", "<id>"),
          Map.entry("SLURM_ARRAY_JOB_ID", "<id>"),
          Map.entry("SLURM_TASK_PID", "<pid>"),
          Map.entry("SLURM_CLUSTER_NAME", "<cluster>"),
          Map.entry("SLURM_JOB_NODELIST", "<host>"),
          Map.entry("SLURM_NODELIST", "<host>"),
          Map.entry("SLURMD_NODENAME", "<host>"),
          Map.entry("SLURM_SUBMIT_HOST", "<host>"),
          Map.entry("HOSTNAME", "<host>"),
          // Where sbatch was called; the local scheduler takes the job's folder.
          Map.entry("SLURM_SUBMIT_DIR", "<dir>"));

  private final String folder;
  private final Set<String> ids = new HashSet<>();
  private final boolean environment;

  Normal(Path folder, List<AccountingRecord> rows, boolean environment) {
    this.folder = folder.toString();
    this.environment = environment;
    for (AccountingRecord row : rows) {
      ids.add(Long.toString(row.arrayJobId()));
      ids.add(Long.toString(row.rawJobId()));
    }
  }

  /** A file's name; its parts are separated by dashes and dots. */
  String name(String name) {
    StringBuilder text = new StringBuilder();
    for (String part : name.split("(?<=[-.])|(?=[-.])", -1)) {
      text.append(ids.contains(part) ? "<id>" : part);
    }
    return text.toString();
  }

  String text(String text) {
    return environment ? variables(text) : shortened(lines(text));
  }

  private static String shortened(String text) {
    int kept = 2000;
    return text.length() <= kept
        ? text
        : Sha256.of(text)
            + " of "
            + text.length()
            + " characters\n"
            + text.substring(text.length() - kept);
  }

  private String lines(String text) {
    StringBuilder lines = new StringBuilder();
    for (String line : text.split("(?<=\n)", -1)) {
      lines.append(line(line));
    }
    return lines.toString();
  }

  private String line(String line) {
    return line.replace(folder, "<dir>")
        .replaceAll("/[^ ]*/slurm_script", "<script>")
        .replaceAll("slurmstepd-[^ ]+: ", "slurmstepd: ")
        .replaceAll(
            "JOB \\d+ ON \\S+ CANCELLED AT [-0-9T:]+", "JOB <id> ON <host> CANCELLED AT <time>")
        .replaceAll("(line \\d+:) +\\d+ (Killed|Terminated) +", "$1 <pid> $2 ")
        // Bash says so of a child only where it outlives it.
        .replaceAll("^Terminated\n$", "");
  }

  private String variables(String text) {
    Map<String, String> values = new TreeMap<>();
    for (String entry : Arrays.asList(text.split("\0", -1))) {
      String name = entry.split("=", 2)[0];
      if (!entry.isEmpty() && !ONE_SIDED.contains(name) && !NEWER.contains(name)) {
        values.put(
            name, REPLACED.getOrDefault(name, lines(entry.substring(entry.indexOf('=') + 1))));
      }
    }
    return values.toString().replace(", ", "\n");
  }
}
