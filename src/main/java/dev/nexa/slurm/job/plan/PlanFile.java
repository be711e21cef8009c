package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.site.Energy;
import dev.nexa.slurm.job.config.site.Health;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * {@code plan.json}: the stored plan of a run. No other class knows its keys. Its bytes are signed
 * with an approval, so they change for all runs or for none.
 *
 * @param json the document itself; changes of it change this plan
 */
public record PlanFile(JsonObject json) {
  /** The beginning of the tag that holds the run's name. */
  public static final String NAME_TAG = "experiment:";

  private static final int NEWEST = 1;
  private static final String CODE = "code";
  private static final String VERSION = "nexa_slurm_version";
  private static final String PROGRAM = "program";
  private static final String NOTIFY = "notify";

  /** The document of a plan that is about to be kept. */
  public static PlanFile of(Plan plan) {
    JsonObject json = whatRuns(plan);
    if (plan.payload().code().isPresent()) {
      json.with(CODE, plan.payload().code().get().toJson());
    }
    if (!plan.supervision().channels().isEmpty()) {
      json.with(NOTIFY, NotifyChannel.toJson(plan.supervision().channels()));
    }
    return new PlanFile(
        json.withOptional("monitor_seconds", plan.supervision().monitor().map(Duration::toSeconds))
            .withOptional("partition_reason", plan.shape().partitionReason()));
  }

  /**
   * Reads a file that was kept.
   *
   * @param file its name, for the error
   * @throws NexaException if a newer nexa-slurm wrote it
   */
  public static PlanFile parse(String text, String file) {
    return new PlanFile(SchemaVersion.parse(text, file, NEWEST));
  }

  /** Adds the config's name and what the job runs: the digest of the script and its files. */
  public PlanFile rendered(String config, String scriptDigest, Optional<String> servedModel) {
    json.with("config", config)
        .with("script_digest", scriptDigest)
        .withOptional("served_model", servedModel);
    return this;
  }

  /** Adds how long a server may take until it is ready. */
  public PlanFile readyWithin(Duration time) {
    json.with("ready_within_seconds", time.toSeconds());
    return this;
  }

  /** Adds the plugin that the backend is from. */
  public PlanFile plugin(JsonObject plugin) {
    json.with("plugin", plugin);
    return this;
  }

  /** Adds Slurm's default account, where the plan names none and budgets need to know it. */
  public PlanFile chargedTo(String account) {
    json.with("charged_account", account);
    return this;
  }

  /** Adds a tag that is not part of what an approver signs. */
  public PlanFile tagged(String tag) {
    List<String> tags = new ArrayList<>(tags());
    tags.add(tag);
    json.with("tags", tags);
    return this;
  }

  /** Adds the version of the nexa-slurm that submits the run. No approval covers it. */
  public PlanFile submittedBy(String version) {
    json.with(VERSION, version);
    return this;
  }

  /** Returns the version that submitted the run; empty in plans of before it was kept. */
  public Optional<String> programVersion() {
    return json.optionalText(VERSION);
  }

  /** Adds the run that this run repeats. */
  public PlanFile rerunOf(String run) {
    json.with("rerun_of", run);
    return this;
  }

  /** Returns a copy of this plan for some of its tasks, with one link of the chain. */
  public PlanFile once(int tasks) {
    return new PlanFile(new JsonObject().with(json).with("tasks", tasks).with("chain", 1));
  }

  /** The digest of the script and its files; empty in a plan that was not rendered. */
  public Optional<String> scriptDigest() {
    return json.optionalText("script_digest");
  }

  /** The packed working tree: its digest and facts for people; empty if the run has none. */
  public Optional<JsonObject> code() {
    return json.optionalObject(CODE);
  }

  /** The SHA-256 of the packed working tree; empty if the run has none. */
  public Optional<String> codeDigest() {
    Optional<JsonObject> code = code();
    return code.isPresent() ? Optional.of(code.get().text("sha256")) : Optional.empty();
  }

  /** The digests of our own program's files, by name; empty if the job does not run it. */
  public Map<String, String> programFiles() {
    Optional<JsonObject> program = json.optionalObject(PROGRAM);
    Map<String, String> digests = new TreeMap<>();
    if (program.isPresent()) {
      JsonObject files = program.get().object("files");
      files.members().keySet().forEach(name -> digests.put(name, files.text(name)));
    }
    return digests;
  }

