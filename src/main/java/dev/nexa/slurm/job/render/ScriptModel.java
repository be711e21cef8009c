package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.config.foreign.SbatchHeader;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.Supervision;
import dev.nexa.slurm.job.config.run.TaskArray.Pack;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Health;
import dev.nexa.slurm.job.plan.Allocation;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.job.plan.JobGroup;
import dev.nexa.slurm.job.plan.NodeProgram;
import dev.nexa.slurm.job.plan.Plan;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The data of a template: texts, numbers, flags and lists. docs/templates.md lists it. */
final class ScriptModel {
  /** The value of an option that has none. */
  private static final String FLAG = "";

  /** Options that a heterogeneous job has once, in its first group. */
  private static final Set<String> OF_THE_JOB =
      Set.of("open-mode", "requeue", "no-requeue", "signal", "mail-type", "mail-user");

  /** The stages that an evaluation is made of, from the answers of a model to their scores. */
  private static final Set<String> JUDGING = Set.of("generate", "eval");

  private ScriptModel() {}

  static Map<String, Object> of(Plan plan, Launch launch) {
    Supervision supervision = plan.supervision();
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("directives", directives(plan));
    model.put("stage", plan.stage());
    model.put("tasks", plan.tasks());
    model.put("array", isArray(plan));
    indices(model, plan);
    boolean gpus = false;
    for (Plan group : plan.each()) {
      gpus |= group.allocation().gpusPerNode() > 0;
    }
    model.put("container_gpus", gpus);
    model.put("groups", groups(plan));
    model.put("grouped", !plan.shape().groups().isEmpty());
    model.put("requeues", supervision.requeues());
    model.put("retry_on", String.join(" ", supervision.retryOn()));
    model.put(
        "exclude",
        plan.allocation()
            .option(ResourceOption.EXCLUDE)
            .filter(list -> !list.equals(ResourceOption.BAD))
            .orElse(""));
    boolean grows = !plan.shape().grown().isEmpty();
    model.put("grows", grows);
    if (grows) {
      sizes(model, plan);
    }
    model.put("watchdog_seconds", supervision.watchdog().orElse(Duration.ZERO).toSeconds());
    model.put("monitor_seconds", supervision.monitor().orElse(Duration.ZERO).toSeconds());
    model.put("chain", plan.shape().array().chain());
    model.put(
        "checkpoint_seconds", supervision.copyCheckpoints().orElse(Duration.ZERO).toSeconds());
    model.put("warning_seconds", warningSeconds(supervision));
    passedOn(model, plan);
    // On several nodes, the last node may still save this long after the first has ended.
    model.put("wait_seconds", Math.max(60, warningSeconds(supervision)));
    model.put("scheduler", plan.site().scheduler());
    model.put("on_slurm", !plan.site().scheduler().equals(ClusterProfile.LOCAL));
    model.put("cluster", plan.site().cluster());
    model.put("nodes", plan.allocation().nodes());
    model.put("processes", plan.allocation().hasProcesses());
    model.put("gpus_per_node", plan.allocation().gpusPerNode());
    model.put("ranks_per_node", plan.shape().ranksPerNode());
    model.put("cpus_per_task", plan.allocation().cpusPerTask());
    model.put(
        "threads_per_rank",
        Math.max(1, plan.allocation().cpusPerTask() / Math.max(1, plan.shape().ranksPerNode())));
    model.put("accelerator", plan.site().accelerator());
    model.put("debug", plan.environment().debug());
    health(model, plan);
    model.put("scratch", plan.site().storage().scratch());
    model.put("durable", plan.site().storage().durable());
    model.put("shared", plan.site().storage().shared());
    model.put("modules", plan.environment().software().modules());
    path(model, "venv", plan.environment().software().venv());
    path(model, "conda", plan.environment().software().conda());
    path(model, "uv", plan.environment().software().uv());
    path(model, "container", plan.environment().software().container());
    text(model, "container_runtime", plan.environment().software().containerRuntime());
    model.put("mounts", mounts(plan));
    model.put("container_step", plan.environment().software().isStep());
    path(model, "env_file", plan.environment().envFile());
    boolean code = plan.payload().code().isPresent();
    if (code) {
      model.put("code_sha256", plan.payload().code().get().sha256());
    }
    if (plan.payload().program().isPresent()) {
      program(model, plan.payload().program().get());
    }
    model.put("has_datasets", !plan.inputs().datasets().isEmpty());
    model.put("datasets", plan.inputs().datasets().isEmpty() ? List.of() : datasets(plan));
    model.put("env", env(plan));
    model.put("command", words(launch.command(), code));
    model.put("teacher", words(launch.teacher(), code));
    model.put("outputs", plan.outputs());
    List<String> filled = FilledFiles.names(launch);
    // A flag: the first built-in of FreeMarker in a template would load all of them, in 10 ms.
    model.put("has_inputs", !plan.inputs().after().isEmpty() || !filled.isEmpty());
    model.put("after", after(plan.inputs().after()));
    model.put("judged", words(judged(plan), false));
    model.put("filled", words(filled, false));
    model.put("sweep", !plan.shape().array().points().isEmpty());
    model.put("python_alone", plan.isPythonAlone());
    model.put("setup", plan.environment().setup().isPresent());
    path(model, "workdir", plan.environment().workdir());
    path(model, "served_model", launch.servedModel());
    tags(model, plan);
    return model;
  }

