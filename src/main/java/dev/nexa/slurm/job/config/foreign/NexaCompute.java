package dev.nexa.slurm.job.config.foreign;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.config.run.Supervision;
import dev.nexa.slurm.job.config.run.Sweep;
import dev.nexa.slurm.job.config.yaml.Checker;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.Anything;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ShellWords;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import dev.nexa.slurm.job.config.yaml.YamlNode.Scalar;
import dev.nexa.slurm.job.config.yaml.YamlNode.ScalarType;
import dev.nexa.slurm.job.config.yaml.YamlNode.Sequence;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Converts a sweep file of the Nexa_Compute project, with its own keys and defaults, into the tree
 * of a run config. Every node keeps its position in that file. docs/sweeps.md has the table of
 * keys.
 */
public record NexaCompute(Checker checker, List<Problem> problems, List<String> notes) {
  private static final ValueType NAME = ValueType.NAME_WORD;
  private static final ValueType TEXT = ValueType.TEXT;
  private static final ValueType WORD = ValueType.LITERAL;
  private static final ValueType NODES = ValueType.integer(1, 100_000);
  private static final ValueType VARIABLE =
      ValueType.text("a variable's name", "[A-Za-z_][A-Za-z0-9_]{0,127}");
  private static final ValueType FLAG =
      ValueType.text("a parameter's name", "-{0,2}[A-Za-z0-9][A-Za-z0-9._-]*");
  private static final String DOC = "As in Nexa_Compute.";

  public static final Section SPEC =
      section(
          required(
              "job",
              section(
                  withDefault("name", NAME, "nexa-train", DOC),
                  withDefault("partition", NAME, "gpu", DOC),
                  withDefault("time", ValueType.TIME, "08:00:00", DOC),
                  withDefault("nodes", NODES, "1", DOC),
                  optional("gpus_per_node", ValueType.integer(0, 64), DOC),
                  withDefault("cpus_per_task", ValueType.integer(1, 4096), "6", DOC),
                  withDefault("ntasks_per_node", ValueType.integer(1, 4096), "1", DOC),
                  optional("qos", NAME, DOC),
                  optional("account", NAME, DOC),
                  optional("constraint", TEXT, DOC),
                  optional("gres", TEXT, DOC),
                  optional("memory", ValueType.MEMORY, DOC),
                  optional("output_dir", TEXT, DOC),
                  optional("mail_type", Supervision.MAIL_TYPE, DOC),
                  optional("mail_user", TEXT, DOC),
                  optional("array_parallelism", ValueType.integer(1, 4_000_000), DOC),
                  optional("modules", listOf(TEXT), DOC),
                  optional("pre_commands", listOf(ValueType.SCRIPT), DOC),
                  optional("env", mapOf(VARIABLE, WORD), DOC),
                  optional("gpu_type", NAME, DOC),
                  optional("cost_per_gpu_hour", ValueType.DECIMAL_NUMBER, DOC)),
              DOC),
          optional(
              "sweep",
              section(
                  optional("base_args", listOf(WORD), DOC),
                  optional("parameters", mapOf(FLAG, listOf(new Anything())), DOC),
                  optional("overrides", listOf(WORD), DOC),
                  optional("tags", listOf(TEXT), DOC),
                  optional("wandb_group", TEXT, DOC),
                  optional("env", mapOf(VARIABLE, WORD), DOC)),
              DOC),
          required(
              "launcher",
              section(
                  withDefault("type", ValueType.choice("python", "torchrun"), "python", DOC),
                  optional("script", ValueType.PATH, DOC),
                  withDefault("python", TEXT, "python3", DOC),
                  withDefault("module", ValueType.BOOLEAN, "false", DOC),
                  optional("entrypoint", TEXT, DOC),
                  optional("nproc_per_node", ValueType.integer(1, 64), DOC),
                  optional("nnodes", NODES, DOC),
                  withDefault("rdzv_backend", TEXT, "c10d", DOC),
                  optional("rdzv_endpoint", TEXT, DOC),
                  optional("rdzv_id", WORD, DOC),
                  optional("extra_args", listOf(WORD), DOC)),
              DOC));

  /** Nexa_Compute's names of GPU types that have another name in our price book. */
  private static final Map<String, String> GPUS = Map.of("a100_80gb", "a100", "h100_80gb", "h100");

