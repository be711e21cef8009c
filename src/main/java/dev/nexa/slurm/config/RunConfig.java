package dev.nexa.slurm.config;

import static dev.nexa.slurm.config.Shape.listOf;
import static dev.nexa.slurm.config.Shape.mapOf;
import static dev.nexa.slurm.config.Shape.optional;
import static dev.nexa.slurm.config.Shape.required;
import static dev.nexa.slurm.config.Shape.section;
import static dev.nexa.slurm.config.Shape.withDefault;

import dev.nexa.slurm.config.Shape.Section;
import dev.nexa.slurm.files.JsonObject;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * One job, as a person describes it:
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
 * @param source the file it was read from
 * @param written where its keys stand
 * @param training the training keys that were given
 * @param workload what only estimates read; empty where nothing of it is given
 * @param dataset the dataset's name; from {@code dataset}, else from the last part of {@code
 *     dataset_path}
 * @param points of a sweep: what each task sets; empty where there is none
 * @param requeues how often Slurm may run a task again
 * @param chain how many jobs follow each other
 * @param options the runner's own options
 * @param notes what the person should know of how the file was read
 */
public record RunConfig(
    ConfigSource.Found source,
    Written written,
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
    int chain,
    Optional<Duration> warnBeforeEnd,
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    Optional<String> workdir,
    Optional<String> setup,
    Optional<Mail> mail,
    List<String> files,
    Map<String, String> env,
    Optional<String> envFile,
    boolean debug,
    JsonObject options,
    Software software,
    List<String> notes) {

  /** Words that name files beside the runs' own (DESIGN.md, Run ids). */
  private static final Set<String> RESERVED_STAGES = Set.of("cost", "infra", "estimate");

  /** Not `+` and `*`: of a long list they would need more stack than there is. */
  static final ValueType MAIL_TYPE =
      ValueType.text("words such as END,FAIL", "[A-Za-z0-9_]{1,40}(,[A-Za-z0-9_]{1,40}){0,20}");

  private static final ValueType SHARDS = ValueType.integer(1, 4_000_000);

  private static final Section RESOURCES =
      section(
          withDefault("nodes", ValueType.integer(1, 100_000), "1", "Nodes for each task."),
          withDefault("gpus_per_node", ValueType.integer(0, 64), "0", "GPUs on each node."),
          optional(
              "gpu_type",
              ValueType.NAME_WORD,
              "The GPU's type as the cluster names it, such as `h100`."),
          withDefault("cpus_per_task", ValueType.integer(1, 4096), "1", "CPUs on each node."),
          optional(
              "memory",
              ValueType.MEMORY,
              "Memory on each node; where not given the partition's default, else 4 GiB for each CPU."),
          required(
              "time",
              ValueType.TIME,
              "Time limit of each task; a bare number is minutes, `30:00` is 30 minutes."),
          optional(
              "partition",
              ValueType.NAME_WORD,
              "Partition; where not given the profile's default if it fits, else another that does."),
          optional(
              "account", ValueType.NAME_WORD, "Account to charge; the profile's where not given."),
          optional("qos", ValueType.NAME_WORD, "Quality of service."),
          optional("constraint", ValueType.TEXT, "Node features, in Slurm's notation."),
          optional("reservation", ValueType.NAME_WORD, "Reservation to use."),
          optional(
              "nodelist",
              ValueType.text(
                  "nodes such as n1 or n[1-4,7]", "[A-Za-z0-9][A-Za-z0-9._,\\[\\]-]{0,1022}"),
              "Nodes that the job must have, in Slurm's notation."),
          withDefault(
              "exclusive",
              ValueType.BOOLEAN,
              "false",
              "Whole nodes, and whole nodes are paid for."));

  /** Every key of the file. */
  static final Section SPEC = section(keys());

  private static Shape.KnownKey[] keys() {
    List<Shape.KnownKey> keys = new ArrayList<>();
    keys.add(
        required(
            "stage",
            ValueType.text("a stage name such as data, train or eval", "[a-z][a-z0-9-]{0,30}"),
            "What the run does: data, generate, filter, train, eval, serve, sync, or a name of your own."));
    keys.add(
        optional(
            "name",
            ValueType.NAME_WORD,
            "The experiment's name; becomes the tag `experiment:NAME`."));
    keys.add(
        required(
            "backend",
            ValueType.NAME_WORD,
            "What runs inside the job: `shell`, `python`, `hf`, `axolotl`, `accelerate`, `vllm` or `lm_eval`."));
    keys.add(
        optional(
            "cluster", ValueType.NAME_WORD, "The cluster profile, configs/clusters/NAME.yaml."));
    keys.addAll(Training.KEYS.keys());
    keys.addAll(Serving.KEYS.keys());
    keys.add(
        optional(
            "dataset",
            ValueType.NAME_WORD,
            "The dataset's name; the last part of dataset_path if not given."));
    keys.add(
        optional(
            "tags",
            listOf(ValueType.TEXT),
            "Free words that the manifest keeps, to find runs by."));
    keys.add(required("resources", RESOURCES, "What each task needs."));
    keys.add(
        optional(
            "array",
            section(
                optional(
                    "shards",
                    SHARDS,
                    "How many tasks; needed unless there is a sweep, whose points are the tasks."),
                optional(
                    "max_parallel", ValueType.integer(1, 4_000_000), "How many of them at once.")),
            "Runs the job once for each shard; NEXA_TASK and NEXA_TASKS tell a task its part."));
    keys.add(
        optional(
            "sweep",
            Sweep.SPEC,
            "Runs the job once for each point: other values of the keys that it names, such as"
                + " `{lr: [1e-5, 2e-5], seed: [1, 2, 3]}`."));
    keys.add(
        withDefault(
            "requeues",
            ValueType.integer(0, 100),
            "0",
            "How often Slurm may run a task again; each costs."));
    keys.add(
        withDefault(
            "chain",
            ValueType.integer(1, 100),
            "1",
            "How many jobs follow each other, each beginning when the one before has ended; a task that ended with 0 is"
                + " not done again."));
    keys.add(
        optional(
            "warn_before_end",
            ValueType.TIME,
            "How long before the time limit a task is told to save (SIGTERM); if it then ends with anything"
                + " but 0 it is queued again, as often as requeues says."));
    keys.add(
        optional(
            "run", ValueType.SCRIPT, "For `shell`: the bash text each task runs, kept as it is."));
    keys.add(
        optional(
            "entrypoint",
            section(
                optional(
                    "script",
                    ValueType.PATH,
                    "A program beside this file; it is kept with the run."),
                optional("module", ValueType.TEXT, "An installed Python module, run with -m."),
                optional("args", listOf(ValueType.LITERAL), "Arguments, each passed on as it is."),
                optional(
                    "config",
                    ValueType.BOOLEAN,
                    "Whether it gets `--config FILE` with the training keys as JSON; true if not given."),
                optional(
                    "launcher",
                    ValueType.choice("python", "torchrun"),
                    "What starts it; torchrun with GPUs or several nodes, else python, where not given."),
                optional(
                    "launcher_args",
                    listOf(ValueType.LITERAL),
                    "Further options of torchrun, such as `--max_restarts=2`.")),
            "For `python`: what is started; then come `options` as flags, `--name value`."));
    keys.add(
        optional(
            "workdir",
            ValueType.PATH,
            "Where the command starts; an absolute path. The task's scratch, or with a launcher the run's folder,"
                + " where not given."));
    keys.add(
        optional(
            "setup",
            ValueType.SCRIPT,
            "Shell lines that the job runs first, after modules and venv; kept as they are."));
    keys.add(
        optional(
            "mail",
            section(
                required("user", ValueType.TEXT, "The address, or the user's name."),
                optional(
                    "type",
                    MAIL_TYPE,
                    "When, as sbatch's --mail-type; `END,FAIL` where not given.")),
            "Whom Slurm tells when the job ends."));
    keys.add(
        optional(
            "files",
            listOf(ValueType.PATH),
            "Files beside this one that the job needs; kept in runner/."));
    keys.add(
        optional(
            "env",
            mapOf(
                ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}"),
                ValueType.LITERAL),
            "Environment variables of the job. No secrets: those go into env_file."));
    keys.add(
        optional(
            "env_file",
            ValueType.PATH,
            "A file of NAME=value lines with your secrets, mode 0600, which the job reads itself; an absolute path."));
    keys.add(
        withDefault(
            "debug",
            ValueType.BOOLEAN,
            "false",
            "Makes NCCL and PyTorch tell what they do, which slows training: to find why ranks hang."));
    keys.add(
        optional(
            "options",
            new Shape.Free(),
            "The runner's own options, as it names them; they win over what the other keys become."));
    keys.add(
        optional(
            "estimate",
            Workload.KEYS,
            "What estimates cannot read off the other keys; it changes nothing that runs."));
    keys.add(optional("software", Software.KEYS, "What is loaded before the command starts."));
    return keys.toArray(new Shape.KnownKey[0]);
  }

  /** What each task needs; per node where it says so. */
  public record Resources(
      int nodes,
      int gpusPerNode,
      Optional<String> gpuType,
      int cpusPerTask,
      Optional<Long> memoryBytes,
      Duration time,
      Optional<String> partition,
      Optional<String> account,
      Optional<String> qos,
      Optional<String> constraint,
      Optional<String> reservation,
      Optional<String> nodelist,
      boolean exclusive) {}

  /** What the python backend starts: a script or a module. */
  public record Entrypoint(
      Optional<String> script,
      Optional<String> module,
      List<String> args,
      boolean config,
      Optional<String> launcher,
      List<String> launcherArgs) {

    /** Whether ranks are started by torchrun, where there may be some. */
    public boolean torchrun() {
      return launcher.orElse("torchrun").equals("torchrun");
    }
  }

  /** Whom Slurm tells. */
  public record Mail(String user, String type) {}

  /** How many array tasks: the points of a sweep, or the shards. */
  public int tasks() {
    return points.isEmpty() ? shards : points.size();
  }

  /** The run's name in tables and tags. */
  public String title() {
    return name.orElse(stage);
  }

  static RunConfig from(ConfigSource.Found source, Values values, List<String> notes) {
    Values array = values.section("array");
    List<JsonObject> points =
        values.has("sweep") ? Sweep.points(values.section("sweep"), new ArrayList<>()) : List.of();
    return new RunConfig(
        source,
        new Written(source.name(), values.positions()),
        values.text("stage"),
        values.optionalText("name"),
        values.text("backend"),
        values.optionalText("cluster"),
        Training.from(values),
        Serving.from(values),
        values.has("estimate")
            ? Optional.of(Workload.from(values.section("estimate")))
            : Optional.empty(),
        dataset(values),
        values.texts("tags"),
        resources(values.section("resources")),
        array.optionalInteger("shards").orElse(1),
        array.optionalInteger("max_parallel"),
        points,
        values.integer("requeues"),
        values.integer("chain"),
        values.optionalDuration("warn_before_end"),
        values.optionalText("run"),
        values.has("entrypoint")
            ? Optional.of(entrypoint(values.section("entrypoint")))
            : Optional.empty(),
        values.optionalText("workdir"),
        values.optionalText("setup"),
        values.has("mail") ? Optional.of(mail(values.section("mail"))) : Optional.empty(),
        values.texts("files"),
        values.textMap("env"),
        values.optionalText("env_file"),
        values.flag("debug"),
        values.section("options").json(),
        Software.from(values.section("software")),
        notes);
  }

  /** Rules between keys, told together with the rest. */
  static void check(Values values, List<Problem> problems) {
    String stage = values.optionalText("stage").orElse("");
    if (RESERVED_STAGES.contains(stage)) {
      problems.add(
          values.problem(
              "stage", "'" + stage + "' is taken by files beside the runs; choose another name"));
    }
    Serving.check(values, problems);
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
      if (values.has("array") && !array.has("shards")) {
        problems.add(array.problem("shards", "missing; expected " + SHARDS.expected()));
      }
    }
    boolean again =
        values.optionalInteger("requeues").orElse(0) > 0
            || values.optionalInteger("chain").orElse(1) > 1;
    if (values.has("warn_before_end") && !again) {
      problems.add(
          values.problem(
              "warn_before_end", "needs requeues: 1 or chain: 2 or more to go on after it"));
    }
    Values env = values.section("env");
    for (String name : env.names()) {
      if (name.startsWith("NEXA_")) {
        problems.add(env.problem(name, "names that begin with NEXA_ are the job script's own"));
      }
    }
    Values resources = values.section("resources");
    if (resources.has("gpu_type") && resources.optionalInteger("gpus_per_node").orElse(0) == 0) {
      problems.add(resources.problem("gpu_type", "names a GPU, but gpus_per_node is 0"));
    }
    values.requireAbsolute("env_file", problems);
    values.requireAbsolute("workdir", problems);
    Software.check(values.section("software"), problems);
    Values entrypoint = values.section("entrypoint");
    if (values.has("entrypoint") && entrypoint.has("script") == entrypoint.has("module")) {
      problems.add(values.problem("entrypoint", "needs either script or module"));
    }
  }

  /** Rules between training keys, at each point; what is wrong at many is told of the first. */
  private static void checkPoints(Values values, List<Problem> problems) {
    for (Problem problem : problems) {
      if (problem.key().startsWith("sweep")) {
        return; // What is left of it would be told to be too little.
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

  private static Optional<String> dataset(Values values) {
    Optional<String> path = values.optionalText("dataset_path");
    return values.has("dataset") || path.isEmpty()
        ? values.optionalText("dataset")
        : Optional.of(baseName(path.get()));
  }

  private static String baseName(String path) {
    int end = path.length();
    while (end > 0 && path.charAt(end - 1) == '/') {
      end--;
    }
    // Not by a pattern: "^.*/" takes the square of a long name's length.
    String last = path.substring(path.lastIndexOf('/', end - 1) + 1, end);
    int dot = last.lastIndexOf('.');
    return dot > 0 ? last.substring(0, dot) : last;
  }

  private static Resources resources(Values values) {
    return new Resources(
        values.integer("nodes"),
        values.integer("gpus_per_node"),
        values.optionalText("gpu_type"),
        values.integer("cpus_per_task"),
        values.optionalBytes("memory"),
        values.duration("time"),
        values.optionalText("partition"),
        values.optionalText("account"),
        values.optionalText("qos"),
        values.optionalText("constraint"),
        values.optionalText("reservation"),
        values.optionalText("nodelist"),
        values.flag("exclusive"));
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
