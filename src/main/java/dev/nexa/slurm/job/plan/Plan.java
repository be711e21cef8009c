package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.config.ApiTokens;
import dev.nexa.slurm.job.config.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.ConfigPositions;
import dev.nexa.slurm.job.config.DataStage;
import dev.nexa.slurm.job.config.DatasetVersion;
import dev.nexa.slurm.job.config.Energy;
import dev.nexa.slurm.job.config.Health;
import dev.nexa.slurm.job.config.NativeOptions;
import dev.nexa.slurm.job.config.NodeSharing;
import dev.nexa.slurm.job.config.NotifyChannel;
import dev.nexa.slurm.job.config.PipelineConfig;
import dev.nexa.slurm.job.config.RunConfig.Entrypoint;
import dev.nexa.slurm.job.config.RunConfig.Mail;
import dev.nexa.slurm.job.config.Serving;
import dev.nexa.slurm.job.config.Software;
import dev.nexa.slurm.job.config.Sweep;
import dev.nexa.slurm.job.config.SyncStage;
import dev.nexa.slurm.job.config.Training;
import dev.nexa.slurm.job.config.Workload;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run with everything resolved. After planning, no code reads the config again.
 *
 * <p>A plugin may read a plan (docs/plugins.md); only nexa-slurm makes one.
 *
 * @param written the positions of the config's keys
 * @param datasets the registered versions of the datasets that the run reads; empty unless the
 *     policy asks for them
 * @param datasetChecksums whether the job reads all bytes of these datasets before it starts
 * @param title the config's name, else its stage
 * @param cluster the name of the cluster profile
 * @param scheduler {@code slurm} or {@code local}
 * @param accelerator {@code cuda} or {@code cpu}
 * @param partitionReason why the partition was chosen, one sentence; empty if Slurm chooses
 * @param ranksPerNode processes of a distributed launch on each node; 0 if the task is one process
 * @param billed the most that Slurm gives to a task, which it is charged for
 * @param tasks the number of array tasks; 1 for a single job
 * @param maxArraySize the highest index of an array on the cluster, plus one
 * @param maxParallel the most tasks that run at the same time; empty for all
 * @param points the points of a sweep: training keys and {@code options.NAME} for each task; empty
 *     without a sweep
 * @param requeues how often Slurm may run a task again
 * @param retryOn which failures are retried, as often as {@code requeues} allows
 * @param watchdog a task without a sign of life for this long is ended; empty for never
 * @param monitor how often the nodes of a task are sampled; empty for never
 * @param chain the number of jobs that follow each other, each with all tasks
 * @param warnBeforeEnd how long before the time limit a task is told to save
 * @param copyCheckpoints checkpoints are written on scratch, and copied to durable storage this
 *     often; empty if they are written in durable storage
 * @param workload facts that only estimates use; the digest does not include them
 * @param optionsFile the runner's own config file; the config's keys and options override it
 * @param workdir the folder in which the command starts; empty for the template's choice
 * @param setup whether the job first runs the file {@link #SETUP}
 * @param channels where notifications about the run go; the digest does not include them
 * @param files the files that the config names; the run keeps them
 * @param code the working tree that the job unpacks; empty if the config has no {@code code}
 * @param after the stages that the run waits for in its pipeline; empty outside a pipeline
 * @param program our own program, which the job runs; empty for other backends
 * @param data the step of a data stage; empty for other backends
 * @param sync the copy of a sync stage; empty for other backends
 * @param health the conditions that a node must meet; empty if nodes are not checked
 * @param energy figures to compute CO2e; empty if the profile gives none
 * @param overTimeLimit how long a job may exceed its time limit
 * @param killWait the time between SIGTERM and SIGKILL
 * @param messageTimeout how long Slurm's commands wait for an answer
 * @param notes remarks for the user on how the config was read
 */
public record Plan(
    ConfigPositions written,
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
    List<DatasetVersion> datasets,
    boolean datasetChecksums,
    List<String> tags,
    Allocation allocation,
    Optional<String> partitionReason,
    int ranksPerNode,
    BilledResources billed,
    int tasks,
    int maxArraySize,
    Optional<Integer> maxParallel,
    List<JsonObject> points,
    int requeues,
    List<String> retryOn,
    Optional<Duration> watchdog,
    Optional<Duration> monitor,
    int chain,
    Optional<Duration> warnBeforeEnd,
    Optional<Duration> copyCheckpoints,
    Storage storage,
    Software software,
    Map<String, String> env,
    Optional<String> envFile,
    boolean debug,
    JsonObject options,
    Optional<NativeOptions> optionsFile,
    Optional<Health> health,
    Optional<Energy> energy,
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    Optional<String> workdir,
    boolean setup,
    Optional<Mail> mail,
    List<NotifyChannel> channels,
    List<RunnerFile> files,
    Optional<PackedCode> code,
    Map<String, PipelineConfig.Condition> after,
    Optional<NodeProgram> program,
    Optional<DataStage> data,
    Optional<SyncStage> sync,
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout,
    List<String> notes) {

  /** The name of the file with the config's {@code setup}. */
  public static final String SETUP = "setup.sh";

  /** Seconds that an attempt may hold its allocation beyond all of Slurm's limits, as observed. */
  public static final long MARGIN_SECONDS = 60;

  /**
   * Returns the plan for one task of a sweep.
   *
   * @param task the index of the point, from 0
   */
  public Plan at(int task) {
    Map<String, Object> given = new LinkedHashMap<>();
    JsonObject own = options;
    for (Map.Entry<String, @Nullable Object> set : points.get(task).members().entrySet()) {
      if (set.getKey().startsWith(Sweep.OPTIONS)) {
        String path = set.getKey().substring(Sweep.OPTIONS.length());
        own = with(own, path.split("\\.", -1), 0, set.getValue());
      } else {
        given.put(set.getKey(), Objects.requireNonNull(set.getValue()));
      }
    }
    return with(written.ofPoint(task), training.with(given), own, billed, notes);
  }

  /** Returns a copy with more notes. Skips notes that the plan already has. */
  public Plan noting(List<String> more) {
    if (more.isEmpty()) {
      return this;
    }
    List<String> all = new ArrayList<>(notes);
    for (String note : more) {
      if (!all.contains(note)) {
        all.add(note);
      }
    }
    return with(written, training, options, billed, List.copyOf(all));
  }

  /**
   * Returns a copy that is charged for what Slurm gives in these partitions, whatever the cluster
   * profile says of their nodes. The profile still counts if only it has the size of whole nodes,
   * or if only it says that nodes are given whole.
   *
   * @throws ConfigException if the plan names no type of the GPUs that Slurm gives
   */
  public Plan givenBy(List<NodeSharing> partitions) {
    BilledResources most = BilledResources.NONE;
    boolean sized = !partitions.isEmpty();
    for (NodeSharing partition : partitions) {
      most = most.orMore(BilledResources.of(allocation, partition, billed.gpuType(), written));
      sized &= partition.mostCpus().isPresent();
    }
    if (billed.whole() ? !sized || !most.whole() : partitions.isEmpty()) {
      most = billed.orMore(most);
    }
    if (most.gpus() > 0 && most.gpuType().isEmpty()) {
      throw new ConfigException(
          written.problem(
              "resources.gpu_type",
              "is needed to know the price: " + most.why() + "; the cluster profile names none"));
    }
    return with(written, training, options, most, notes);
  }

  /** Returns a copy that is charged for so many CPUs, over all nodes of a task. */
  public Plan withCpus(int cpus, String why) {
    return with(written, training, options, billed.withCpus(cpus, why), notes);
  }

  /** Returns a copy with other training keys. */
  public Plan with(Training other) {
    return with(written, other, options, billed, notes);
  }

  private Plan with(
      ConfigPositions written,
      Training training,
      JsonObject options,
      BilledResources billed,
      List<String> notes) {
    return new Plan(
        written,
        stage,
        title,
        backend,
        cluster,
        scheduler,
        accelerator,
        training,
        serving,
        workload,
        dataset,
        datasets,
        datasetChecksums,
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
        retryOn,
        watchdog,
        monitor,
        chain,
        warnBeforeEnd,
        copyCheckpoints,
        storage,
        software,
        env,
        envFile,
        debug,
        options,
        optionsFile,
        health,
        energy,
        run,
        entrypoint,
        workdir,
        setup,
        mail,
        channels,
        files,
        code,
        after,
        program,
        data,
        sync,
        overTimeLimit,
        killWait,
        messageTimeout,
        notes);
  }

  /** Returns a copy with the value at the path. */
  private static JsonObject with(JsonObject old, String[] path, int at, @Nullable Object value) {
    JsonObject copy = new JsonObject();
    old.members().forEach(copy::with);
    boolean last = at == path.length - 1;
    JsonObject below = old.optionalObject(path[at]).orElseGet(JsonObject::new);
    return copy.with(path[at], last ? value : with(below, path, at + 1, value));
  }

  /** Returns the config's path as it is shown to users. */
  public String config() {
    return written.file();
  }

  /** Returns whether python3 starts the user's own script, one process on each node. */
  public boolean isPythonAlone() {
    return backend.equals("python")
        && entrypoint.isPresent()
        && (ranksPerNode == 0 || !entrypoint.get().torchrun());
  }

  /** Returns the model's name; empty if the config names none. */
  public Optional<String> model() {
    return training.text("model_name");
  }

  /**
   * Returns the manifest's tags: the backend as the user wrote it, the stage, the experiment, then
   * the user's own tags.
   */
  public List<String> allTags() {
    List<String> all = new ArrayList<>();
    all.add("backend:" + backend);
    all.add(stage);
    if (!title.equals(stage)) {
      all.add(PlanFile.NAME_TAG + title);
    }
    for (String tag : tags) {
      if (!all.contains(tag)) {
        all.add(tag);
      }
    }
    return List.copyOf(all);
  }

  /**
   * Replaces the storage tiers in a text by their paths, for a program that reads no shell
   * variables.
   */
  public String atTiers(String text) {
    return storage.written(text);
  }

  /**
   * Returns the folder on the durable tier that holds one folder for each run's output: {@code
   * evals} or {@code datasets}.
   */
  public String outputs() {
    return outputs(stage);
  }

  static String outputs(String stage) {
    return stage.equals("eval") ? "evals" : "datasets";
  }

  /**
   * Returns the most tokens of a paid API that the run may use, all its tasks and attempts
   * together; empty if it uses none.
   */
  public Optional<ApiTokens> apiTokens() {
    return data.isPresent() ? ApiTokens.limit(data.get().settings()) : Optional.empty();
  }

  /** Returns the most attempts of one task. Each link of the chain may be requeued. */
  public int attempts() {
    return chain * (1 + requeues);
  }

  /** Returns the longest time for which an attempt can hold its allocation. */
  public Duration longestAttempt() {
    return allocation.timeLimit().plus(overTimeLimit).plus(killWait).plusSeconds(MARGIN_SECONDS);
  }

  /**
   * Returns the SHA-256 of the plan. It does not depend on the config's path or on the cluster's
   * other partitions.
   */
  public String digest() {
    return Sha256.of(PlanFile.whatRuns(this).toString());
  }

  /**
   * Returns the path of {@code entrypoint.script} in the job. The path begins with a placeholder.
   * It lies in the unpacked code if the code has the script; else it lies in runner/.
   *
   * @param script the script, as the config names it
   */
  public String scriptInJob(String script) {
    if (code.isPresent() && code.get().script().isPresent()) {
      return "${code}/" + code.get().script().get();
    }
    return "${run_dir}/runner/" + script.substring(script.lastIndexOf('/') + 1);
  }

  /** Returns the training keys as a runner's config file and plan.json have them. */
  public JsonObject trainingJson() {
    return PlanFile.values(training.given());
  }
}
