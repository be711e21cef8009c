package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.code.SecretFiles;
import dev.nexa.slurm.job.config.foreign.SbatchHeader;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.run.DatasetRegistry;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.Environment;
import dev.nexa.slurm.job.config.run.Groups;
import dev.nexa.slurm.job.config.run.Groups.Group;
import dev.nexa.slurm.job.config.run.Growth;
import dev.nexa.slurm.job.config.run.ModelFolder;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.run.Supervision;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.shared.ModelSize;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Partition;
import dev.nexa.slurm.job.config.site.NodeSharing;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Resolves a config against a cluster profile. Pure, except that it reads the files that the config
 * names.
 *
 * @param source finds the files that a config names
 */
public record Planner(ConfigSource source) {
  /** A job with less memory for each GPU gets a note. */
  private static final long LITTLE_MEMORY = 1L << 30;

  /**
   * Returns the plan of a config without {@code code}.
   *
   * @throws ConfigException with every key that cannot be met
   */
  public Plan plan(RunConfig config, ClusterProfile cluster, Policy policy) {
    return plan(config, cluster, policy, Optional.empty(), Map.of());
  }

  /**
   * Returns the plan of a config.
   *
   * @param code the working tree that the config names
   * @param after the stages that the run waits for; empty outside a pipeline
   * @throws ConfigException with every key that cannot be met
   */
  public Plan plan(
      RunConfig config,
      ClusterProfile cluster,
      Policy policy,
      Optional<PackedCode> code,
      Map<String, PipelineConfig.Condition> after) {
    List<Group> groups = config.work().groups();
    if (groups.isEmpty()) {
      return one(config, cluster, policy, code, after);
    }
    if (cluster.isLocal()) {
      String message = "needs Slurm, which starts groups together; leave --local out";
      throw config.written().error(Groups.KEY, message);
    }
    Plan first = one(config.leading(groups.get(0)), cluster, policy, code, after);
    List<JobGroup> all = new ArrayList<>(List.of(new JobGroup(groups.get(0).name(), first)));
    List<String> notes = new ArrayList<>();
    for (Group group : groups.subList(1, groups.size())) {
      Plan plan = one(config.with(group), cluster, policy, code, after);
      plan.notes().forEach(note -> notes.add("group " + group.name() + ": " + note));
      all.add(new JobGroup(group.name(), plan));
    }
    return first.withGroups(all).noting(notes);
  }

