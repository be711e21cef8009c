package dev.nexa.slurm.render;

import dev.nexa.slurm.backend.Launch;
import dev.nexa.slurm.config.Health;
import dev.nexa.slurm.plan.Allocation;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.units.Memory;
import dev.nexa.slurm.units.TimeLimit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What a template sees: plain text, numbers, flags and lists; docs/templates.md lists it. */
final class ScriptModel {
  private ScriptModel() {}

  static Map<String, Object> of(Plan plan, Launch launch) {
    Map<String, Object> model = new LinkedHashMap<>();
    model.put("directives", directives(plan));
    model.put("stage", plan.stage());
    model.put("tasks", plan.tasks());
    model.put("requeues", plan.requeues());
    model.put("chain", plan.chain());
    model.put("warning_seconds", warningSeconds(plan));
    // Of several nodes the last may be saving this long after the first has ended.
    model.put("wait_seconds", Math.max(60, warningSeconds(plan)));
    model.put("scheduler", plan.scheduler());
    model.put("nodes", plan.allocation().nodes());
    model.put("gpus_per_node", plan.allocation().gpusPerNode());
    model.put("ranks_per_node", plan.ranksPerNode());
    model.put("cpus_per_task", plan.allocation().cpusPerTask());
    model.put(
        "threads_per_rank",
        Math.max(1, plan.allocation().cpusPerTask() / Math.max(1, plan.ranksPerNode())));
    model.put("accelerator", plan.accelerator());
    model.put("debug", plan.debug());
    health(model, plan);
    model.put("scratch", plan.storage().scratch());
    model.put("durable", plan.storage().durable());
    model.put("shared", plan.storage().shared());
    model.put("modules", plan.software().modules());
    path(model, "venv", plan.software().venv());
    path(model, "conda", plan.software().conda());
    path(model, "uv", plan.software().uv());
    path(model, "container", plan.software().container());
    text(model, "container_runtime", plan.software().containerRuntime());
    model.put("mounts", mounts(plan));
    model.put("container_step", plan.software().isStep());
    path(model, "env_file", plan.envFile());
    model.put("env", env(plan));
    model.put("command", words(launch.command()));
    model.put("sweep", !plan.points().isEmpty());
    model.put("setup", plan.setup());
    path(model, "workdir", plan.workdir());
    path(model, "served_model", launch.servedModel());
    return model;
  }

  private static void health(Map<String, Object> model, Plan plan) {
    model.put("health_check", plan.health().isPresent());
    model.put("all_reduce", addsUp(plan));
    if (plan.health().isPresent()) {
      Health check = plan.health().get();
      model.put("scratch_free_kib", check.scratchFreeBytes() / 1024);
      text(model, "min_driver", check.minDriver());
      text(model, "interface", check.networkInterface());
    }
  }

  /** Whether the nodes try an all-reduce before they start. */
  static boolean addsUp(Plan plan) {
    return plan.health().isPresent()
        && plan.health().get().allReduce()
        && plan.allocation().nodes() > 1
        && plan.allocation().gpusPerNode() > 0;
  }

  /** Inside it is called as it is outside, unless the config says otherwise. */
  private static List<Object> mounts(Plan plan) {
    List<String> words = new ArrayList<>();
    for (String mount : plan.software().mounts()) {
      words.add(mount.indexOf(':') < 0 ? mount + ":" + mount : mount);
    }
    if (plan.workdir().isPresent()) {
      words.add(plan.workdir().get() + ":" + plan.workdir().get());
    }
    return words(words);
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
   * Every option of the plan as {@code name} and {@code value}, in the order sbatch(1) lists them.
   */
  /** The directives as arguments of sbatch: {@code --name=value}. */
  static List<String> options(Plan plan) {
    List<String> options = new ArrayList<>();
    for (Map<String, Object> option : directives(plan)) {
      Object value = option.get("value");
      options.add("--" + option.get("name") + (value == null ? "" : "=" + value));
    }
    return options;
  }

  private static List<Map<String, Object>> directives(Plan plan) {
    Allocation asked = plan.allocation();
    List<Map<String, Object>> options = new ArrayList<>();
    option(options, "account", asked.account());
    option(options, "array", array(plan));
    option(options, "constraint", asked.constraint());
    option(options, "cpus-per-task", "" + asked.cpusPerTask());
    if (asked.exclusive()) {
      flag(options, "exclusive");
    }
    if (asked.gpusPerNode() > 0) {
      String type = asked.gpuType().map(name -> name + ":").orElse("");
      option(options, "gpus-per-node", type + asked.gpusPerNode());
    }
    if (plan.mail().isPresent()) {
      option(options, "mail-type", plan.mail().get().type());
      option(options, "mail-user", plan.mail().get().user());
    }
    option(options, "mem", Memory.slurm(asked.memoryBytes()));
    option(options, "nodelist", asked.nodelist());
    option(options, "nodes", "" + asked.nodes());
    option(options, "ntasks-per-node", "1");
    option(options, "open-mode", "append");
    option(options, "partition", asked.partition());
    option(options, "qos", asked.qos());
    flag(options, plan.requeues() > 0 ? "requeue" : "no-requeue");
    option(options, "reservation", asked.reservation());
    if (warningSeconds(plan) > 0) {
      option(options, "signal", "B:USR1@" + warningSeconds(plan));
    }
    option(options, "time", TimeLimit.format(asked.timeLimit()));
    return options;
  }

  private static long warningSeconds(Plan plan) {
    return plan.warnBeforeEnd().isPresent() ? plan.warnBeforeEnd().get().toSeconds() : 0;
  }

  private static String array(Plan plan) {
    // A run of more goes by several submissions, each with a range of its own by argument.
    int tasks = Math.min(plan.tasks(), plan.maxArraySize());
    int atOnce = plan.maxParallel().orElse(tasks);
    return "0-" + (tasks - 1) + (atOnce < tasks ? "%" + atOnce : "");
  }

  private static void option(
      List<Map<String, Object>> options, String name, Optional<String> value) {
    if (value.isPresent()) {
      option(options, name, value.get());
    }
  }

  private static void option(List<Map<String, Object>> options, String name, String value) {
    options.add(Map.of("name", name, "value", value));
  }

  private static void flag(List<Map<String, Object>> options, String name) {
    options.add(Map.of("name", name));
  }

  private static List<Map<String, Object>> env(Plan plan) {
    List<Map<String, Object>> variables = new ArrayList<>();
    for (Map.Entry<String, String> variable : plan.env().entrySet()) {
      variables.add(
          Map.of(
              "name", variable.getKey(), "value", ShellFormat.INSTANCE.path(variable.getValue())));
    }
    return variables;
  }

  private static List<Object> words(List<String> command) {
    List<Object> words = new ArrayList<>();
    int varied = 0;
    for (String word : command) {
      words.add(
          word.equals(Launch.VARIED)
              ? ShellFormat.INSTANCE.varied(varied++)
              : ShellFormat.INSTANCE.path(word));
    }
    return words;
  }
}
