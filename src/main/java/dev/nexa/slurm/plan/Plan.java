package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile.Storage;
import dev.nexa.slurm.config.Health;
import dev.nexa.slurm.config.RunConfig.Entrypoint;
import dev.nexa.slurm.config.Serving;
import dev.nexa.slurm.config.Software;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A run with everything resolved: nothing after this reads a config again. A plugin may read it
 * (docs/plugins.md); only nexa-slurm makes one.
 *
 * @param written where the config's keys stand
 * @param partitionReason why its partition, one sentence; empty where that is left to Slurm
 * @param ranksPerNode processes of a distributed launch on each node; 0 where the task is one
 *     process
 * @param tasks how many array tasks; 1 for a single job
 * @param requeues how often Slurm may run a task again
 * @param warnBeforeEnd how long before its time limit a task is told to save
 * @param billed what a task is charged for
 * @param files files that were named by the config, kept with the run
 * @param health what a node is checked for before it joins
 * @param overTimeLimit how long Slurm lets a job run over its limit
 * @param killWait between SIGTERM and SIGKILL
 * @param messageTimeout after which Slurm's clients give up on an answer
 */
public record Plan(
    Written written,
    String stage,
    String title,
    String backend,
    String cluster,
    String scheduler,
    String accelerator,
    Training training,
    Serving serving,
    Optional<String> dataset,
    List<String> tags,
    Allocation allocation,
    Optional<String> partitionReason,
    int ranksPerNode,
    Billed billed,
    int tasks,
    Optional<Integer> maxParallel,
    int requeues,
    Optional<Duration> warnBeforeEnd,
    Storage storage,
    Software software,
    Map<String, String> env,
    Optional<String> envFile,
    boolean debug,
    JsonObject options,
    Optional<Health> health,
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    List<RunnerFile> files,
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout) {

  /** The file it came from, as told to people. */
  public String config() {
    return written.file();
  }

  /** The model's name, which the seeds keep under {@code model_name}. */
  public Optional<String> model() {
    return training.text("model_name");
  }

  /**
   * The tags of the manifest: the backend as the user wrote it, the stage, the experiment, then the
   * user's own.
   */
  public List<String> allTags() {
    List<String> all = new ArrayList<>();
    all.add("backend:" + backend);
    all.add(stage);
    if (!title.equals(stage)) {
      all.add("experiment:" + title);
    }
    for (String tag : tags) {
      if (!all.contains(tag)) {
        all.add(tag);
      }
    }
    return List.copyOf(all);
  }

  /** Text for a program that reads no shell variables: the storage tiers are written out. */
  public String atTiers(String text) {
    return text.replace("${scratch}", storage.scratch())
        .replace("${durable}", storage.durable())
        .replace("${shared}", storage.shared());
  }

  /** The longest one attempt can hold its allocation: a minute on top was seen to be needed. */
  public Duration longestAttempt() {
    return allocation.timeLimit().plus(overTimeLimit).plus(killWait).plusSeconds(60);
  }

  /**
   * SHA-256 of what the plan says, wherever its file lies and whatever other partitions there are.
   */
  public String digest() {
    return Sha256.of(whatRuns().toString());
  }

  /** The plan as plan.json keeps it. */
  public JsonObject toJson() {
    return whatRuns().withOptional("partition_reason", partitionReason);
  }

  private JsonObject whatRuns() {
    JsonObject json =
        new JsonObject()
            .with("schema_version", 1)
            .with("stage", stage)
            .with("title", title)
            .with("backend", backend)
            .with("cluster", cluster)
            .with("scheduler", scheduler)
            .with("accelerator", accelerator)
            .withOptional("model", model())
            .withOptional("dataset", dataset)
            .with("tags", allTags())
            .with("hardware", allocation.hardware())
            .with("training", trainingJson())
            .with("allocation", allocation(allocation))
            .with("billed", billed(billed))
            .with("ranks_per_node", ranksPerNode)
            .with("tasks", tasks)
            .withOptional("max_parallel", maxParallel)
            .with("requeues", requeues)
            .with("warn_before_end_seconds", warnBeforeEnd.orElse(Duration.ZERO).toSeconds())
            .with("storage", tiers(storage))
            .with("software", loaded(software))
            .with("env", values(new TreeMap<>(env)))
            .withOptional("env_file", envFile)
            .with("debug", debug)
            .with("options", options)
            .withOptional("run", run)
            .with("files", fileDigests())
            .with("over_time_limit_seconds", overTimeLimit.toSeconds())
            .with("kill_wait_seconds", killWait.toSeconds())
            .with("message_timeout_seconds", messageTimeout.toSeconds());
    entrypoint.ifPresent(
        started ->
            json.with(
                "entrypoint",
                new JsonObject()
                    .withOptional("script", started.script())
                    .withOptional("module", started.module())
                    .with("args", started.args())));
    health.ifPresent(check -> json.with("health", checked(check)));
    if (!serving.loraAdapters().isEmpty()) {
      json.with("lora_adapters", values(new TreeMap<>(serving.loraAdapters())));
    }
    return json;
  }

  private static JsonObject allocation(Allocation allocation) {
    return new JsonObject()
        .with("nodes", allocation.nodes())
        .with("gpus_per_node", allocation.gpusPerNode())
        .withOptional("gpu_type", allocation.gpuType())
        .with("cpus_per_task", allocation.cpusPerTask())
        .with("memory_bytes", allocation.memoryBytes())
        .with("time_limit", TimeLimit.format(allocation.timeLimit()))
        .with("time_limit_seconds", allocation.timeLimit().toSeconds())
        .withOptional("partition", allocation.partition())
        .withOptional("account", allocation.account())
        .withOptional("qos", allocation.qos())
        .withOptional("constraint", allocation.constraint())
        .withOptional("reservation", allocation.reservation())
        .withOptional("nodelist", allocation.nodelist())
        .with("exclusive", allocation.exclusive());
  }

  private static JsonObject billed(Billed billed) {
    return new JsonObject()
        .with("cpus", billed.cpus())
        .with("memory_bytes", billed.memoryBytes())
        .with("gpus", billed.gpus())
        .withOptional("gpu_type", billed.gpuType());
  }

  private static JsonObject tiers(Storage tiers) {
    return new JsonObject()
        .with("scratch", tiers.scratch())
        .with("durable", tiers.durable())
        .with("shared", tiers.shared());
  }

  private static JsonObject loaded(Software loaded) {
    return new JsonObject()
        .with("modules", loaded.modules())
        .withOptional("venv", loaded.venv())
        .withOptional("conda", loaded.conda())
        .withOptional("uv", loaded.uv())
        .withOptional("container", loaded.container())
        .withOptional("container_runtime", loaded.containerRuntime())
        .with("mounts", loaded.mounts());
  }

  private static JsonObject checked(Health health) {
    return new JsonObject()
        .with("scratch_free_bytes", health.scratchFreeBytes())
        .withOptional("min_driver", health.minDriver())
        .withOptional("interface", health.networkInterface())
        .with("all_reduce", health.allReduce());
  }

  private JsonObject fileDigests() {
    JsonObject digests = new JsonObject();
    for (RunnerFile file : files) {
      digests.with(file.name(), file.digest());
    }
    return digests;
  }

  /** The training keys as the runner's config file, and as plan.json keeps them. */
  public JsonObject trainingJson() {
    return values(training.given());
  }

  private static JsonObject values(Map<String, ?> map) {
    JsonObject json = new JsonObject();
    for (Map.Entry<String, ?> entry : map.entrySet()) {
      json.with(entry.getKey(), entry.getValue());
    }
    return json;
  }
}
