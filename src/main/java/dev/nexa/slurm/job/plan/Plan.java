package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.Environment;
import dev.nexa.slurm.job.config.run.Supervision;
import dev.nexa.slurm.job.config.run.Sweep;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.site.NodeSharing;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A run with everything resolved. After planning, no code reads the config again.
 *
 * <p>A plugin may read a plan and its parts (docs/plugins.md); only nexa-slurm makes one.
 *
 * @param written the positions of the config's keys
 * @param title the config's name, else its stage
 * @param notes remarks for the user on how the config was read
 */
public record Plan(
    ConfigPositions written,
    String stage,
    String title,
    String backend,
    List<String> tags,
    Site site,
    JobShape shape,
    Supervision supervision,
    Environment environment,
    Payload payload,
    Inputs inputs,
    List<String> notes) {

  /** The name of the file with the config's {@code setup}. */
  public static final String SETUP = "setup.sh";

  /** The backend of runs that check their nodes, and so must start on bad ones too. */
  public static final String DIAG = "diag";

  /** Seconds that an attempt may hold its allocation beyond all of Slurm's limits, as observed. */
  public static final long MARGIN_SECONDS = 60;

  /**
   * Returns the plan for one task of a sweep.
   *
   * @param task the index of the point, from 0
   */
  public Plan at(int task) {
    Map<String, Object> given = new LinkedHashMap<>();
    JsonObject own = options();
    for (Map.Entry<String, @Nullable Object> set :
        shape.array().points().get(task).members().entrySet()) {
      if (set.getKey().startsWith(Sweep.OPTIONS)) {
        String path = set.getKey().substring(Sweep.OPTIONS.length());
        own = with(own, path.split("\\.", -1), 0, set.getValue());
      } else {
        given.put(set.getKey(), Objects.requireNonNull(set.getValue()));
      }
    }
    Inputs varied = inputs.with(training().with(given));
    return with(written.ofPoint(task), shape, payload.with(own), varied, notes);
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
    return with(written, shape, payload, inputs, List.copyOf(all));
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
      most = most.orMore(BilledResources.of(allocation(), partition, billed().gpuType(), written));
      sized &= partition.mostCpus().isPresent();
    }
    if (billed().whole() ? !sized || !most.whole() : partitions.isEmpty()) {
      most = billed().orMore(most);
    }
    if (most.gpus() > 0 && most.gpuType().isEmpty()) {
      throw written.error(
          "resources.gpu_type",
          "is needed to know the price: " + most.why() + "; the cluster profile names none");
    }
    return with(written, shape.with(most, grown(partitions, most)), payload, inputs, notes);
  }

  /** Returns the plan of a heterogeneous job, whose first group this is. */
  public Plan withGroups(List<JobGroup> groups) {
    return with(written, shape.of(List.copyOf(groups)), payload, inputs, notes);
  }

  /** Returns why Slurm gives more than is asked for, in any of its groups; empty if it does not. */
  public String whyBilled() {
    Set<String> reasons = new LinkedHashSet<>();
    for (Plan one : each()) {
      reasons.add(one.billed().why());
    }
    reasons.remove("");
    return String.join("; ", reasons);
  }

  /** Returns the plan of each group, by task; only this plan if the job has no groups. */
  public List<Plan> each() {
    List<Plan> each = new ArrayList<>();
    for (JobGroup group : shape.groups()) {
      each.add(group.plan());
    }
    return each.isEmpty() ? List.of(this) : each;
  }

  /** Returns a copy that is charged for so many CPUs, over all nodes of a task. */
  public Plan withCpus(int cpus, String why) {
    BilledResources more = billed().withCpus(cpus, why);
    return with(written, shape.with(more, grown(List.of(), more)), payload, inputs, notes);
  }

  /**
   * Returns the sizes of the attempts after the first, with the CPUs that their memory needs here.
   */
  private List<AttemptSize> grown(List<NodeSharing> partitions, BilledResources first) {
    if (shape.grown().isEmpty()) {
      return shape.grown();
    }
    List<AttemptSize> sizes = new ArrayList<>();
    for (AttemptSize size : shape.grown()) {
      long cpus = Math.max(first.cpus(), size.cpus());
      for (NodeSharing nodes : partitions) {
        cpus =
            Math.max(
                cpus,
                BilledResources.of(allocation().having(size), nodes, Optional.empty(), written)
                    .cpus());
      }
      sizes.add(new AttemptSize(cpus, size.memoryBytes(), size.timeLimitSeconds()));
    }
    return sizes;
  }

  /** Returns a copy with other training keys. */
  public Plan with(Training other) {
    return with(written, shape, payload, inputs.with(other), notes);
  }

  private Plan with(
      ConfigPositions written, JobShape shape, Payload payload, Inputs inputs, List<String> notes) {
    return new Plan(
        written,
        stage,
        title,
        backend,
        tags,
        site,
        shape,
        supervision,
        environment,
        payload,
        inputs,
        notes);
  }

  /** Returns a copy with the value at the path. */
  private static JsonObject with(JsonObject old, String[] path, int at, @Nullable Object value) {
    boolean last = at == path.length - 1;
    JsonObject below = old.optionalObject(path[at]).orElseGet(JsonObject::new);
    return new JsonObject()
        .with(old)
        .with(path[at], last ? value : with(below, path, at + 1, value));
  }

  /** Returns the config's path in the form that users see. */
  public String config() {
    return written.file();
  }

  /** Returns what each task gets of a node, as {@link #shape} has it. */
  public Allocation allocation() {
    return shape.allocation();
  }

  /** Returns what each task is charged for, as {@link #shape} has it. */
  public BilledResources billed() {
    return shape.billed();
  }

  /** Returns the number of array tasks, as {@link #shape} has it. */
  public int tasks() {
    return shape.tasks();
  }

  /** Returns the training keys, as {@link #inputs} has them. */
  public Training training() {
    return inputs.training();
  }

  /** Returns the options for the runner, as {@link #payload} has them. */
  public JsonObject options() {
    return payload.options();
  }

  /** Returns the user's own program, as {@link #payload} has it; plugins read it here. */
  public Optional<Entrypoint> entrypoint() {
    return payload.entrypoint();
  }

  /** Returns whether python3 starts the user's own script, one process on each node. */
  public boolean isPythonAlone() {
    return backend.equals("python")
        && payload.entrypoint().isPresent()
        && (shape.ranksPerNode() == 0 || !payload.entrypoint().get().torchrun());
  }

  /** Returns the model's name; empty if the config names none. */
  public Optional<String> model() {
    return training().text("model_name");
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
    return site.storage().written(text);
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

  /** Returns the most attempts of one task. Each link of the chain may be requeued. */
  public int attempts() {
    return shape.array().chain() * (1 + supervision.requeues());
  }

  /** Returns the longest time that an attempt can hold its allocation. */
  public Duration longestAttempt() {
    Duration limit = allocation().timeLimit();
    return limit.plus(site.overTimeLimit()).plus(site.killWait()).plusSeconds(MARGIN_SECONDS);
  }

  /**
   * Returns the SHA-256 of the plan. It does not depend on the config's path or on the cluster's
   * other partitions.
   */
  public String digest() {
    return Sha256.of(PlanFile.whatRuns(this).toString());
  }

  /** Returns the training keys as a runner's config file and plan.json have them. */
  public JsonObject trainingJson() {
    return PlanFile.values(training().given());
  }
}