  /** The SHA-256 of our own program's jar; empty if the job does not run it. */
  public Optional<String> programDigest() {
    Optional<JsonObject> program = json.optionalObject(PROGRAM);
    return program.isPresent() ? Optional.of(program.get().text("sha256")) : Optional.empty();
  }

  /** Returns the step of a data stage, such as {@code gate}; empty for other runs. */
  public Optional<String> dataStep() {
    return json.optionalObject("data").map(data -> data.text("step"));
  }

  /** Returns where notifications about the run go, besides the policy's channels. */
  public List<NotifyChannel> channels() {
    Optional<JsonObject> channels = json.optionalObject(NOTIFY);
    return channels.isPresent() ? NotifyChannel.parse(channels.get()) : List.of();
  }

  /** The memory that is asked for on each node, in bytes; 0 for all of it, or for none. */
  public long askedMemoryBytes() {
    return json.object("allocation").number("memory_bytes");
  }

  /** The run's name, else its stage. */
  public String title() {
    return json.text("title");
  }

  /** The config file, as the submitter named it. */
  public String config() {
    return json.text("config");
  }

  public String stage() {
    return json.text("stage");
  }

  /** Empty in plans of before it was kept. */
  public Optional<String> backend() {
    return json.optionalText("backend");
  }

  /** The profile's name. */
  public String cluster() {
    return json.text("cluster");
  }

  /** {@code slurm} or {@code local}. */
  public String scheduler() {
    return json.text("scheduler");
  }

  /** Returns whether the run is for this machine without Slurm. */
  public boolean isLocal() {
    return scheduler().equals(ClusterProfile.LOCAL);
  }

  public Optional<String> model() {
    return json.optionalText("model");
  }

  /** Returns whether the run trains a model, as far as its plan tells. */
  public boolean trains() {
    Set<String> keys =
        json.optionalObject("training").orElseGet(JsonObject::new).members().keySet();
    return stage().equals("train") || keys.contains("lr") || keys.contains("epochs");
  }

  /** The config's {@code model_size}, as it was written. */
  public Optional<String> modelSize() {
    Optional<JsonObject> training = json.optionalObject("training");
    return training.isPresent() ? training.get().optionalText("model_size") : Optional.empty();
  }

  public Optional<String> dataset() {
    return json.optionalText("dataset");
  }

  /** Returns the run's name, from its tags; empty if its config gives none. */
  public static Optional<String> name(List<String> tags) {
    for (String tag : tags) {
      if (tag.startsWith(NAME_TAG)) {
        return Optional.of(tag.substring(NAME_TAG.length()));
      }
    }
    return Optional.empty();
  }

  public List<String> tags() {
    return json.texts("tags");
  }

  /** For people: {@code 4x h100}. */
  public String hardware() {
    return json.text("hardware");
  }

  /** How many array tasks; 1 for a single job. */
  public int tasks() {
    return (int) json.number("tasks");
  }

  /** One more than the highest index of one array; empty in plans of before it was kept. */
  public Optional<Integer> maxArraySize() {
    return whole(json, "max_array_size");
  }

  /** How many indices the tasks run, several in each; empty if each task is one. */
  public Optional<Integer> packed() {
    Optional<JsonObject> pack = json.optionalObject("pack");
    return pack.isPresent() ? whole(pack.get(), "shards") : Optional.empty();
  }

  /** How many tasks may run at once; empty for all. */
  public Optional<Integer> maxParallel() {
    return whole(json, "max_parallel");
  }

  /** Processes of a distributed launch of one task, on all nodes; 0 if a task is one process. */
  public long ranks() {
    return json.number("ranks_per_node") * nodes();
  }

  /** How often Slurm may run a task again. */
  public int requeues() {
    return (int) json.number("requeues");
  }

  /** The most that the attempts after the first are charged for; empty unless they grow. */
  public List<AttemptSize> grown() {
    return json.members().containsKey(AttemptSize.KEY) ? AttemptSize.of(json) : List.of();
  }

  /** How many jobs follow each other; 1 in plans of earlier versions without the key. */
  public int chain() {
    return whole(json, "chain").orElse(1);
  }

  /** The nodes of one job. */
  public int nodes() {
    return (int) json.object("allocation").number("nodes");
  }

  public Duration timeLimit() {
    return Duration.ofSeconds(json.object("allocation").number("time_limit_seconds"));
  }

  /** Returns an option of sbatch; empty if the plan does not set it. */
  public Optional<String> option(ResourceOption option) {
    return json.object("allocation").optionalText(option.key());
  }