  /**
   * Returns the plan of a config without its further groups.
   *
   * @param code the working tree that the config names
   * @param after the stages that the run waits for; empty outside a pipeline
   * @throws ConfigException with every key that cannot be met
   */
  private Plan one(
      RunConfig config,
      ClusterProfile cluster,
      Policy policy,
      Optional<PackedCode> code,
      Map<String, PipelineConfig.Condition> after) {
    List<Problem> problems = new ArrayList<>();
    ConfigPositions written = config.written();
    Resources asked = cluster.isLocal() ? config.resources().alone() : config.resources();
    boolean onGpus = cluster.accelerator().equals("cuda");
    int gpus = onGpus ? asked.gpusPerNode() : 0;
    PartitionLimits limits = new PartitionLimits(cluster);
    PartitionChoice.Choice choice = new PartitionChoice(cluster, limits, asked, gpus).choose();
    Environment environment =
        config.environment().over(cluster.nodes().software(), cluster.nodes().env());
    rules(config, cluster, policy, environment.software(), problems);
    Allocation allocation = Allocation.of(asked, cluster, gpus, choice.partition());
    List<Partition> partitions = cluster.known(choice.partition());
    BilledResources billed = billed(allocation, partitions, cluster, written);
    if (!choice.misfit().isEmpty()) {
      problems.add(written.problem(choice.key(), choice.misfit()));
    } else if (billed.gpus() > 0
        && billed.gpuType().isEmpty()
        && !limits.isUnknown(allocation.partition())) {
      problems.add(
          written.problem(
              "resources.gpu_type",
              "is needed to know the price; the cluster profile names none either"));
    }
    if (choice.misfit().isEmpty()) {
      limits.check(allocation, written, problems);
    }
    if (config.supervision().growth().isPresent()) {
      requireSimple(config.supervision().growth().get(), allocation, partitions, written, problems);
    }
    List<DatasetVersion> datasets =
        DatasetRegistry.require(config, cluster, policy, source, problems);
    List<RunnerFile> files =
        files(config, code.isPresent() && code.get().script().isPresent(), problems);
    Problem.throwIfAny(problems);
    Optional<String> launcher =
        config.work().entrypoint().isPresent()
            ? config.work().entrypoint().get().launcher()
            : Optional.empty();
    List<String> notes = tiersKept(config, cluster);
    List<String> onlySlurm = cluster.isLocal() ? onlySlurm(config.resources()) : List.of();
    if (!onlySlurm.isEmpty()) {
      notes.add("only Slurm takes notice of " + String.join(", ", onlySlurm));
    }
    if (!onGpus && config.resources().gpusPerNode() > 0) {
      notes.add(
          "no GPU is asked for, because the profile %s is for CPUs".formatted(cluster.name()));
    }
    Optional<String> little = littleMemory(asked, allocation, cluster, billed);
    if (little.isPresent()) {
      notes.add(little.get());
    }
    if (config.array().pack().isPresent()) {
      notes.add(config.array().pack().get().words());
    }
    Supervision supervision = config.supervision();
    List<AttemptSize> grown = List.of();
    if (supervision.growth().isPresent()) {
      supervision = growing(supervision, first(partitions), cluster, notes);
      grown = grown(supervision, allocation, first(partitions), written);
    }
    Optional<Long> other = ModelFolder.contradiction(config.training(), cluster.storage());
    if (other.isPresent()) {
      String said = config.training().text("model_size").orElseThrow();
      String name = config.training().text("model_name").orElseThrow();
      notes.add(
          ("model_size is %s, but %s has %s parameters by its name or its config.json; estimates go"
                  + " by model_size")
              .formatted(said, name, ModelSize.words(other.get())));
    }
    boolean alone = launcher.orElse("").equals("python");
    boolean distributed =
        asked.nodes() > 1
            || (asked.gpusPerNode() > 0 && !alone)
            || launcher.orElse("").equals("torchrun");
    return new Plan(
        written,
        config.stage(),
        config.title(),
        config.backend(),
        config.labels().tags(),
        new Site(
            cluster.name(),
            cluster.scheduler(),
            cluster.accelerator(),
            cluster.storage(),
            cluster.health(),
            cluster.energy(),
            cluster.slurm().maxArraySize(),
            overTimeLimit(partitions, cluster),
            cluster.slurm().killWait(),
            cluster.slurm().messageTimeout()),
        new JobShape(
            allocation,
            choice.reason(),
            billed,
            distributed ? Math.max(1, alone ? 1 : asked.gpusPerNode()) : 0,
            config.array().tasks(),
            config.array(),
            grown,
            List.of()),
        supervision,
        environment,
        new Payload(
            config.work().run(),
            config.work().entrypoint(),
            config.work().options(),
            config.work().optionsFile(),
            files,
            code,
            program(config, cluster),
            config.work().data(),
            config.work().sync()),
        new Inputs(
            training(config, cluster),
            config.model().serving(),
            isFolder(config)
                ? ModelFolder.shaped(
                    config.model().workload(), config.training(), cluster.storage())
                : config.model().workload(),
            config.labels().dataset(),
            datasets,
            policy.datasets().checksums(),
            after),
        List.copyOf(notes));
  }

  /** Returns the supervision with the growth that the partition's nodes allow. */
  private static Supervision growing(
      Supervision asked,
      Optional<Partition> partition,
      ClusterProfile cluster,
      List<String> notes) {
    if (cluster.isLocal()) {
      notes.add("grow: on this machine alone each attempt gets the same memory and time");
      return asked.growing(Optional.empty());
    }
    return partition.isEmpty()
        ? asked
        : asked.growing(
            Optional.of(
                asked
                    .growth()
                    .orElseThrow()
                    .within(partition.get().memoryPerNode(), partition.get().maxTime())));
  }

  private static Optional<Partition> first(List<Partition> partitions) {
    return partitions.isEmpty() ? Optional.empty() : Optional.of(partitions.get(0));
  }

