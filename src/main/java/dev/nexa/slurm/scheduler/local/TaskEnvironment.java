package dev.nexa.slurm.scheduler.local;

import dev.nexa.slurm.units.IndexRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The environment of a batch script: what it was submitted with, and Slurm's variables (sbatch(1),
 * OUTPUT ENVIRONMENT VARIABLES; as seen on Slurm 22.05).
 */
final class TaskEnvironment {
  /** Ours: marks every process that the attempt starts. */
  static final String MARK = "NEXA_LOCAL_TASK";

  /** How the libraries of the GPUs' makers are told which to use. */
  private static final List<String> GPU_VARIABLES =
      List.of(
          "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK");

  private final Job job;
  private final Attempt attempt;
  private final int slot;
  private final Map<String, String> variables;

  /**
   * Begins with what the job was submitted with.
   *
   * @param slot which of the tasks that run at once this is, from 0: it decides on the GPUs
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
    String text = job.options().text(Option.ARRAY);
    int colon = text.indexOf(':');
    put("ARRAY_JOB_ID", job.id());
    put("ARRAY_TASK_ID", attempt.task());
    put("ARRAY_TASK_COUNT", tasks.indices().size());
    put("ARRAY_TASK_MIN", tasks.indices().get(0));
    put("ARRAY_TASK_MAX", tasks.indices().get(tasks.indices().size() - 1));
    // The first step in the text, whatever the indices are (_create_job_array in job_mgr.c).
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

  /** Variables that are there if an option was given. */
  private void optional() {
    Options options = job.options();
    options.get(Option.CPUS_PER_TASK).ifPresent(text -> put("CPUS_PER_TASK", text));
    options.get(Option.NTASKS_PER_NODE).ifPresent(text -> put("NTASKS_PER_NODE", text));
    options.get(Option.GPUS_PER_NODE).ifPresent(text -> put("GPUS_PER_NODE", text));
    options.get(Option.RESERVATION).ifPresent(text -> put("JOB_RESERVATION", text));
    options.get(Option.ACCOUNT).ifPresent(text -> put("JOB_ACCOUNT", text));
    put("JOB_QOS", options.get(Option.QOS).orElse("normal"));
    if (options.has(Option.OPEN_MODE)) {
      put("OPEN_MODE", job.append() ? "a" : "t");
    }
  }

  private void put(String name, Object value) {
    variables.put("SLURM_" + name, value.toString());
  }

  /** The folder, made if it is missing; /tmp if it can't be used (_make_tmpdir in task.c). */
  private static String temporary(String folder) {
    try {
      Files.createDirectories(Path.of(folder));
      return Files.isWritable(Path.of(folder)) ? folder : "/tmp";
    } catch (IOException unusable) {
      return "/tmp";
    }
  }
}