  /** The GPU type that the plan asks for; empty for a job on CPUs. */
  public Optional<String> allocatedGpuType() {
    return json.object("allocation").optionalText("gpu_type");
  }

  /** Whether a job has its nodes to itself. */
  public boolean exclusive() {
    return json.object("allocation").flag("exclusive");
  }

  /** Whether it is charged for whole nodes; in plans of before it was kept, only if it asked. */
  public boolean wholeNodes() {
    JsonObject billed = json.object("billed");
    return exclusive()
        || (billed.members().containsKey("whole_nodes") && billed.flag("whole_nodes"));
  }

  /** The account that is charged: the plan's, or Slurm's default one where it was asked. */
  public Optional<String> account() {
    Optional<String> named = option(ResourceOption.ACCOUNT);
    return named.isPresent() ? named : json.optionalText("charged_account");
  }

  /** GPUs that a task is charged for, over all its nodes. */
  public long gpus() {
    return json.object("billed").number("gpus");
  }

  /** The type of these GPUs; empty for none, and where it is not known. */
  public Optional<String> gpuType() {
    return json.object("billed").optionalText("gpu_type");
  }

  /** The GPUs that a task is charged for, by type; {@code unknown} if the type is unknown. */
  public Map<String, Long> gpusByType() {
    return gpus() == 0 ? Map.of() : Map.of(gpuType().orElse("unknown"), gpus());
  }

  /** CPUs that a task is charged for, over all its nodes. */
  public long cpus() {
    return json.object("billed").number("cpus");
  }

  /** Memory that a task is charged for, over all its nodes. */
  public long memoryBytes() {
    return json.object("billed").number("memory_bytes");
  }

  /**
   * Returns the most tokens of a paid API that the run may use, all its tasks and attempts
   * together; empty if it uses none.
   */
  public Optional<ApiTokens> apiTokens() {
    Optional<JsonObject> data = json.optionalObject("data");
    return data.isPresent() ? ApiTokens.limit(data.get().object("settings")) : Optional.empty();
  }

  /** The longest time that an attempt can hold its allocation. */
  public Duration longestAttempt() {
    return timeLimit()
        .plusSeconds(json.number("over_time_limit_seconds"))
        .plusSeconds(json.number("kill_wait_seconds"))
        .plusSeconds(Plan.MARGIN_SECONDS);
  }

  /** After which Slurm's clients give up on an answer. */
  public Duration messageTimeout() {
    return Duration.ofSeconds(json.number("message_timeout_seconds"));
  }

  /** Returns the keys that each task of a sweep sets; empty for other runs. */
  public List<JsonObject> points() {
    return json.members().containsKey("points") ? json.objects("points") : List.of();
  }

  /** Returns the folder on the durable tier that holds the run's output, as {@link Plan} does. */
  public String outputs() {
    return Plan.outputs(stage());
  }

  /** The storage tiers. */
  public Storage storage() {
    JsonObject tiers = json.object("storage");
    return new Storage(
        tiers.text("scratch"),
        tiers.text("durable"),
        tiers.text("shared"),
        whole(tiers, "retention_days"));
  }

  /** Returns the cluster's energy factors; empty if the profile has none. */
  public Optional<Energy> energy() {
    Optional<JsonObject> kept = json.optionalObject("energy");
    return kept.isPresent() ? Optional.of(Codec.read(kept.get(), Energy.class)) : Optional.empty();
  }

  /** The model that the run serves; empty for a run that serves none. */
  public Optional<String> servedModel() {
    return json.optionalText("served_model");
  }

  /** How long a server may take until it is ready; empty where the plan does not say. */
  public Optional<Duration> readyWithin() {
    Optional<Integer> seconds = whole(json, "ready_within_seconds");
    return seconds.isPresent() ? Optional.of(Duration.ofSeconds(seconds.get())) : Optional.empty();
  }

