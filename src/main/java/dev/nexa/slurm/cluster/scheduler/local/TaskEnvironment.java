package dev.nexa.slurm.cluster.scheduler.local;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
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

  /** Our variable that names the file by which the attempt asks to be requeued. */
  static final String AGAIN = "NEXA_LOCAL_REQUEUE";

  private static final Path SELF = Path.of("/proc/self");

  /** Variables that Slurm sets only if the option is given. */
  private static final Map<String, SbatchOption> OPTIONS =
      Map.of(
          "CPUS_PER_TASK", SbatchOption.CPUS_PER_TASK,
          "NTASKS_PER_NODE", SbatchOption.NTASKS_PER_NODE,
          "NTASKS", SbatchOption.NTASKS_PER_NODE,
          "NPROCS", SbatchOption.NTASKS_PER_NODE,
          "JOB_RESERVATION", SbatchOption.RESERVATION,
          "JOB_ACCOUNT", SbatchOption.ACCOUNT);

  private final Job job;
  private final Map<String, String> variables;

  private TaskEnvironment(Job job) {
    this.job = job;
    this.variables = new TreeMap<>(job.submission().environment());
  }

  /** Returns the variables of an attempt, without our own. */
  static Map<String, String> of(Job job, Attempt attempt) {
    TaskEnvironment environment = new TaskEnvironment(job);
    environment.identity(attempt);
    if (job.isArray()) {
      environment.array(attempt.task());
    }
    environment.node();
    environment.resources();
    return environment.variables;
  }

  /** Returns the login name of the user whose jobs these are. */
  static String user() {
    return System.getProperty("user.name", "");
  }

  private void identity(Attempt attempt) {
    put("JOB_ID", attempt.raw());
    put("JOBID", attempt.raw());
    put("JOB_NAME", job.name());
    put("JOB_PARTITION", job.partition());
    put("JOB_QOS", job.option(SbatchOption.QOS, "normal"));
    put("JOB_USER", user());
    put("JOB_UID", id("unix:uid"));
    put("JOB_GID", id("unix:gid"));
    put("CLUSTER_NAME", LocalScheduler.CLUSTER);
    put("SUBMIT_DIR", job.submission().directory());
    put("SUBMIT_HOST", job.submission().host());
    if (attempt.restart() > 0) {
      put("RESTART_COUNT", attempt.restart());
    }
    if (job.options().containsKey(SbatchOption.OPEN_MODE)) {
      put("OPEN_MODE", job.append() ? "a" : "t");
    }
  }

  /** Java has no user ids, but the owner of /proc/self has. */
  private static Object id(String attribute) {
    try {
      return Files.getAttribute(SELF, attribute);
    } catch (IOException failed) {
      throw DurableFiles.failure("read the owner of", SELF, failed);
    }
  }

  private void array(int task) {
    List<Integer> tasks = job.tasks().indices();
    String text = job.option(SbatchOption.ARRAY, "");
    int colon = text.indexOf(':');
    put("ARRAY_JOB_ID", job.id());
    put("ARRAY_TASK_ID", task);
    put("ARRAY_TASK_COUNT", tasks.size());
    put("ARRAY_TASK_MIN", tasks.get(0));
    put("ARRAY_TASK_MAX", tasks.get(tasks.size() - 1));
    // Slurm prints the first step of the text (_create_job_array in job_mgr.c).
    put("ARRAY_TASK_STEP", colon < 0 ? "1" : text.substring(colon + 1).split("\\D", 2)[0]);
  }

  private void node() {
    String host = job.submission().host();
    for (String name : List.of("NODEID", "LOCALID", "PROCID", "GTIDS", "PRIO_PROCESS")) {
      put(name, 0);
    }
    put("JOB_NODELIST", host);
    put("NODELIST", host);
    put("JOB_NUM_NODES", 1);
    put("NNODES", 1);
    variables.put("SLURMD_NODENAME", host);
    variables.put("HOSTNAME", host);
    variables.put("ENVIRONMENT", "BATCH");
    variables.put("TMPDIR", "/tmp");
  }

  private void resources() {
    Resources given = job.resources();
    put("CPUS_ON_NODE", given.cpus());
    put("JOB_CPUS_PER_NODE", given.cpus());
    put("TASKS_PER_NODE", given.tasks());
    given.memoryMib().ifPresent(mib -> put("MEM_PER_NODE", mib));
    OPTIONS.forEach(
        (name, option) -> {
          if (job.options().containsKey(option)) {
            put(name, job.option(option, ""));
          }
        });
  }

  private void put(String name, Object value) {
    variables.put("SLURM_" + name, value.toString());
  }
}
