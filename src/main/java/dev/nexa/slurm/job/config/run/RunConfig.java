package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.inferable;
import static dev.nexa.slurm.job.config.yaml.Schema.later;
import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.shared.Software;
import dev.nexa.slurm.job.config.shared.StageName;
import dev.nexa.slurm.job.config.steps.DataStage;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A run's config: one YAML file that describes a job.
 *
 * <pre>
 * stage: train
 * backend: python
 * entrypoint: {script: train.py}
 * model_name: mistral-7b-instruct
 * lr: 2e-5
 * resources: {nodes: 2, gpus_per_node: 4, gpu_type: h100, time: 12h}
 * </pre>
 *
 * @param source the file that the config was read from
 * @param written the positions of its keys
 * @param training the training keys that it sets
 * @param workload facts that only estimates use; empty if the key {@code estimate} is missing
 * @param dataset the dataset's name: the key {@code dataset}, else the last part of {@code
 *     dataset_path}
 * @param shards the number of array tasks; 1 without an array
 * @param maxParallel the most tasks that run at the same time; empty for all
 * @param points the points of a sweep: the values that each task sets; empty without a sweep
 * @param requeues how often Slurm may run a task again
 * @param retryOn which failures are retried, as often as {@code requeues} allows; see
 *     docs/retries.md
 * @param watchdog a task without a sign of life for this long is ended; empty for never
 * @param monitor how often the nodes of a task are sampled; zero for never; empty if the key is
 *     missing
 * @param chain the number of jobs that follow each other
 * @param warnBeforeEnd how long before the time limit a task gets SIGTERM
 * @param copyCheckpoints checkpoints are written on scratch, and copied to durable storage this
 *     often; empty if they are written in durable storage
 * @param channels where notifications about the run go, beside those of the policy
 * @param options the runner's own options
 * @param optionsFile the runner's own config file, unchanged
 * @param code the working tree that the job runs; empty if the key {@code code} is missing
 * @param data the step of a data stage; empty if the key {@code data} is missing
 * @param sync the copy of a sync stage; empty if the key {@code sync} is missing
 * @param notes remarks for the user on how the file was read
 */