  /** Adds a problem for a job whose later sizes are not known before it starts. */
  private static void requireSimple(
      Growth growth,
      Allocation asked,
      List<Partition> partitions,
      ConfigPositions written,
      List<Problem> problems) {
    if (partitions.size() > 1) {
      problems.add(
          written.problem("grow", "needs one partition: how far it may grow is its limit"));
    } else if (growth.memory().isPresent() && asked.memoryBytes() <= 0) {
      problems.add(written.problem("grow.memory", "needs resources.memory, the size on each node"));
    }
  }

  /** Returns the size of each attempt after the first, if every attempt before it made it grow. */
  private static List<AttemptSize> grown(
      Supervision supervision,
      Allocation first,
      Optional<Partition> partition,
      ConfigPositions written) {
    List<AttemptSize> sizes = new ArrayList<>();
    NodeSharing sharing = partition.isPresent() ? partition.get().sharing() : NodeSharing.AS_ASKED;
    for (int i = 1; i <= supervision.requeues() && supervision.growth().isPresent(); i++) {
      Growth growth = supervision.growth().get();
      long memory = growth.memoryBytes(first.memoryBytes(), i) * first.nodes();
      long seconds = growth.seconds(first.timeLimit().toSeconds(), i);
      Allocation asked = first.having(new AttemptSize(0, memory, seconds));
      BilledResources most = BilledResources.of(asked, sharing, Optional.empty(), written);
      sizes.add(new AttemptSize(most.cpus(), most.memoryBytes(), seconds));
    }
    return sizes;
  }

  /** Returns our own program if the job runs it. */
  private static Optional<NodeProgram> program(RunConfig config, ClusterProfile cluster) {
    if (config.work().sync().isPresent()) {
      return Optional.of(NodeProgram.forS3(cluster));
    }
    return config.work().data().isPresent()
        ? Optional.of(NodeProgram.of(cluster))
        : Optional.empty();
  }

  /** Returns a remark on a job with GPUs and almost no memory; empty for any other job. */
  private static Optional<String> littleMemory(
      Resources asked, Allocation allocation, ClusterProfile cluster, BilledResources billed) {
    int gpus = allocation.gpusPerNode();
    boolean little =
        gpus > 0
            && !cluster.isLocal()
            && allocation.memoryBytes() > 0
            && allocation.memoryBytes() / gpus < LITTLE_MEMORY
            && billed.memoryBytes() / Math.max(1, billed.gpus()) < LITTLE_MEMORY;
    if (!little) {
      return Optional.empty();
    }
    long largestNode = 0;
    for (ClusterProfile.Partition partition : cluster.partitions().values()) {
      if (partition.gpusPerNode().orElse(gpus) >= gpus) {
        largestNode = Math.max(largestNode, partition.memoryPerNode().orElse(Long.MAX_VALUE));
      }
    }
    long usual = 16L * gpus;
    // If no partition fits, the size of a node is unknown.
    long more = largestNode == 0 ? usual : Math.min(usual, largestNode / LITTLE_MEMORY);
    String which = asked.memoryBytes().isPresent() ? "resources.memory" : "the default memory";
    String onNode = Memory.plain(allocation.memoryBytes());
    String each = Memory.plain(allocation.memoryBytes() / gpus);
    return Optional.of(
        ("%s is %s on each node, %s for each GPU: a program on GPUs usually needs more, such as"
                + " resources.memory: %sG")
            .formatted(which, onNode, each, more));
  }

  /** Returns the config's notes, and a note for each tier with another path in a variable. */
  private static List<String> tiersKept(RunConfig config, ClusterProfile cluster) {
    Map<String, String> env = config.environment().env();
    List<String> notes = new ArrayList<>(config.notes());
    for (String tier : Environment.TIERS) {
      String path = env.getOrDefault(tier, cluster.nodes().env().get(tier));
      String key = tier.substring("NEXA_".length()).toLowerCase(Locale.ROOT);
      String ours =
          switch (key) {
            case "scratch" -> cluster.storage().scratch();
            case "durable" -> cluster.storage().durable();
            default -> cluster.storage().shared();
          };
      if (path != null && !path.equals(ours)) {
        notes.add(
            ("env.%s: %s is not used: the cluster profile %s has %s; to change it,"
                    + " write storage.%s in %s")
                .formatted(tier, path, cluster.name(), ours, key, cluster.file()));
      }
    }
    return notes;
  }

  /**
   * Returns the training keys, with the model's size if it is in a folder. A sweep over models has
   * no single size.
   */
  private static Training training(RunConfig config, ClusterProfile cluster) {
    return isFolder(config)
        ? ModelFolder.sized(config.training(), cluster.storage())
        : config.training();
  }