  /** Returns the groups by their order: name, nodes, CPUs, GPUs on each node, variables. */
  private static List<Map<String, Object>> groups(Plan plan) {
    List<Map<String, Object>> groups = new ArrayList<>();
    for (JobGroup group : plan.shape().groups()) {
      Plan own = group.plan();
      Map<String, Object> one = new LinkedHashMap<>();
      one.put("name", group.name());
      one.put("index", groups.size());
      one.put("variable", group.name().toUpperCase(Locale.ROOT).replace('-', '_'));
      one.put("cpus_per_task", own.allocation().cpusPerTask());
      one.put("gpus_per_node", own.allocation().gpusPerNode());
      one.put("runs", own.payload().run().isPresent());
      one.put("env", env(own));
      Set<String> hidden = new TreeSet<>(plan.environment().env().keySet());
      hidden.removeAll(own.environment().env().keySet());
      one.put("hidden", List.copyOf(hidden));
      groups.add(one);
    }
    return groups;
  }

  /** Adds what the tasks run where that is not their own numbers from 0. */
  private static void indices(Map<String, Object> model, Plan plan) {
    int shards = plan.tasks();
    if (plan.shape().array().pack().isPresent()) {
      Pack pack = plan.shape().array().pack().get();
      shards = pack.shards();
      model.put("pack_size", pack.size());
      model.put("pack_parallel", pack.parallel());
    }
    model.put("shards", shards);
    model.put("packed", plan.shape().array().pack().isPresent());
    if (plan.shape().array().indices().isPresent()) {
      String list = plan.shape().array().indices().get();
      model.put("indices", IndexRange.parse(list).withSteps());
      model.put("index_step", IndexRange.step(list));
    } else if (plan.shape().array().pack().isPresent()) {
      model.put("indices", "0-" + (shards - 1));
      model.put("index_step", 1);
    }
  }

  /** Adds the sizes of later attempts: memory in MiB and minutes, as plain words. */
  private static void sizes(Map<String, Object> model, Plan plan) {
    List<Object> memory = new ArrayList<>();
    List<Object> minutes = new ArrayList<>();
    for (AttemptSize size : plan.shape().grown()) {
      memory.add((size.memoryBytes() / plan.allocation().nodes()) >> 20);
      minutes.add(size.timeLimitSeconds() / 60);
    }
    model.put("grow_memory", memory);
    model.put("grow_minutes", minutes);
  }

  /** Adds the signal for the batch shell that the job passes on to its command. */
  private static void passedOn(Map<String, Object> model, Plan plan) {
    Optional<String> handed = plan.allocation().option(ResourceOption.SBATCH_OPTIONS);
    if (handed.isPresent()) {
      String signal = SbatchHeader.handedOn(handed.get()).getOrDefault("signal", "");
      text(model, "passed_signal", SbatchHeader.passedOn(signal));
    }
  }

  private static List<Map<String, Object>> after(Map<String, PipelineConfig.Condition> stages) {
    List<Map<String, Object>> after = new ArrayList<>();
    stages.forEach(
        (stage, condition) ->
            after.add(
                Map.of(
                    "stage", stage,
                    "condition", condition.text(),
                    "variable", PipelineConfig.Stage.variable(stage))));
    return after;
  }

  /** Returns the folders of the models whose answers may be judged; they need not exist. */
  private static List<String> judged(Plan plan) {
    List<String> models = new ArrayList<>();
    if (JUDGING.contains(plan.stage())) {
      plan.model().filter(it -> it.startsWith("/") || it.startsWith("${")).ifPresent(models::add);
      Set<String> before = plan.inputs().after().keySet();
      before.forEach(stage -> models.add("${stages." + stage + ".checkpoint}"));
    }
    return models;
  }