  /**
   * Returns the part that the plan's digest covers: all but the reason for its partition, how often
   * it is sampled, and the commit and branch of its code.
   */
  static JsonObject whatRuns(Plan plan) {
    JsonObject json =
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with("stage", plan.stage())
            .with("title", plan.title())
            .with("backend", plan.backend())
            .with("cluster", plan.site().cluster())
            .with("scheduler", plan.site().scheduler())
            .with("accelerator", plan.site().accelerator())
            .withOptional("model", plan.model())
            .withOptional("dataset", plan.inputs().dataset())
            .with("tags", plan.allTags())
            .with("hardware", hardware(plan))
            .with("training", plan.trainingJson())
            .with("allocation", allocation(plan.allocation()))
            .with("billed", billed(plan.billed()))
            .with("ranks_per_node", plan.shape().ranksPerNode())
            .with("tasks", plan.tasks())
            .withOptional("indices", plan.shape().array().indices())
            .with("max_array_size", plan.site().maxArraySize())
            .withOptional("max_parallel", plan.shape().array().maxParallel())
            .with("requeues", plan.supervision().requeues())
            .with("chain", plan.shape().array().chain())
            .with(
                "warn_before_end_seconds",
                plan.supervision().warnBeforeEnd().orElse(Duration.ZERO).toSeconds())
            .with("storage", tiers(plan.site().storage()))
            .with("software", loaded(plan.environment().software()))
            .with("env", values(new TreeMap<>(plan.environment().env())))
            .withOptional("env_file", plan.environment().envFile())
            .with("debug", plan.environment().debug())
            .with("options", plan.options())
            .withOptional("run", plan.payload().run())
            .with("files", fileDigests(plan.payload()))
            .with("over_time_limit_seconds", plan.site().overTimeLimit().toSeconds())
            .with("kill_wait_seconds", plan.site().killWait().toSeconds())
            .with("message_timeout_seconds", plan.site().messageTimeout().toSeconds());
    if (plan.payload().entrypoint().isPresent()) {
      json.with("entrypoint", entrypoint(plan.payload().entrypoint().get()));
    }
    if (!plan.shape().array().points().isEmpty()) {
      json.with("points", plan.shape().array().points());
    }
    if (!plan.shape().groups().isEmpty()) {
      List<JsonObject> groups = new ArrayList<>();
      for (JobGroup group : plan.shape().groups()) {
        groups.add(whatRuns(group.plan()).with("group", group.name()));
      }
      json.with("groups", groups);
    }
    if (plan.shape().array().pack().isPresent()) {
      json.with("pack", Codec.write(plan.shape().array().pack().get()));
    }
    if (plan.supervision().requeues() > 0) {
      json.with("retry_on", plan.supervision().retryOn());
    }
    if (!plan.shape().grown().isEmpty()) {
      AttemptSize.addTo(json, plan.shape().grown());
    }
    if (plan.supervision().watchdog().isPresent()) {
      json.with("watchdog_seconds", plan.supervision().watchdog().get().toSeconds());
    }
    if (plan.supervision().copyCheckpoints().isPresent()) {
      json.with("copy_checkpoints_seconds", plan.supervision().copyCheckpoints().get().toSeconds());
    }
    if (plan.payload().optionsFile().isPresent()) {
      json.with("options_file", plan.payload().optionsFile().get().digest());
    }
    if (plan.payload().code().isPresent()) {
      json.with(CODE, plan.payload().code().get().whatRuns());
    }
    if (!plan.inputs().after().isEmpty()) {
      json.with("after", after(plan.inputs().after()));
    }
    if (plan.payload().program().isPresent()) {
      json.with(PROGRAM, plan.payload().program().get().toJson());
    }
    if (plan.payload().data().isPresent()) {
      json.with("data", Codec.write(plan.payload().data().get()));
    }
    if (plan.payload().sync().isPresent()) {
      json.with("sync", plan.payload().sync().get().toJson(plan.site().storage()));
    }
    json.withOptional("workdir", plan.environment().workdir());
    if (plan.supervision().mail().isPresent()) {
      json.with("mail", Codec.write(plan.supervision().mail().get()));
    }
    if (!plan.inputs().datasets().isEmpty()) {
      json.with("datasets", datasets(plan.inputs()));
    }
    if (plan.site().energy().isPresent()) {
      json.with("energy", Codec.write(plan.site().energy().get()));
    }
    if (plan.site().health().isPresent()) {
      json.with("health", checked(plan.site().health().get()));
    }
    if (!plan.inputs().serving().loraAdapters().isEmpty()) {
      json.with("lora_adapters", values(new TreeMap<>(plan.inputs().serving().loraAdapters())));
    }
    return plan.notes().isEmpty() ? json : json.with("notes", plan.notes());
  }

  private static String hardware(Plan plan) {
    List<String> each = new ArrayList<>();
    plan.each().forEach(group -> each.add(group.allocation().hardware()));
    return String.join(" + ", each);
  }

  /** Returns the plan of each group of a heterogeneous job, by task; empty for any other. */
  public List<PlanFile> groups() {
    return json.members().containsKey("groups")
        ? json.objects("groups").stream().map(PlanFile::new).toList()
        : List.of();
  }