  private static final Pattern GRES =
      Pattern.compile("gpu(?::([A-Za-z0-9._-]*[A-Za-z][A-Za-z0-9._-]*))?(?::(\\d{1,2}))?");
  private static final Pattern VENV = Pattern.compile("(/.+)/bin/python[0-9.]*");

  /**
   * Removes and returns the overrides that set keys of the Nexa_Compute file. The remaining ones
   * set keys of the run config.
   */
  public static List<String> takeOverrides(List<String> overrides) {
    List<String> theirs =
        overrides.stream().filter(one -> one.matches("(job|sweep|launcher)[.=].*")).toList();
    overrides.removeAll(theirs);
    return theirs;
  }

  /** Returns the run config's tree. Adds a problem for each setting that cannot be converted. */
  public YamlNode ours(YamlNode theirs) {
    int before = problems.size();
    Values file = checker.section(SPEC, withoutNothing(theirs), "");
    Values job = file.section("job");
    Values sweep = file.section("sweep");
    Values launcher = file.section("launcher");
    Tree run = new Tree(theirs.at());
    if (problems.size() > before) {
      return run.node();
    }
    Mapping root = (Mapping) theirs;
    run.put("stage", "train").put("backend", "python");
    run.put("name", job.at("name"), job.text("name"));
    run.move("tags", written(root, "sweep"), "tags");
    resources(run, job, written(root, "job"));
    Tree parameters = parameters(written(root, "sweep"));
    if (!parameters.isEmpty()) {
      run.put("sweep", parameters.node());
      Tree array = new Tree(job.at("array_parallelism"));
      array.move("max_parallel", written(root, "job"), "array_parallelism");
      if (!array.isEmpty()) {
        run.put("array", array.node());
      }
    }
    entrypoint(run, job, sweep, launcher);
    env(run, job, sweep, launcher, !parameters.isEmpty());
    software(run, job, launcher);
    mail(run, job, written(root, "job"));
    noteUnused(job, launcher);
    return run.node();
  }

  /** Removes keys without a value: Nexa_Compute treats them as not written. */
  private static YamlNode withoutNothing(YamlNode root) {
    Map<String, Entry> sections = new LinkedHashMap<>();
    for (Map.Entry<String, Entry> section : ((Mapping) root).entries().entrySet()) {
      Entry entry = section.getValue();
      YamlNode value =
          isNothing(entry.value()) ? new Mapping(entry.keyAt(), Map.of()) : entry.value();
      if (value instanceof Mapping mapping) {
        Map<String, Entry> keys = new LinkedHashMap<>(mapping.entries());
        keys.values().removeIf(key -> isNothing(key.value()));
        value = new Mapping(mapping.at(), keys);
      }
      sections.put(section.getKey(), new Entry(entry.keyAt(), value));
    }
    return new Mapping(root.at(), sections);
  }

  private static boolean isNothing(YamlNode node) {
    return node instanceof Scalar scalar && scalar.type() == ScalarType.NULL;
  }

  private static Mapping written(Mapping root, String name) {
    Entry entry = ((Mapping) withoutNothing(root)).entries().get(name);
    return entry == null ? new Mapping(root.at(), Map.of()) : (Mapping) entry.value();
  }

  private void resources(Tree run, Values job, Mapping given) {
    Tree resources = new Tree(job.at(""));
    resources.put("nodes", job.at("nodes"), job.integer("nodes"));
    resources.put("cpus_per_task", job.at("cpus_per_task"), job.integer("cpus_per_task"));
    resources.put("partition", job.at("partition"), job.text("partition"));
    if (given.entries().containsKey("time")) {
      resources.move("time", given, "time");
    } else {
      resources.put("time", "08:00:00");
    }
    if (job.has("memory")) {
      // Nexa_Compute hands a bare number to sbatch, which counts MiB.
      String bytes = Memory.words(job.optionalBytes("memory").orElseThrow());
      resources.put("memory", job.at("memory"), bytes);
    }
    List.of("account", "qos", "constraint").forEach(key -> resources.move(key, given, key));
    int gpus = gpus(job);
    Optional<String> type = job.optionalText("gpu_type").map(name -> GPUS.getOrDefault(name, name));
    Matcher gres = GRES.matcher(job.optionalText("gres").orElse("gpu:" + gpus));
    if (!gres.matches()) {
      job.report("gres", "only GPUs can be asked for, such as gpu:a100:4");
    } else if (job.optionalInteger("gpus_per_node").orElse(gpus) != gpus) {
      String other = "asks for " + gpus + " GPUs, but gpus_per_node is ";
      job.report("gres", other + job.integer("gpus_per_node"));
    } else if (type.isEmpty()) {
      type = Optional.ofNullable(gres.group(1));
    }
    resources.put("gpus_per_node", job.at("gpus_per_node"), gpus);
    if (gpus > 0 && type.isPresent()) {
      resources.put("gpu_type", job.at("gpu_type"), type.get());
    }
    run.put("resources", resources.node());
    if (job.integer("ntasks_per_node") != 1) {
      String message = "expected 1: one launcher a node starts its ranks (nproc_per_node)";
      job.report("ntasks_per_node", message);
    }
  }

