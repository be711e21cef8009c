package dev.nexa.slurm.plan;

import dev.nexa.slurm.config.ClusterProfile.Storage;
import dev.nexa.slurm.config.Energy;
import dev.nexa.slurm.config.Health;
import dev.nexa.slurm.config.RunConfig.Entrypoint;
import dev.nexa.slurm.config.RunConfig.Mail;
import dev.nexa.slurm.config.Serving;
import dev.nexa.slurm.config.Software;
import dev.nexa.slurm.config.Sweep;
import dev.nexa.slurm.config.Training;
import dev.nexa.slurm.config.Workload;
import dev.nexa.slurm.config.Written;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.Sha256;
import dev.nexa.slurm.units.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A run with everything resolved: nothing after this reads a config again. A plugin may read it
 * (docs/plugins.md); only nexa-slurm makes one.
 *
 * @param written where the config's keys stand
 * @param partitionReason why its partition, one sentence; empty where that is left to Slurm
 * @param ranksPerNode processes of a distributed launch on each node; 0 where the task is one
 *     process
 * @param tasks how many array tasks; 1 for a single job
 * @param maxArraySize one more than the highest index of one array on the cluster
 * @param points of a sweep: what each task sets, training keys and {@code options.NAME}; empty
 *     where there is none
 * @param requeues how often Slurm may run a task again
 * @param chain how many jobs follow each other, each with all tasks
 * @param warnBeforeEnd how long before its time limit a task is told to save
 * @param workload what only estimates read; no part of the digest, because nothing runs otherwise
 * @param billed what a task is charged for
 * @param workdir where the command starts; empty for the template's own choice
 * @param setup whether there is a {@link #SETUP} that the job runs first
 * @param files files that were named by the config, kept with the run
 * @param health what a node is checked for before it joins
 * @param energy what the cluster's energy means
 * @param overTimeLimit how long Slurm lets a job run over its limit
 * @param killWait between SIGTERM and SIGKILL
 * @param messageTimeout after which Slurm's clients give up on an answer
 * @param notes what the person should know of how the config was read
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
    Optional<Workload> workload,
    Optional<String> dataset,
    List<String> tags,
    Allocation allocation,
    Optional<String> partitionReason,
    int ranksPerNode,
    Billed billed,
    int tasks,
    int maxArraySize,
    Optional<Integer> maxParallel,
    List<JsonObject> points,
    int requeues,
    int chain,
    Optional<Duration> warnBeforeEnd,
    Storage storage,
    Software software,
    Map<String, String> env,
    Optional<String> envFile,
    boolean debug,
    JsonObject options,
    Optional<Health> health,
    Optional<Energy> energy,
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    Optional<String> workdir,
    boolean setup,
    Optional<Mail> mail,
    List<RunnerFile> files,
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout,
    List<String> notes) {

  /** The file that {@code setup} is kept in. */
  public static final String SETUP = "setup.sh";

  /** The plan as it is for one task of a sweep. */
  public Plan at(int task) {
    Map<String, Object> given = new LinkedHashMap<>(training.given());
    JsonObject own = options;
    for (Map.Entry<String, @Nullable Object> set : points.get(task).members().entrySet()) {
      if (set.getKey().startsWith(Sweep.OPTIONS)) {
        String path = set.getKey().substring(Sweep.OPTIONS.length());
        own = with(own, path.split("\\.", -1), 0, set.getValue());
      } else {
        given.put(set.getKey(), Objects.requireNonNull(set.getValue()));
      }
    }
    return new Plan(
        written.ofPoint(task),
        stage,
        title,
        backend,
        cluster,
        scheduler,
        accelerator,
        new Training(given),
        serving,
        workload,
        dataset,
        tags,
        allocation,
        partitionReason,
        ranksPerNode,
        billed,
        tasks,
        maxArraySize,
        maxParallel,
        points,
        requeues,
        chain,
        warnBeforeEnd,
        storage,
        software,
        env,
        envFile,
        debug,
        own,
        health,
        energy,
        run,
        entrypoint,
        workdir,
        setup,
        mail,
        files,
        overTimeLimit,
        killWait,
        messageTimeout,
        notes);
  }

  /** A copy in which what the path leads to is the value. */
  private static JsonObject with(JsonObject old, String[] path, int at, @Nullable Object value) {
    JsonObject copy = new JsonObject();
    old.members().forEach(copy::with);
    boolean last = at == path.length - 1;
    JsonObject below = old.optionalObject(path[at]).orElseGet(JsonObject::new);
    return copy.with(path[at], last ? value : with(below, path, at + 1, value));
  }

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

  /** The most attempts of one task: each link of the chain may be queued again. */
  public int attempts() {
    return chain * (1 + requeues);
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
            .with("max_array_size", maxArraySize)
            .withOptional("max_parallel", maxParallel)
            .with("requeues", requeues)
            .with("chain", chain)
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
    if (entrypoint.isPresent()) {
      json.with("entrypoint", entrypoint(entrypoint.get()));
    }
    if (!points.isEmpty()) {
      json.with("points", points);
    }
    json.withOptional("workdir", workdir);
    if (mail.isPresent()) {
      Mail told = mail.get();
      json.with("mail", new JsonObject().with("user", told.user()).with("type", told.type()));
    }
    if (energy.isPresent()) {
      json.with("energy", energy(energy.get()));
    }
    if (health.isPresent()) {
      json.with("health", checked(health.get()));
    }
    if (!serving.loraAdapters().isEmpty()) {
      json.with("lora_adapters", values(new TreeMap<>(serving.loraAdapters())));
    }
    return notes.isEmpty() ? json : json.with("notes", notes);
  }

  private static JsonObject entrypoint(Entrypoint started) {
    JsonObject json =
        new JsonObject()
            .withOptional("script", started.script())
            .withOptional("module", started.module())
            .with("args", started.args());
    if (!started.config()) {
      json.with("config", false);
    }
    json.withOptional("launcher", started.launcher());
    return started.launcherArgs().isEmpty()
        ? json
        : json.with("launcher_args", started.launcherArgs());
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
        .with("shared", tiers.shared())
        .withOptional("retention_days", tiers.retentionDays());
  }

  private static JsonObject energy(Energy energy) {
    JsonObject watts = new JsonObject();
    energy.gpuWatts().forEach(watts::with);
    return new JsonObject()
        .with("co2e_grams_per_kwh", energy.co2eGramsPerKwh())
        .with("pue", energy.pue())
        .with("gpu_watts", watts)
        .with("source", energy.source());
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