public record RunConfig(
    ConfigSource.Found source,
    ConfigPositions written,
    String stage,
    Optional<String> name,
    String backend,
    Optional<String> cluster,
    Training training,
    Serving serving,
    Optional<Workload> workload,
    Optional<String> dataset,
    List<String> tags,
    Resources resources,
    int shards,
    Optional<Integer> maxParallel,
    List<JsonObject> points,
    int requeues,
    List<String> retryOn,
    Optional<Duration> watchdog,
    Optional<Duration> monitor,
    int chain,
    Optional<Duration> warnBeforeEnd,
    Optional<Duration> copyCheckpoints,
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    Optional<String> workdir,
    Optional<String> setup,
    Optional<Mail> mail,
    List<NotifyChannel> channels,
    List<String> files,
    Map<String, String> env,
    Optional<String> envFile,
    boolean debug,
    JsonObject options,
    Optional<NativeOptions> optionsFile,
    Software software,
    Optional<Code> code,
    Optional<DataStage> data,
    Optional<SyncStage> sync,
    List<String> notes) {

  /** Bounded repetitions: on a long list, `+` and `*` would overflow the stack. */
  public static final ValueType MAIL_TYPE =
      ValueType.text("words such as END,FAIL", "[A-Za-z0-9_]{1,40}(,[A-Za-z0-9_]{1,40}){0,20}");

  /**
   * Failures that the next attempt often survives: of the hardware or the network, or a kill from
   * outside.
   */
  private static final List<String> RETRIED = List.of("node", "signal", "cuda", "nccl");

  private static final ValueType SAMPLING =
      ValueType.text(
          "a time from 1s to 60m such as 5s, or off",
          "(off|[1-9][0-9]{0,2}s|[1-9]m|[1-5][0-9]m|60m)");

  private static final ValueType RETRY =
      ValueType.count(
          "node, signal, cuda, nccl, oom, stall or an exit status from 1 to 255",
          "(node|signal|cuda|nccl|oom|stall|[1-9]|[1-9][0-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-5])");

  /** The variables of the storage tiers, whose values come from the cluster profile. */
  public static final List<String> TIERS = List.of("NEXA_SCRATCH", "NEXA_DURABLE", "NEXA_SHARED");

  private static final String SCRATCH = "scratch";

  private static final ValueType SHARDS = ValueType.integer(1, 4_000_000);

  /** All keys of the file. */
  public static final Section SPEC = section(keys());

  private static Schema.KnownKey[] keys() {
    List<Schema.KnownKey> keys = new ArrayList<>();
    keys.add(
        inferable(
            "stage",
            StageName.TYPE,
            "The kind of work: data, generate, filter, train, eval, serve, sync, or a name of your own."));
    keys.add(
        optional(
            "name",
            ValueType.NAME_WORD,
            "The experiment's name, also for reports. It becomes the tag `experiment:NAME`."));
    keys.add(
        inferable(
            "backend",
            ValueType.NAME_WORD,
            "The backend that runs inside the job: `shell`, `python`, `hf`, `axolotl`, `accelerate`, `vllm`,"
                + " `lm_eval`, `data` or `sync`."));
    keys.add(
        optional(
            "cluster", ValueType.NAME_WORD, "The cluster profile, configs/clusters/NAME.yaml."));
    keys.addAll(Training.KEYS.keys());
    keys.addAll(Serving.KEYS.keys());
    keys.add(
        optional(
            "dataset",
            ValueType.DATASET_NAME,
            "The dataset's name, for reports. Default: the last part of dataset_path."));
    keys.add(
        optional(
            "tags",
            listOf(ValueType.TEXT),
            "Words of your own for reports: the manifest keeps them, so that you can find runs by them."));
    keys.add(inferable("resources", section(Resources.keys()), "The resources of each task."));
    keys.add(
        optional(
            "array",
            section(
                optional(
                    "shards",
                    SHARDS,
                    "The number of tasks. Required unless there is a sweep: then the points are the tasks."),
                optional(
                    "max_parallel",
                    ValueType.integer(1, 4_000_000),
                    "The most tasks that run at the same time. Default: all.")),
            "Runs the job once for each shard. A task reads its number from NEXA_TASK and the number of tasks"
                + " from NEXA_TASKS."));
    keys.add(
        optional(
            "sweep",
            Sweep.SPEC,
            "Runs the job once for each point, which is a combination of values for some keys, such as `{lr:"
                + " [1e-5, 2e-5], seed: [1, 2, 3]}`."));
    keys.add(
        withDefault(
            "requeues",
            ValueType.integer(0, 100),
            "0",
            "How often a task may run again. Each attempt costs money."));
    keys.add(
        optional(
            "retry_on",
            listOf(RETRY),
            "The failures that are retried, as often as requeues allows: node, signal, cuda, nccl, oom, stall"
                + " or exit statuses such as 75. Default: [node, signal, cuda, nccl]. A failed node is always"
                + " retried."));
    keys.add(
        optional(
            "watchdog",
            ValueType.LENGTH,
            "Ends a task that has printed nothing and has written no metrics and no checkpoint for this long. A"
                + " bare number is minutes."));
    keys.add(
        optional(
            "monitor",
            SAMPLING,
            "How often the GPUs, CPUs, memory, disk and network of a task are sampled; `off` for never. Default:"
                + " 10s for a run with GPUs, otherwise off."));
    keys.add(
        withDefault(
            "chain",
            ValueType.integer(1, 100),
            "1",
            "How many jobs follow each other. Each job begins when the job before it has ended. A task that"
                + " ended with 0 is not run again."));
    keys.add(
        optional(
            "warn_before_end",
            ValueType.LENGTH,
            "How long before the time limit a task gets SIGTERM, so that it can save. If the task then ends"
                + " with anything but 0, it is queued again, as often as requeues allows."));
    keys.add(
        optional(
            "checkpoints",
            section(
                optional(
                    "on",
                    ValueType.choice("durable", SCRATCH),
                    "Where the task writes its checkpoints: in durable storage, or on scratch, from where the job"
                        + " copies complete ones to durable storage. Default: durable."),
                optional(
                    "copy_every",
                    ValueType.LENGTH,
                    "With `on: scratch`: how often the job copies. A bare number is minutes. Default: 10m.")),
            "How the task keeps its checkpoints."));
    keys.add(
        optional(
            "run", ValueType.SCRIPT, "For `shell`: the bash text that each task runs, unchanged."));
    keys.add(
        optional(
            "entrypoint",
            section(
                optional(
                    "script", ValueType.PATH, "A program beside this file. The run keeps a copy."),
                optional("module", ValueType.TEXT, "An installed Python module, run with -m."),
                optional(
                    "args",
                    listOf(ValueType.LITERAL),
                    "Arguments of the program, each passed on unchanged."),
                optional(
                    "config",
                    ValueType.BOOLEAN,
                    "Whether the program gets `--config FILE` with the training keys as JSON. Default: true."),
                optional(
                    "launcher",
                    ValueType.choice("python", "torchrun"),
                    "The launcher that starts the program. Default: torchrun with GPUs or several nodes, else python."),
                optional(
                    "launcher_args",
                    listOf(ValueType.LITERAL),
                    "Further options of torchrun, such as `--max_restarts=2`.")),
            "For `python`: the program to start. It gets `options` as flags, `--name value`, after its own"
                + " arguments."));
    keys.add(
        optional(
            "workdir",
            ValueType.PATH,
            "The command starts in this folder, an absolute path. Default: the task's scratch, or with a"
                + " launcher the run's folder."));
    keys.add(
        optional(
            "setup",
            ValueType.SCRIPT,
            "Shell lines that the job runs after modules and venv and before the command, unchanged."));
    keys.add(
        optional(
            "mail",
            section(
                required("user", ValueType.TEXT, "The address, or the user's name."),
                optional(
                    "type",
                    MAIL_TYPE,
                    "The events to write about, as in sbatch's --mail-type. Default: `END,FAIL`.")),
            "Mail that Slurm sends about the job."));
    keys.add(
        optional(
            "notify",
            mapOf(ValueType.NAME_WORD, NotifyChannel.OF_RUN),
            "Channels of notifications about this run, by names of your choice, beside those of the policy."));
    keys.add(
        optional(
            "files",
            listOf(ValueType.PATH),
            "Files beside this file that the job needs. The run keeps them in runner/."));
    keys.add(
        optional(
            "env",
            mapOf(
                ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}"),
                ValueType.LITERAL),
            "Environment variables of the job. Write secrets into env_file instead."));
    keys.add(
        optional(
            "env_file",
            ValueType.PATH,
            "The absolute path of a file with your secrets, in lines NAME=value, mode 0600. The job reads the"
                + " file itself."));
    keys.add(
        withDefault(
            "debug",
            ValueType.BOOLEAN,
            "false",
            "Makes NCCL and PyTorch print their steps, to find out why ranks hang. This slows training."));
    keys.add(
        optional(
            "options",
            new Schema.Free(),
            "The runner's own options, under the runner's names. They win over the values from the other keys."));
    keys.add(
        optional(
            "options_file",
            ValueType.PATH,
            "The runner's own config file, beside this file: Axolotl's, TRL's or Accelerate's. This file's keys"
                + " and options win over it."));
    keys.add(
        optional(
            "estimate",
            Workload.KEYS,
            "Facts for estimates that the other keys do not give. They change nothing that runs; an estimate reads those that its kind of run needs."));
    keys.add(
        optional(
            "software",
            Software.KEYS,
            "The software that the job loads before the command starts."));
    keys.add(
        optional(
            "code",
            // Here, and not in Code: a submit without code must not load that class.
            section(
                optional(
                    "path",
                    ValueType.PATH,
                    "A folder in a git working tree; a relative path begins at this file's folder. Default: the"
                        + " top folder of the git working tree that holds this file."),
                optional(
                    "exclude",
                    listOf(ValueType.TEXT),
                    "Globs of paths to leave out, such as `data/**` or `*.ckpt`. A glob without `/` matches a"
                        + " name in any folder."),
                optional(
                    "max_size",
                    ValueType.MEMORY,
                    "The most bytes that the files may have together. More is an error. Default: `200M`.")),
            "Packs the working tree of git at the submit, and unpacks it for each attempt of a task. `{}` takes"
                + " all defaults (`nexa-slurm explain docs/code.md`)."));
    keys.add(
        later(
            "data",
            () -> DataStage.KEYS,
            "For `data`: the step that nexa-slurm's own program does, exactly one (`nexa-slurm explain docs/data.md`). For `vllm`: generate"
                + " (`nexa-slurm explain docs/generate.md`)."));
    keys.add(
        optional(
            "sync",
            // Here, and not in SyncStage: a submit without sync must not load that class.
            section(
                required(
                    "from",
                    ValueType.PATH,
                    "The folder to copy: `${durable}/…`, or `${stages.NAME.checkpoint}` in a pipeline. If it is a"
                        + " file, only this file is copied."),
                optional(
                    "to",
                    ValueType.LITERAL,
                    "The address, such as `s3://bucket/prefix/${run_id}`. Default: the profile's storage.s3_prefix and"
                        + " the path of `from` below the durable tier."),
                optional(
                    "threads",
                    ValueType.integer(1, 99),
                    "How many files are copied at once. Default: 16."),
                optional(
                    "bandwidth",
                    ValueType.count(
                        "bytes in a second, such as 50M", "[1-9][0-9]{0,8}([KMGTkmgt]?(i?B)?)"),
                    "The most bytes in a second, such as `50M`. Default: unlimited."),
                optional(
                    "storage_class",
                    ValueType.STORAGE_CLASS,
                    "The storage class of new objects. Default: the profile's storage.s3.storage_class."),
                optional(
                    "endpoint",
                    ValueType.STORE_URL,
                    "The store's URL, for MinIO, Ceph or Backblaze. Default: the profile's storage.s3.endpoint, else"
                        + " AWS."),
                optional(
                    "exclude",
                    listOf(ValueType.TEXT),
                    "Patterns of files to leave out, such as `optimizer*`. `*` also matches slashes."),
                optional(
                    "include",
                    listOf(ValueType.TEXT),
                    "Patterns of files to copy although a pattern of `exclude` matches them.")),
            "For `sync`: the folder that the job copies to S3 (`nexa-slurm explain docs/sync.md#in-a-job`)."));
    return keys.toArray(new Schema.KnownKey[0]);
  }

  /**
   * The program that the python backend starts: a script or a module.
   *
   * @param config whether the program gets the training keys as a JSON file
   * @param launcher {@code python} or {@code torchrun}; empty for the default
   * @param launcherArgs further options of torchrun
   */
  public record Entrypoint(
      Optional<String> script,
      Optional<String> module,
      List<String> args,
      boolean config,
      Optional<String> launcher,
      List<String> launcherArgs) {

    /** Returns whether torchrun starts the ranks, if the job has GPUs or several nodes. */
    public boolean torchrun() {
      return launcher.orElse("torchrun").equals("torchrun");
    }
  }

  /**
   * The mail that Slurm sends about the job.
   *
   * @param user an address or a user name
   * @param type the events, as in sbatch's {@code --mail-type}
   */
  public record Mail(String user, String type) {}

  /** Returns the number of tasks: the points of a sweep, or the shards. */
  public int tasks() {
    return points.isEmpty() ? shards : points.size();
  }

  /** Returns the run's name in tables and tags: the config's name, else its stage. */
  public String title() {
    return name.orElse(stage);
  }

  public static RunConfig from(
      ConfigSource.Found source,
      Values values,
      Optional<NativeOptions> optionsFile,
      List<String> notes) {
    Values array = values.section("array");
    JsonObject options = values.section("options").json();
    Training training = Training.from(values);
    Resources resources = Resources.from(values.section("resources"));
    if (NativeKeys.areReadBy(values.text("backend"))
        && !(options.isEmpty() && optionsFile.isEmpty())) {
      NativeKeys keys =
          new NativeKeys(values.text("backend"), options, optionsFile, values.has("entrypoint"));
      training = keys.training(training);
      notes = keys.overridden(notes);
      if (optionsFile.isPresent()) {
        resources = keys.resources(resources, values.section("resources"));
        notes = keys.noted(notes, training, resources);
      }
    }
    List<JsonObject> points =
        values.has("sweep") ? Sweep.points(values.section("sweep"), new ArrayList<>()) : List.of();
    return new RunConfig(
        source,
        new ConfigPositions(
            source,
            values.positions(),
            optionsFile.isPresent() ? optionsFile.get().positions() : Map.of()),
        values.text("stage"),
        values.optionalText("name"),
        values.text("backend"),
        values.optionalText("cluster"),
        training,
        Serving.from(values),
        values.has("estimate")
            ? Optional.of(Workload.from(values.section("estimate")))
            : Optional.empty(),
        dataset(values, training),
        values.texts("tags"),
        resources,
        array.optionalInteger("shards").orElse(1),
        array.optionalInteger("max_parallel"),
        points,
        values.integer("requeues"),
        retryOn(values),
        values.optionalDuration("watchdog"),
        values.optionalText("monitor").map(text -> Span.of(text).orElse(Duration.ZERO)),
        values.integer("chain"),
        values.optionalDuration("warn_before_end"),
        copyCheckpoints(values.section("checkpoints")),
        values.optionalText("run"),
        values.has("entrypoint")
            ? Optional.of(entrypoint(values.section("entrypoint")))
            : Optional.empty(),
        values.optionalText("workdir"),
        values.optionalText("setup"),
        values.has("mail") ? Optional.of(mail(values.section("mail"))) : Optional.empty(),
        values.has("notify") ? NotifyChannel.from(values, true) : List.of(),
        values.texts("files"),
        values.textMap("env"),
        values.optionalText("env_file"),
        values.flag("debug"),
        options,
        optionsFile,
        Software.from(values.section("software")),
        values.has("code") ? Optional.of(Code.from(values.section("code"))) : Optional.empty(),
        values.has("data") ? Optional.of(DataStage.from(values.section("data"))) : Optional.empty(),
        values.has("sync") ? Optional.of(SyncStage.from(values.section("sync"))) : Optional.empty(),
        notes);
  }

  /** Adds problems that concern several keys. */
  public static void check(Values values, List<Problem> problems) {
    StageName.check(values, problems);
    // What the keys of a stage mean is not known while its stage or backend is wrong.
    if (!values.isWrong("stage") && !values.isWrong("backend")) {
      misplaced(values, problems);
      Serving.check(values, problems);
      // Checked here, so that DataStage is loaded only for a config that needs it.
      if (values.has("data") || values.optionalText("backend").orElse("").equals("data")) {
        DataStage.check(values, problems);
      }
      if (values.has("sync") || values.optionalText("backend").orElse("").equals("sync")) {
        SyncStage.check(values, problems);
      }
    }
    if (values.has("notify")) {
      NotifyChannel.check(values, problems);
    }
    Values array = values.section("array");
    if (values.has("sweep")) {
      if (array.has("shards")) {
        problems.add(
            array.problem(
                "shards",
                "a sweep's tasks are its points; leave it out, or divide each point's work itself"));
      }
      checkPoints(values, problems);
    } else {
      Training.check(values, problems);
      if (values.has("array") && !array.has("shards") && !array.isWrong("shards")) {
        problems.add(array.problem("shards", "missing; expected " + SHARDS.expected()));
      }
    }
    boolean again =
        values.optionalInteger("requeues").orElse(0) > 0
            || values.optionalInteger("chain").orElse(1) > 1
            || values.isWrong("requeues")
            || values.isWrong("chain");
    if (values.has("warn_before_end") && !again) {
      problems.add(
          values.problem(
              "warn_before_end", "needs requeues: 1 or chain: 2 or more to go on after it"));
    }
    retries(values, problems);
    checkpoints(values, problems);
    Values env = values.section("env");
    for (String name : env.names()) {
      if (name.startsWith("NEXA_") && !TIERS.contains(name)) {
        problems.add(env.problem(name, "names that begin with NEXA_ are the job script's own"));
      }
    }
    if (!values.has("options_file")) {
      Resources.check(values.section("resources"), problems);
    }
    values.requireAbsolute("env_file", problems);
    values.requireAbsolute("workdir", problems);
    Software.check(values.section("software"), problems);
    Values entrypoint = values.section("entrypoint");
    if (values.has("entrypoint") && entrypoint.has("script") == entrypoint.has("module")) {
      problems.add(values.problem("entrypoint", "needs either script or module"));
    }
  }

  /** Refuses what the backend would not run. A plugin may read any key. */
  private static void misplaced(Values values, List<Problem> problems) {
    String backend = values.optionalText("backend").orElse("");
    boolean programs = List.of("python", "accelerate", "acc").contains(backend);
    boolean runners = List.of("hf", "axolotl", "ax", "vllm", "lm_eval").contains(backend);
    if (values.has("run") && (programs || runners)) {
      problems.add(values.problem("run", "is for backend shell; " + backend + " does not run it"));
    }
    if (values.has("entrypoint") && (runners || backend.equals("shell"))) {
      problems.add(
          values.problem(
              "entrypoint", "is for python and accelerate; " + backend + " does not start it"));
    }
    Values entrypoint = values.section("entrypoint");
    for (String key : List.of("launcher", "launcher_args")) {
      if (entrypoint.has(key) && backend.startsWith("acc")) {
        problems.add(entrypoint.problem(key, "accelerate launch starts the program; leave it out"));
      }
    }
  }

  /** Checks the keys about retries and the watchdog. */
  private static void retries(Values values, List<Problem> problems) {
    boolean serves = values.optionalText("stage").orElse("").equals("serve");
    if (values.has("watchdog") && serves) {
      problems.add(
          values.problem("watchdog", "a server may wait for requests for hours; leave it out"));
    }
    if (!values.has("retry_on")) {
      return;
    }
    if (serves) {
      problems.add(
          values.problem(
              "retry_on", "a server that ends by itself is always tried again; leave it out"));
    } else if (values.optionalInteger("requeues").orElse(0) == 0) {
      problems.add(values.problem("retry_on", "needs requeues: 1 or more to try anything again"));
    }
    if (values.texts("retry_on").contains("stall") && !values.has("watchdog")) {
      problems.add(
          values.problem("retry_on", "stall needs a watchdog, which finds it: watchdog: 30m"));
    }
  }

  /** Checks where checkpoints are written. */
  private static void checkpoints(Values values, List<Problem> problems) {
    Values checkpoints = values.section("checkpoints");
    boolean scratch = checkpoints.optionalText("on").orElse("").equals(SCRATCH);
    if (checkpoints.has("copy_every") && !scratch && !checkpoints.isWrong("on")) {
      problems.add(
          checkpoints.problem(
              "copy_every", "needs on: scratch; checkpoints in durable storage are not copied"));
    }
    if (scratch
        && (values.has("data") || values.optionalText("stage").orElse("").equals("serve"))) {
      problems.add(
          checkpoints.problem("on", "a server or a data step writes no checkpoints; leave it out"));
    }
  }

  private static Optional<Duration> copyCheckpoints(Values checkpoints) {
    return checkpoints.optionalText("on").orElse("").equals(SCRATCH)
        ? Optional.of(checkpoints.optionalDuration("copy_every").orElse(Duration.ofMinutes(10)))
        : Optional.empty();
  }

  private static List<String> retryOn(Values values) {
    return values.has("retry_on") ? values.texts("retry_on") : RETRIED;
  }

  /**
   * Checks the training keys of each point. A problem of many points is reported for the first one
   * only.
   */
  private static void checkPoints(Values values, List<Problem> problems) {
    for (Problem problem : problems) {
      if (problem.key().startsWith("sweep")) {
        return; // The points of a broken sweep would repeat it.
      }
    }
    Values sweep = values.section("sweep");
    Set<Problem> seen = new HashSet<>();
    int task = 0;
    for (JsonObject point : Sweep.points(sweep, problems)) {
      List<Problem> wrong = new ArrayList<>();
      Training.check(values.at(point, Sweep.where(sweep, task)), wrong);
      for (Problem problem : wrong) {
        if (seen.add(problem)) {
          problems.add(problem.atPoint(task, point));
        }
      }
      task++;
    }
  }

  private static Optional<String> dataset(Values values, Training training) {
    Optional<String> path = training.text("dataset_path");
    return values.has("dataset") || path.isEmpty() || path.get().startsWith("${stages.")
        ? values.optionalText("dataset")
        : Optional.of(baseName(path.get()));
  }

  static String baseName(String path) {
    int end = path.length();
    while (end > 0 && path.charAt(end - 1) == '/') {
      end--;
    }
    // Not with a pattern: "^.*/" takes quadratic time on a long name.
    String last = path.substring(path.lastIndexOf('/', end - 1) + 1, end);
    int dot = last.lastIndexOf('.');
    return dot > 0 ? last.substring(0, dot) : last;
  }

  private static Entrypoint entrypoint(Values values) {
    return new Entrypoint(
        values.optionalText("script"),
        values.optionalText("module"),
        values.texts("args"),
        values.optional("config", Boolean.class).orElse(true),
        values.optionalText("launcher"),
        values.texts("launcher_args"));
  }

  private static Mail mail(Values values) {
    return new Mail(values.text("user"), values.optionalText("type").orElse("END,FAIL"));
  }
}