  private static boolean isFolder(RunConfig config) {
    String model = config.training().text("model_name").orElse("");
    boolean varied =
        !config.array().points().isEmpty()
            && config.array().points().get(0).members().containsKey("model_name");
    return (model.startsWith("/") || model.startsWith("${")) && !varied;
  }

  /** Adds a problem for each request that the policy or the cluster does not allow. */
  private static void rules(
      RunConfig config,
      ClusterProfile cluster,
      Policy policy,
      Software software,
      List<Problem> problems) {
    ConfigPositions written = config.written();
    Resources asked = config.resources();
    if (config.supervision().requeues() > policy.repeats().maxRequeues()) {
      problems.add(
          written.problem(
              "requeues",
              "the policy allows at most %s (%s)"
                  .formatted(policy.repeats().maxRequeues(), policy.name())));
    }
    boolean local = cluster.isLocal();
    boolean gpus = cluster.accelerator().equals("cuda") && asked.gpusPerNode() > 0;
    if (local && (asked.nodes() > 1 || gpus)) {
      problems.add(
          written.problem(
              "resources",
              "this machine alone has one node and no GPUs to give: add --set resources.nodes=1 --set resources.gpus_per_node=0, or leave --local out"));
    }
    for (ResourceOption option : asked.options().keySet()) {
      if (local
          && option.countsProcesses()
          && !asked.options().getOrDefault(option, "").equals("1")) {
        problems.add(
            written.problem(
                "resources." + option.key(), "is for srun, and this machine alone has none"));
      }
    }
    if (local && config.array().chain() > 1) {
      problems.add(
          written.problem(
              "chain", "its links wait for each other, which this machine alone can't"));
    }
    handedOn(config, problems);
    container(config, software, problems);
    if (config.work().sync().isPresent()) {
      config.work().sync().get().checkAddress(cluster, written, problems);
    }
    if (config.array().pack().isPresent() && software.isStep()) {
      problems.add(
          written.problem(
              "array.pack",
              "srun starts the container of container_runtime "
                  + software.containerRuntime().orElseThrow()
                  + " once for a task; apptainer works"));
    }
    if (local && software.isStep()) {
      problems.add(
          written.problem(
              "software.container",
              "container_runtime "
                  + software.containerRuntime().orElseThrow()
                  + " is srun's, and there is none on this machine alone; apptainer works"));
    }
    if (config.supervision().growth().isPresent()) {
      config.supervision().growth().get().checkRoom(asked, written, problems);
    }
    if (config.supervision().watchdog().isPresent()
        && config.supervision().watchdog().get().compareTo(asked.time()) >= 0) {
      problems.add(
          written.problem(
              "watchdog", "must be shorter than resources.time, which ends the task anyway"));
    }
    if (config.supervision().warnBeforeEnd().isPresent()
        && config.supervision().warnBeforeEnd().get().compareTo(asked.time()) >= 0) {
      problems.add(
          written.problem(
              "warn_before_end", "must be shorter than resources.time; nothing would run"));
    }
  }

  /** Returns the keys that change nothing on a machine without Slurm. */
  private static List<String> onlySlurm(Resources asked) {
    List<String> keys = new ArrayList<>();
    for (ResourceOption option : asked.options().keySet()) {
      boolean counted = option.countsProcesses() || option == ResourceOption.MEMORY_PER_CPU;
      if (!counted && (option.sizes() || option == ResourceOption.SBATCH_OPTIONS)) {
        keys.add("resources." + option.key());
      }
    }
    return keys;
  }

  /** Adds a problem for an option in {@code sbatch_options} that has a key of ours, or none. */
  private static void handedOn(RunConfig config, List<Problem> problems) {
    Optional<String> options = config.resources().option(ResourceOption.SBATCH_OPTIONS);
    if (options.isEmpty()) {
      return;
    }
    try {
      if (SbatchHeader.handedOn(options.get()).containsKey("signal")
          && config.supervision().warnBeforeEnd().isPresent()) {
        problems.add(
            config
                .written()
                .problem(
                    "warn_before_end", "sends a signal, and so does resources.sbatch_options"));
      }
    } catch (IllegalArgumentException wrong) {
      problems.add(
          config.written().problem("resources.sbatch_options", String.valueOf(wrong.getMessage())));
    }
  }