  private static List<Map<String, Object>> datasets(Plan plan) {
    List<Map<String, Object>> datasets = new ArrayList<>();
    for (DatasetVersion version : plan.inputs().datasets()) {
      datasets.add(
          Map.of(
              "reference", version.reference(),
              "path", version.path(plan.site().storage()),
              "root", version.root(),
              // Whole seconds, rounded up: not every file system keeps all digits.
              "newest", "" + (version.newest().getEpochSecond() + 1),
              "check", plan.inputs().datasetChecksums() ? "sha256" : "size"));
    }
    return datasets;
  }

  private static void program(Map<String, Object> model, NodeProgram program) {
    List<Map<String, Object>> files = new ArrayList<>();
    for (ProgramFile file : program.files()) {
      files.add(Map.of("name", file.name(), "sha256", file.sha256()));
    }
    model.put("program_sha256", program.sha256());
    model.put("program_files", files);
    model.put("program_native", program.isNative());
    model.put("java", ShellFormat.INSTANCE.path(program.java()));
  }

  /**
   * Adds the tags for W&B. Leaves out tags of more than 64 characters, because W&B would refuse the
   * run.
   */
  private static void tags(Map<String, Object> model, Plan plan) {
    StringBuilder tags = new StringBuilder();
    for (String tag : plan.allTags()) {
      if (tag.length() <= 64 && tag.indexOf(',') < 0) {
        tags.append(tags.length() == 0 ? "" : ",").append(tag);
      }
    }
    model.put("tracking_tags", tags.toString());
  }

  private static void health(Map<String, Object> model, Plan plan) {
    model.put("diagnoses", plan.backend().equals(Plan.DIAG));
    model.put("health_check", checksNodes(plan));
    model.put("all_reduce", addsUp(plan));
    if (plan.site().health().isPresent()) {
      Health check = plan.site().health().get();
      model.put("scratch_free_kib", check.scratchFreeBytes() / 1024);
      text(model, "min_driver", check.minDriver());
      text(model, "interface", check.networkInterface());
    }
  }

  /** Returns whether a node must be well before it joins. */
  static boolean checksNodes(Plan plan) {
    return plan.site().health().isPresent() && !plan.backend().equals(Plan.DIAG);
  }

  /** Returns whether the nodes run an all-reduce before the command starts. */
  static boolean addsUp(Plan plan) {
    return checksNodes(plan)
        && plan.site().health().get().allReduce()
        && plan.allocation().nodes() > 1
        && plan.allocation().gpusPerNode() > 0;
  }

  /** Returns the container's mounts as SRC:DST. A path without DST has the same name inside. */
  private static List<Object> mounts(Plan plan) {
    List<String> words = new ArrayList<>();
    for (String mount : plan.environment().software().mounts()) {
      words.add(mount.indexOf(':') < 0 ? mount + ":" + mount : mount);
    }
    if (plan.environment().workdir().isPresent()) {
      words.add(plan.environment().workdir().get() + ":" + plan.environment().workdir().get());
    }
    return words(words, false);
  }

  private static void text(Map<String, Object> model, String name, Optional<String> text) {
    if (text.isPresent()) {
      model.put(name, text.get());
    }
  }

  private static void path(Map<String, Object> model, String name, Optional<String> path) {
    if (path.isPresent()) {
      model.put(name, ShellFormat.INSTANCE.path(path.get()));
    }
  }

  /**
   * Returns the directives as arguments of sbatch: {@code --name=value}, and {@code hetjob} between
   * two groups.
   */
  static List<String> options(Plan plan) {
    List<String> options = new ArrayList<>();
    for (Map<String, Object> option : directives(plan)) {
      Object separator = option.get("separator");
      Object value = option.get("value");
      options.add(
          separator != null
              ? separator.toString()
              : "--" + option.get("name") + (value == null ? "" : "=" + value));
    }
    return options;
  }

  /**
   * Returns every option of the plan as {@code name} and {@code value}, in the order of sbatch(1).
   * A flag has no value.
   */
  private static List<Map<String, Object>> directives(Plan plan) {
    List<Map<String, Object>> all = new ArrayList<>(ofOne(plan));
    for (Plan group : plan.each().subList(1, plan.each().size())) {
      all.add(Map.of("separator", "hetjob"));
      List<Map<String, Object>> own = new ArrayList<>(ofOne(group));
      own.removeIf(option -> OF_THE_JOB.contains(String.valueOf(option.get("name"))));
      all.addAll(own);
    }
    return all;
  }

