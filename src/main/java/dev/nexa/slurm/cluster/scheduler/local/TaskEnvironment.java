package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.IndexRange;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The environment of a batch script: the variables of the submission, and Slurm's (sbatch(1),
 * OUTPUT ENVIRONMENT VARIABLES; compared with Slurm 22.05).
 */
final class TaskEnvironment {
  /** Our variable that marks every process of the attempt. */
  static final String MARK = "NEXA_LOCAL_TASK";

  /** Our variable with the path of a file. An attempt that asks for a requeue makes this file. */
  static final String AGAIN = "NEXA_LOCAL_REQUEUE";

  private static final Path SELF = Path.of("/proc/self");

  private final Job job;
  private final Map<String, String> variables;

  private TaskEnvironment(Job job) {
    this.job = job;
    this.variables = new TreeMap<>(job.submission().environment());
  }

  /** Returns the variables of an attempt, without our own. */
  static Map<String, String> of(Job job, Attempt attempt) {
    TaskEnvironment environment = new TaskEnvironment(job);
    environment.put(attempt);
    if (job.isArray()) {
      environment.putArray(attempt.task());
    }
    environment.putNode();
    return environment.variables;
  }

  /** Returns the login name of the user whose jobs these are. */
  static String user() {
    return System.getProperty("user.name", "");
  }

  private void put(Attempt attempt) {
    put(attempt.raw(), "JOB_ID", "JOBID");
    put(job.name(), "JOB_NAME");
    put(job.partition(), "JOB_PARTITION");
    put(job.option("qos", "normal"), "JOB_QOS");
    put(user(), "JOB_USER");
    put(id("unix:uid"), "JOB_UID");
    put(id("unix:gid"), "JOB_GID");
    put(LocalScheduler.CLUSTER, "CLUSTER_NAME");
    put(job.submission().directory(), "SUBMIT_DIR");
    if (attempt.restart() > 0) {
      put(attempt.restart(), "RESTART_COUNT");
    }
    if (job.options().containsKey("open-mode")) {
      put(job.append() ? "a" : "t", "OPEN_MODE");
    }
  }

  /** Java has no user ids, but the owner of /proc/self has. */
  private static Object id(String attribute) {
    return DurableFiles.attempt(
        "read the owner of", SELF, () -> Files.getAttribute(SELF, attribute));
  }

  private void putArray(int task) {
    List<Integer> tasks = job.tasks().indices();
    put(job.id(), "ARRAY_JOB_ID");
    put(task, "ARRAY_TASK_ID");
    put(tasks.size(), "ARRAY_TASK_COUNT");
    put(tasks.get(0), "ARRAY_TASK_MIN");
    put(tasks.get(tasks.size() - 1), "ARRAY_TASK_MAX");
    // Slurm prints the first step of the text (_create_job_array in job_mgr.c).
    put(IndexRange.step(job.option("array", "")), "ARRAY_TASK_STEP");
  }

  private void putNode() {
    String host = job.submission().host();
    put(0, "NODEID", "LOCALID", "PROCID", "GTIDS", "PRIO_PROCESS");
    put(1, "JOB_NUM_NODES", "NNODES");
    put(host, "JOB_NODELIST", "NODELIST", "SUBMIT_HOST");
    variables.putAll(
        Map.of(
            "SLURMD_NODENAME", host, "HOSTNAME", host, "ENVIRONMENT", "BATCH", "TMPDIR", "/tmp"));
    Job.Resources given = job.resources();
    put(given.cpus(), "CPUS_ON_NODE", "JOB_CPUS_PER_NODE");
    put(given.tasks(), "TASKS_PER_NODE");
    given.memoryMib().ifPresent(mib -> put(mib, "MEM_PER_NODE"));
    putGiven("cpus-per-task", "CPUS_PER_TASK");
    putGiven("ntasks-per-node", "NTASKS_PER_NODE", "NTASKS", "NPROCS");
    putGiven("reservation", "JOB_RESERVATION");
    putGiven("account", "JOB_ACCOUNT");
  }

  /** Sets variables that Slurm sets only if the option is given. */
  private void putGiven(String option, String... names) {
    job.value(option).ifPresent(value -> put(value, names));
  }

  private void put(Object value, String... names) {
    for (String name : names) {
      variables.put("SLURM_" + name, value.toString());
    }
  }
}
