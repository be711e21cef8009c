package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.units.IndexRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The environment of a batch script: the variables of the submission, and Slurm's (sbatch(1),
 * OUTPUT ENVIRONMENT VARIABLES; compared with Slurm 22.05).
 */
final class TaskEnvironment {
  /** Our variable that marks every process of the attempt. */
  static final String MARK = "NEXA_LOCAL_TASK";

  /** Our variable that names the file by which the attempt asks to be requeued. */
  static final String AGAIN = "NEXA_LOCAL_REQUEUE";

  /** Variables by which GPU vendors' libraries select GPUs. */
  private static final List<String> GPU_VARIABLES =
      List.of(
          "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK");

  private final Job job;
  private final Attempt attempt;
  private final int slot;
  private final Map<String, String> variables;

  /**
   * Creates an environment with the variables of the submission.
   *
   * @param slot number of this task among those that run at once, from 0; it selects the GPUs
   */
  TaskEnvironment(Job job, Attempt attempt, int slot) {
    this.job = job;
    this.attempt = attempt;
    this.slot = slot;
    this.variables = new TreeMap<>(job.submission().environment());
  }

  Map<String, String> variables(String mark) {
    identity();
    if (job.isArray()) {
      array();
    }
    node();
    resources();
    optional();
    variables.put("ENVIRONMENT", "BATCH");
    variables.put("HOSTNAME", job.submission().host());
    variables.put("TMPDIR", temporary(variables.getOrDefault("TMPDIR", "/tmp")));
    variables.put(MARK, mark);
    return variables;
  }

  private void identity() {
    put("JOB_ID", attempt.raw());
    put("JOBID", attempt.raw());
    put("JOB_NAME", job.name());
    put("JOB_PARTITION", job.partition());
    put("JOB_USER", job.submission().user().name());
    put("JOB_UID", job.submission().user().uid());
    put("JOB_GID", job.submission().user().gid());
    put("CLUSTER_NAME", LocalScheduler.CLUSTER);
    put("SUBMIT_DIR", job.directory());
    put("SUBMIT_HOST", job.submission().host());
    if (attempt.restart() > 0) {
      put("RESTART_COUNT", attempt.restart());
    }
  }

  private void array() {
    IndexRange tasks = job.tasks();
    String text = job.options().text(SbatchOption.ARRAY);
    int colon = text.indexOf(':');
    put("ARRAY_JOB_ID", job.id());
    put("ARRAY_TASK_ID", attempt.task());
    put("ARRAY_TASK_COUNT", tasks.indices().size());
    put("ARRAY_TASK_MIN", tasks.indices().get(0));
    put("ARRAY_TASK_MAX", tasks.indices().get(tasks.indices().size() - 1));
    // Slurm prints the first step of the text (_create_job_array in job_mgr.c).
    put("ARRAY_TASK_STEP", colon < 0 ? "1" : text.substring(colon + 1).split("\\D", 2)[0]);
  }

  private void node() {
    String host = job.submission().host();
    put("JOB_NODELIST", host);
    put("NODELIST", host);
    put("JOB_NUM_NODES", 1);
    put("NNODES", 1);
    put("NODEID", 0);
    put("LOCALID", 0);
    put("PROCID", 0);
    put("GTIDS", 0);
    put("PRIO_PROCESS", 0);
    variables.put("SLURMD_NODENAME", host);
  }

  private void resources() {
    Resources given = job.resources();
    put("CPUS_ON_NODE", given.cpus());
    put("JOB_CPUS_PER_NODE", given.cpus());
    put("TASKS_PER_NODE", given.tasks());
    given.memoryMib().ifPresent(mib -> put("MEM_PER_NODE", mib));
    if (given.tasksGiven()) {
      put("NTASKS", given.tasks());
      put("NPROCS", given.tasks());
    }
    if (given.gpus() > 0) {
      int first = slot * given.gpus();
      String gpus =
          IntStream.range(first, first + given.gpus())
              .mapToObj(Integer::toString)
              .collect(Collectors.joining(","));
      put("GPUS_ON_NODE", given.gpus());
      put("JOB_GPUS", gpus);
      for (String variable : GPU_VARIABLES) {
        variables.put(variable, gpus);
      }
    }
  }

  /** Adds the variables that Slurm sets only if an option is given. */
  private void optional() {
    OptionReader options = job.options();
    options.get(SbatchOption.CPUS_PER_TASK).ifPresent(text -> put("CPUS_PER_TASK", text));
    options.get(SbatchOption.NTASKS_PER_NODE).ifPresent(text -> put("NTASKS_PER_NODE", text));
    options.get(SbatchOption.GPUS_PER_NODE).ifPresent(text -> put("GPUS_PER_NODE", text));
    options.get(SbatchOption.RESERVATION).ifPresent(text -> put("JOB_RESERVATION", text));
    options.get(SbatchOption.ACCOUNT).ifPresent(text -> put("JOB_ACCOUNT", text));
    put("JOB_QOS", options.get(SbatchOption.QOS).orElse("normal"));
    if (options.has(SbatchOption.OPEN_MODE)) {
      put("OPEN_MODE", job.append() ? "a" : "t");
    }
  }

  private void put(String name, Object value) {
    variables.put("SLURM_" + name, value.toString());
  }

  /**
   * Returns the folder, after creating it if necessary; /tmp if it cannot be used (_make_tmpdir in
   * task.c).
   */
  private static String temporary(String folder) {
    try {
      Files.createDirectories(Path.of(folder));
      return Files.isWritable(Path.of(folder)) ? folder : "/tmp";
    } catch (IOException unusable) {
      return "/tmp";
    }
  }
}