  private static List<Map<String, Object>> ofOne(Plan plan) {
    Allocation asked = plan.allocation();
    Map<String, String> options = new TreeMap<>();
    for (Map.Entry<ResourceOption, String> option : asked.options().entrySet()) {
      options.put(option.getKey().option(), option.getValue());
    }
    // The submission names these nodes, because they may be others tomorrow.
    options.remove("exclude", ResourceOption.BAD);
    boolean sized = asked.isSized();
    if (isArray(plan)) {
      options.put("array", array(plan));
    }
    // With --cpus-per-task, sbatch refuses --gpus-per-task of a job that does not count processes,
    // and takes no notice of --threads-per-core.
    boolean ofTasks =
        (options.containsKey("gpus-per-task")
                || (options.containsKey("threads-per-core")
                    && plan.written().has("resources.nodes")))
            && asked.cpusPerTask() == 1;
    if (!options.containsKey("cpus-per-gpu") && !ofTasks) {
      options.put("cpus-per-task", "" + asked.cpusPerTask());
    }
    String type = asked.gpuType().isPresent() ? asked.gpuType().get() + ":" : "";
    if (asked.gpusPerNode() > 0) {
      options.put("gpus-per-node", type + asked.gpusPerNode());
    }
    if (sized) {
      options.computeIfPresent("gpus", (name, count) -> type + count);
      options.computeIfPresent("gpus-per-task", (name, count) -> type + count);
    }
    if (plan.supervision().mail().isPresent()) {
      options.put("mail-type", plan.supervision().mail().get().type());
      options.put("mail-user", plan.supervision().mail().get().user());
    }
    if (asked.memoryBytes() >= 0) {
      options.put("mem", asked.memoryBytes() == 0 ? "0" : Memory.slurm(asked.memoryBytes()));
    }
    int fewest = asked.fewestNodes();
    if (fewest > 0) {
      options.put("nodes", (fewest < asked.nodes() ? fewest + "-" : "") + asked.nodes());
    }
    // A script may start its own: srun would take the number from the job.
    if (!asked.hasProcesses() && !plan.backend().equals("shell")) {
      options.put("ntasks-per-node", "1");
    }
    Optional<String> handed = asked.option(ResourceOption.SBATCH_OPTIONS);
    if (handed.isPresent()) {
      options.remove(ResourceOption.SBATCH_OPTIONS.option());
      options.putAll(SbatchHeader.handedOn(handed.get()));
    }
    if (asked.exclusive()) {
      options.put("exclusive", FLAG);
      options.remove("oversubscribe");
    }
    options.put("open-mode", "append");
    options.put("requeue", FLAG);
    if (warningSeconds(plan.supervision()) > 0) {
      options.put("signal", "B:USR1@" + warningSeconds(plan.supervision()));
    }
    options.put("time", TimeLimit.format(asked.timeLimit()));
    List<Map<String, Object>> directives = new ArrayList<>();
    for (Map.Entry<String, String> option : options.entrySet()) {
      boolean negated = option.getKey().equals("requeue") && plan.supervision().requeues() == 0;
      String name = (negated ? "no-" : "") + option.getKey();
      directives.add(
          option.getValue().equals(FLAG)
              ? Map.of("name", name)
              : Map.of("name", name, "value", option.getValue()));
    }
    return directives;
  }

  private static long warningSeconds(Supervision supervision) {
    return supervision.warnBeforeEnd().orElse(Duration.ZERO).toSeconds();
  }

  /** A run of one task is a plain job, unless its config says that it is an array. */
  private static boolean isArray(Plan plan) {
    return (plan.tasks() > 1 && plan.shape().groups().isEmpty())
        || !plan.shape().array().points().isEmpty()
        || plan.written().has("array");
  }

  private static String array(Plan plan) {
    // A larger run has several submissions; each gets its range as an argument.
    int tasks = Math.min(plan.tasks(), plan.site().maxArraySize());
    int atOnce = plan.shape().array().maxParallel().orElse(tasks);
    return "0-" + (tasks - 1) + (atOnce < tasks ? "%" + atOnce : "");
  }

  private static List<Map<String, Object>> env(Plan plan) {
    List<Map<String, Object>> variables = new ArrayList<>();
    for (Map.Entry<String, String> variable : plan.environment().env().entrySet()) {
      variables.add(
          Map.of(
              "name",
              variable.getKey(),
              "value",
              ShellFormat.INSTANCE.path(variable.getValue(), plan.payload().code().isPresent())));
    }
    return variables;
  }

  private static List<Object> words(List<String> command, boolean code) {
    List<Object> words = new ArrayList<>();
    int varied = 0;
    for (String word : command) {
      words.add(
          word.equals(Launch.VARIED)
              ? ShellFormat.INSTANCE.varied(varied++)
              : ShellFormat.INSTANCE.path(word, code));
    }
    return words;
  }
}