  /** Adds a problem if the container's runtime cannot find the image under this name. */
  private static void container(RunConfig config, Software software, List<Problem> problems) {
    Software own = config.environment().software();
    if (software.container().isEmpty()) {
      if (own.runtime().isPresent() || !own.mounts().isEmpty()) {
        String key = own.mounts().isEmpty() ? "container_runtime" : "mounts";
        problems.add(
            config.written().problem("software." + key, "there is no container; name one"));
      }
      return;
    }
    String image = software.container().get();
    boolean path = image.startsWith("/") || image.startsWith("${");
    String runtime = software.containerRuntime().orElseThrow();
    if (!path && !runtime.equals("pyxis") && !image.contains("://")) {
      problems.add(
          config
              .written()
              .problem(
                  "software.container",
                  "expected an absolute path"
                      + (runtime.equals("slurm") || image.endsWith(".sif")
                          ? ""
                          : " or an image such as docker://" + image)
                      + ", got '"
                      + image
                      + "'; a path begins with ${workspace}/ or ${env:HOME}/"));
    }
  }

  private static Duration overTimeLimit(List<Partition> partitions, ClusterProfile cluster) {
    Duration longest = Duration.ZERO;
    for (Partition partition : partitions) {
      Duration one = partition.overTimeLimit().orElse(cluster.slurm().overTimeLimit());
      longest = one.compareTo(longest) > 0 ? one : longest;
    }
    return partitions.isEmpty() ? cluster.slurm().overTimeLimit() : longest;
  }

  /** Returns the most that one of the partitions gives. */
  private static BilledResources billed(
      Allocation asked,
      List<Partition> partitions,
      ClusterProfile cluster,
      ConfigPositions written) {
    Optional<String> type = asked.gpuType();
    if (type.isEmpty()) {
      type = Allocation.gpuType(partitions, cluster);
    }
    if (partitions.isEmpty()) {
      return BilledResources.of(asked, NodeSharing.AS_ASKED, type, written);
    }
    BilledResources most = BilledResources.NONE;
    for (Partition partition : partitions) {
      most = most.orMore(BilledResources.of(asked, partition.sharing(), type, written));
    }
    return most;
  }

  /**
   * Reads the files that the run keeps.
   *
   * @param packed whether the script is part of the packed code, so that no copy is needed
   */
  private List<RunnerFile> files(RunConfig config, boolean packed, List<Problem> problems) {
    List<RunnerFile> files = new ArrayList<>();
    for (int i = 0; i < config.work().files().size(); i++) {
      file(config, "files." + i, config.work().files().get(i), problems).ifPresent(files::add);
    }
    if (!packed
        && config.work().entrypoint().isPresent()
        && config.work().entrypoint().get().script().isPresent()) {
      String script = config.work().entrypoint().get().script().get();
      file(config, "entrypoint.script", script, problems).ifPresent(files::add);
    }
    if (config.environment().setup().isPresent()) {
      files.add(RunnerFile.text(Plan.SETUP, config.environment().setup().get()));
    }
    return files;
  }

  private Optional<RunnerFile> file(
      RunConfig config, String key, String path, List<Problem> problems) {
    Path relative = Path.of(path).normalize();
    if (relative.isAbsolute() || relative.startsWith("..")) {
      String message =
          "'" + path + "' does not lie beside this file, in its folder or below: copy it there";
      problems.add(config.written().problem(key, message));
      return Optional.empty();
    }
    try {
      String name = path.substring(path.lastIndexOf('/') + 1);
      byte[] content = source.beside(config.source(), path).bytes();
      Optional<String> secret = SecretFiles.byContent(content, content.length);
      if (secret.isPresent()) {
        String message =
            "%s holds %s; the run keeps a copy of it and shows it to others: write it into the file that env_file names (`nexa-slurm explain docs/secrets.md`)"
                .formatted(path, secret.get());
        problems.add(config.written().problem(key, message).as(ErrorCode.CONFIG_HOLDS_SECRET));
      }
      return Optional.of(new RunnerFile(name, content));
    } catch (NexaException missing) {
      problems.add(
          config.written().problem(key, String.valueOf(missing.getMessage())).as(missing.code()));
      return Optional.empty();
    }
  }
}