  /** Returns the GPUs on each node: from {@code gres}, else gpus_per_node, else 1. */
  private static int gpus(Values job) {
    Matcher gres = GRES.matcher(job.optionalText("gres").orElse(""));
    return !gres.matches()
        ? job.optionalInteger("gpus_per_node").orElse(1)
        : gres.group(2) == null ? 1 : Integer.parseInt(gres.group(2));
  }

  /**
   * Returns the sweep parameters as options, which the python backend passes as flags: {@code
   * key_name} becomes --key-name.
   */
  private Tree parameters(Mapping sweep) {
    Entry parameters = sweep.entries().get("parameters");
    Tree axes = new Tree(sweep.at());
    if (parameters != null && parameters.value() instanceof Mapping mapping) {
      axes = new Tree(mapping.at());
      for (Map.Entry<String, Entry> parameter : mapping.entries().entrySet()) {
        String name = parameter.getKey();
        String flag = (name.startsWith("--") ? name.substring(2) : name).replace('_', '-');
        if (axes.has(Sweep.OPTIONS + flag)) {
          Position at = parameter.getValue().value().at();
          String message = "is the same flag as another, --" + flag;
          problems.add(new Problem(at, "sweep.parameters." + name, message));
        }
        axes.put(Sweep.OPTIONS + flag, parameter.getValue().value());
      }
    }
    return axes;
  }

  private void entrypoint(Tree run, Values job, Values sweep, Values launcher) {
    boolean torchrun = launcher.text("type").equals("torchrun");
    boolean module = launcher.flag("module");
    String key = launcher.has("entrypoint") && (module || torchrun) ? "entrypoint" : "script";
    if (!launcher.has(key)) {
      launcher.report("script", "missing; expected the program to start");
      return;
    }
    Tree entrypoint = new Tree(launcher.at(key));
    entrypoint.put(module ? "module" : "script", launcher.at(key), launcher.text(key));
    entrypoint.put("config", launcher.at(key), false);
    entrypoint.put("launcher", launcher.at("type"), launcher.text("type"));
    List<YamlNode> args = new ArrayList<>();
    if (!torchrun) {
      words(launcher, "extra_args", args);
    }
    words(sweep, "base_args", args);
    words(sweep, "overrides", args);
    entrypoint.put("args", new Sequence(sweep.at("base_args"), args));
    List<YamlNode> launcherArgs = new ArrayList<>();
    if (torchrun) {
      words(launcher, "extra_args", launcherArgs);
      places(job, launcher);
    }
    entrypoint.put("launcher_args", new Sequence(launcher.at("extra_args"), launcherArgs));
    run.put("entrypoint", entrypoint.node());
    run.put("workdir", "${workspace}");
  }

  /** Checks that the launcher starts one rank for each GPU on all nodes. */
  private void places(Values job, Values launcher) {
    int gpus = Math.max(1, gpus(job));
    if (launcher.optionalInteger("nproc_per_node").orElse(gpus) != gpus) {
      String message = ", one process for each GPU; or write job.gpus_per_node";
      launcher.report("nproc_per_node", "expected " + gpus + message);
    }
    int nodes = job.integer("nodes");
    if (launcher.optionalInteger("nnodes").orElse(nodes) != nodes) {
      String message = " as job.nodes; a node that is not started is paid for";
      launcher.report("nnodes", "expected " + nodes + message);
    }
    if (!launcher.text("rdzv_backend").equals("c10d")) {
      launcher.report("rdzv_backend", "expected c10d; nodes meet through it");
    }
  }

  /** Splits each text into shell words: {@code --dataset glue} is two. */
  private void words(Values values, String key, List<YamlNode> words) {
    try {
      for (String text : values.texts(key)) {
        for (String word : ShellWords.of(text)) {
          words.add(new Scalar(values.at(key), word, ScalarType.STRING));
        }
      }
    } catch (IllegalArgumentException open) {
      values.report(key, String.valueOf(open.getMessage()));
    }
  }