  /** Returns the names of the groups, by task; empty if the job has none. */
  public List<String> groupNames() {
    return groups().stream().map(group -> group.json.text("group")).toList();
  }

  /** Returns the name of the group that a task is; empty if the job has no groups. */
  public Optional<String> group(int task) {
    List<String> names = groupNames();
    return names.isEmpty() ? Optional.empty() : Optional.of(names.get(task));
  }

  private static List<JsonObject> datasets(Inputs inputs) {
    List<JsonObject> datasets = new ArrayList<>();
    for (DatasetVersion version : inputs.datasets()) {
      datasets.add(version.planned(inputs.datasetChecksums()));
    }
    return datasets;
  }

  /** Returns the versions of datasets that the job checks, as {@code name@version}. */
  public List<String> datasetVersions() {
    List<String> versions = new ArrayList<>();
    if (json.members().containsKey("datasets")) {
      json.objects("datasets").forEach(dataset -> versions.add(dataset.text("dataset")));
    }
    return versions;
  }

  /**
   * Returns the paths that the run reads, in the form of the config. They are its dataset, its
   * model, the files of its data step, the folder that it copies to S3, and the paths in a sweep's
   * points. Some are names on a hub.
   */
  public List<String> readPaths() {
    List<String> paths = new ArrayList<>();
    addPaths(json.object("training"), paths);
    points().forEach(point -> addPaths(point, paths));
    Optional<JsonObject> data = json.optionalObject("data");
    if (data.isPresent()) {
      List<String> words = data.get().texts("words");
      for (int i = 0; i + 1 < words.size(); i += 2) {
        if (!words.get(i).equals("--cache")) {
          paths.add(storage().written(words.get(i + 1)));
        }
      }
    }
    Optional<JsonObject> sync = json.optionalObject("sync");
    if (sync.isPresent()) {
      paths.add(storage().written(sync.get().text("from")));
    }
    return paths;
  }

  private void addPaths(JsonObject keys, List<String> paths) {
    for (String key : List.of("dataset_path", "model_name", "teacher_model")) {
      if (keys.members().get(key) instanceof String path) {
        paths.add(storage().written(path));
      }
    }
  }

  private static JsonObject after(Map<String, PipelineConfig.Condition> after) {
    JsonObject json = new JsonObject();
    after.forEach((stage, condition) -> json.with(stage, condition.text()));
    return json;
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
    JsonObject json = new JsonObject().with("nodes", allocation.nodes());
    if (allocation.fewestNodes() != allocation.nodes()) {
      json.with("fewest_nodes", allocation.fewestNodes());
    }
    json.with("gpus_per_node", allocation.gpusPerNode())
        .withOptional("gpu_type", allocation.gpuType())
        .with("cpus_per_task", allocation.cpusPerTask())
        .with("memory_bytes", Math.max(0, allocation.memoryBytes()))
        .with("time_limit", TimeLimit.format(allocation.timeLimit()))
        .with("time_limit_seconds", allocation.timeLimit().toSeconds());
    for (ResourceOption option : ResourceOption.values()) {
      json.withOptional(option.key(), allocation.option(option));
    }
    return json.with("exclusive", allocation.exclusive());
  }

  private static JsonObject billed(BilledResources billed) {
    JsonObject json =
        new JsonObject()
            .with("cpus", billed.cpus())
            .with("memory_bytes", billed.memoryBytes())
            .with("gpus", billed.gpus())
            .withOptional("gpu_type", billed.gpuType());
    return billed.whole() ? json.with("whole_nodes", true) : json;
  }

  private static JsonObject tiers(Storage tiers) {
    return new JsonObject()
        .with("scratch", tiers.scratch())
        .with("durable", tiers.durable())
        .with("shared", tiers.shared())
        .withOptional("retention_days", tiers.retentionDays());
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

  private static JsonObject fileDigests(Payload payload) {
    JsonObject digests = new JsonObject();
    for (RunnerFile file : payload.files()) {
      digests.with(file.name(), file.digest());
    }
    return digests;
  }

  private static Optional<Integer> whole(JsonObject json, String key) {
    Optional<BigDecimal> number = json.optionalDecimal(key);
    return number.isPresent() ? Optional.of(number.get().intValueExact()) : Optional.empty();
  }

  static JsonObject values(Map<String, ?> map) {
    JsonObject json = new JsonObject();
    for (Map.Entry<String, ?> entry : map.entrySet()) {
      json.with(entry.getKey(), entry.getValue());
    }
    return json;
  }
}