  private static void env(Tree run, Values job, Values sweep, Values launcher, boolean sweeps) {
    Tree env = new Tree(job.at("env"));
    String name = job.text("name");
    env.put("PYTHONUNBUFFERED", "1");
    env.put("WANDB_RUN_GROUP", sweep.optionalText("wandb_group").orElse(name));
    env.put("WANDB_RUN_NAME", name + (sweeps ? "_${point}" : "_000"));
    for (Values own : List.of(job, sweep)) {
      own.textMap("env").forEach((key, value) -> env.put(key, own.section("env").at(key), value));
    }
    String script = launcher.optionalText("script").orElse("");
    if (script.contains("/") && !launcher.flag("module")) {
      // The script runs from runner/, but its imports are in its original folder.
      String folder = "${workspace}/" + script.substring(0, script.lastIndexOf('/'));
      env.put("PYTHONPATH", folder + env.text("PYTHONPATH").map(path -> ":" + path).orElse(""));
    }
    run.put("env", env.node());
  }

  private void software(Tree run, Values job, Values launcher) {
    Position at = job.at("modules");
    Tree software = new Tree(at);
    List<YamlNode> modules = new ArrayList<>();
    job.texts("modules").forEach(name -> modules.add(new Scalar(at, name, ScalarType.STRING)));
    software.put("modules", new Sequence(at, modules));
    String python = launcher.text("python");
    Matcher venv = VENV.matcher(python);
    if (venv.matches() && !venv.group(1).equals("/usr")) {
      software.put("venv", launcher.at("python"), venv.group(1));
    } else if (python.contains("/") && !venv.matches()) {
      launcher.report(
          "python", "expected python3, or that of a virtual environment: DIR/bin/python");
    }
    run.put("software", software.node());
    if (job.has("pre_commands")) {
      run.put("setup", job.at("pre_commands"), String.join("\n", job.texts("pre_commands")) + "\n");
    }
  }

  private void mail(Tree run, Values job, Mapping given) {
    if (job.has("mail_user")) {
      Tree mail = new Tree(job.at("mail_user"));
      mail.move("user", given, "mail_user").move("type", given, "mail_type");
      run.put("mail", mail.node());
    } else if (job.has("mail_type")) {
      job.report("mail_type", "needs mail_user");
    }
  }

  private void noteUnused(Values job, Values launcher) {
    String costs = "not used: what it costs is what the cluster profile's price book says";
    note(job, "cost_per_gpu_hour", costs);
    note(job, "output_dir", "not used: logs are in the run's folder, `nexa-slurm logs` shows them");
    note(launcher, "rdzv_endpoint", "not used: each task's job has its own meeting point");
    note(launcher, "rdzv_id", "not used: each task's job has its own");
  }

  private void note(Values values, String key, String what) {
    if (values.has(key)) {
      notes.add(values.problem(key, what).toString());
    }
  }

  /** Builds a mapping. */
  private static final class Tree {
    private final Position at;
    private final Map<String, Entry> entries = new LinkedHashMap<>();

    Tree(Position at) {
      this.at = at;
    }

    boolean isEmpty() {
      return entries.isEmpty();
    }

    boolean has(String key) {
      return entries.containsKey(key);
    }

    Mapping node() {
      return new Mapping(at, entries);
    }

    Tree put(String key, YamlNode value) {
      entries.put(key, new Entry(value.at(), value));
      return this;
    }

    Tree put(String key, Position at, String text) {
      return put(key, new Scalar(at, text, ScalarType.STRING));
    }

    Tree put(String key, String text) {
      return put(key, at, text);
    }

    Tree put(String key, Position at, int number) {
      return put(key, new Scalar(at, "" + number, ScalarType.NUMBER));
    }

    Tree put(String key, Position at, boolean flag) {
      return put(key, new Scalar(at, "" + flag, ScalarType.BOOLEAN));
    }

    Tree move(String key, Mapping from, String theirs) {
      Entry entry = from.entries().get(theirs);
      return entry == null ? this : put(key, entry.value());
    }

    Optional<String> text(String key) {
      Entry entry = entries.get(key);
      return entry == null ? Optional.empty() : Optional.of(((Scalar) entry.value()).text());
    }
  }
}
