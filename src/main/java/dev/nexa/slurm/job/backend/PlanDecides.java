package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.ConfigPositions;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Checks the runners' keys, flags and variables whose value the plan decides: machines, processes,
 * ranks, ports, rendezvous and folders.
 *
 * <p>An option may repeat the plan's value. Another value is a problem, because the job would run
 * otherwise than it is priced.
 */
final class PlanDecides {
  /**
   * The plan's value of a key.
   *
   * @param values the values that agree with the plan; empty if only the job knows the value
   * @param words the plan's value, for messages
   * @param change what to change in the config instead
   * @param place whether the key is an address or a folder that the command line replaces; an
   *     options file made for another machine may name another
   */
  record Rule(List<String> values, String words, String change, boolean place) {}

  private static final Set<String> DEVICES =
      Set.of(
          "CUDA_VISIBLE_DEVICES",
          "NVIDIA_VISIBLE_DEVICES",
          "HIP_VISIBLE_DEVICES",
          "ROCR_VISIBLE_DEVICES",
          "ZE_AFFINITY_MASK");

  private static final Set<String> LAUNCHERS =
      Set.of(
          "torch.distributed.run",
          "torch.distributed.launch",
          "accelerate.commands.launch",
          "accelerate.commands.accelerate_cli",
          "deepspeed.launcher.runner",
          "axolotl.cli.main");

  private static final String LEAVE = "leave it out";
  private static final String NODES = "resources.nodes";
  private static final String GPUS = "resources.gpus_per_node";

  private final Plan plan;
  private final List<Problem> problems;
  private final int nodes;
  private final int perNode;
  private final long world;
  private final boolean onGpus;

  /** Creates a checker for one plan. */
  PlanDecides(Plan plan, List<Problem> problems) {
    this.plan = plan;
    this.problems = problems;
    this.nodes = plan.allocation().nodes();
    this.perNode = Math.max(1, plan.shape().ranksPerNode());
    this.world = (long) nodes * perNode;
    this.onGpus = plan.site().accelerator().equals("cuda");
  }

  /**
   * Checks the config's own options.
   *
   * @param runner {@code accelerate}, {@code axolotl}, {@code trl}, {@code vllm} or {@code lm_eval}
   * @return the options without the keys that the plan decides, unless several values agree with
   *     the plan
   */
  JsonObject options(String runner, JsonObject options, String path) {
    JsonObject rest = without(rules(runner), options, "", path, false);
    sizes(runner, options, path + ".");
    if (options.members().get("env") instanceof JsonObject env && runner.equals("trl")) {
      nativeEnv(env, path + ".env.");
    }
    return rest;
  }

  /**
   * Checks the file that {@code options_file} names. Its addresses and folders are replaced.
   *
   * @param notes receives a sentence for each replaced value
   * @return the file's keys without those that the plan decides
   */
  JsonObject optionsFile(String runner, NativeOptions file, List<String> notes) {
    Map<String, Rule> rules = rules(runner);
    if (world == 1 && "NO".equals(file.value("distributed_type"))) {
      rules.put("num_processes", place("1, because distributed_type is NO", "1")); // It starts one.
    }
    JsonObject rest = without(rules, file.values(), "", "options_file", true);
    sizes(runner, file.values(), ConfigPositions.OPTIONS_FILE);
    if (file.values().members().get("env") instanceof JsonObject env && runner.equals("trl")) {
      nativeEnv(env, ConfigPositions.OPTIONS_FILE + "env.");
    }
    for (Map.Entry<String, Rule> rule : rules.entrySet()) {
      Object value = file.value(rule.getKey());
      if (rule.getValue().place() && !agrees(rule.getValue(), value)) {
        // Uses the file's name without its folder, because notes are part of the plan's digest.
        notes.add(
            "%s: %s: %s is replaced by %s"
                .formatted(file.name(), rule.getKey(), shown(value), rule.getValue().words()));
      }
    }
    return rest;
  }

  /** Checks the environment variables of the config and the profile, for every backend. */
  void env() {
    plan.environment().env().forEach((name, value) -> env(name, value, "env." + name));
  }

  /**
   * Checks the arguments of an entrypoint's launcher. A launcher that starts a launcher would
   * multiply the ranks.
   */
  void entrypoint(Entrypoint entrypoint) {
    boolean launched = !entrypoint.launcher().orElse("").equals("python");
    flags(flags("torchrun"), entrypoint.launcherArgs(), "entrypoint.launcher_args");
    String module = entrypoint.module().orElse("");
    if (!LAUNCHERS.contains(module)) {
      return;
    }
    if (launched && world > 1) {
      String launcher = plan.backend().startsWith("acc") ? "accelerate launch" : "torchrun";
      String message =
          ("%s starts ranks itself, but %s starts %s of it on each node already; name the program"
                  + " that trains, or write backend: python and entrypoint.launcher: python")
              .formatted(module, launcher, perNode);
      problems.add(plan.written().problem("entrypoint.module", message));
    } else {
      String runner = module.startsWith("torch") ? "torchrun" : "accelerate";
      flags(flags(runner), entrypoint.args(), "entrypoint.args");
    }
  }

  // ---- the tables

  /** Returns the rules of a runner, by its own key. */
  Map<String, Rule> rules(String runner) {
    Map<String, Rule> rules = new LinkedHashMap<>();
    switch (runner) {
      case "accelerate" -> accelerate(rules);
      case "axolotl" -> axolotl(rules);
      case "trl" -> trl(rules);
      case "vllm" -> vllm(rules);
      case "lm_eval" -> lmEval(rules);
      default -> throw new IllegalArgumentException(runner);
    }
    return rules;
  }

  private void accelerate(Map<String, Rule> rules) {
    machines(rules);
    rules.put("rdzv_backend", is(LEAVE, "static"));
    rules.put("compute_environment", is(LEAVE, "LOCAL_MACHINE"));
    String kinds = String.join(", ", types()) + " for " + world + (onGpus ? " GPUs" : " processes");
    rules.put("distributed_type", new Rule(types(), kinds, GPUS, false));
    rules.put("deepspeed_config.deepspeed_multinode_launcher", is(LEAVE, "standard"));
    for (String key : List.of("hostfile", "inclusion_filter", "exclusion_filter")) {
      rules.put("deepspeed_config.deepspeed_" + key, is(NODES));
    }
    rules.put("mpirun_config.mpirun_hostfile", is(NODES));
    rules.put("tpu_name", is(LEAVE));
    rules.put("tpu_use_cluster", is(LEAVE, "false"));
  }

  /** Adds the rules for the options that {@code accelerate launch} and TRL's scripts share. */
  private void machines(Map<String, Rule> rules) {
    rules.put("num_machines", is(NODES, "" + nodes));
    rules.put("num_processes", is(GPUS, "" + world));
    rules.put("machine_rank", place("each node's own", nodes == 1 ? "0" : "${node_rank}"));
    rules.put("main_process_ip", place("the job's first node", "${master_addr}"));
    rules.put("main_process_port", place("the job's own port", "${master_port}"));
    rules.put("gpu_ids", is(GPUS, "all"));
    rules.put("use_cpu", is("resources.gpus_per_node and the cluster", "" + !onGpus));
  }

  /**
   * Returns the allowed values of Accelerate's distributed_type. NO is allowed for one rank only:
   * with more, GPUs would be idle.
   */
  private List<String> types() {
    List<String> types = new ArrayList<>(List.of("FSDP", "DEEPSPEED", "MEGATRON_LM"));
    types.add(onGpus ? "MULTI_GPU" : "MULTI_CPU");
    if (world == 1) {
      types.add("NO");
    }
    return types;
  }

  private void axolotl(Map<String, Rule> rules) {
    rules.put("output_dir", checkpoints());
    rules.put("auto_resume_from_checkpoints", is("requeues and chain", "true"));
    if (plan.attempts() > 1) {
      rules.put("resume_from_checkpoint", newest());
      saves(rules);
    }
    rules.put("use_ray", is(LEAVE, "false"));
    rules.put("ray_num_workers", is(NODES));
    rules.put("local_rank", place("each rank's own", world == 1 ? "0" : "${local_rank}"));
  }

  /**
   * Adds the rules for TRL and for Accelerate's launch options, which {@code trl sft --config}
   * passes on.
   */
  private void trl(Map<String, Rule> rules) {
    rules.put("output_dir", checkpoints());
    rules.put("local_rank", place("each rank's own", world == 1 ? "0" : "${local_rank}", "-1"));
    machines(rules);
    if (plan.attempts() > 1) {
      saves(rules);
    }
    rules.put("accelerate_config", is("backend: accelerate with options_file"));
  }

  private static Rule newest() {
    return new Rule(List.of(), "the newest checkpoint of the run", "requeues and chain", false);
  }

  /**
   * Requires whole checkpoints if a task may be retried: without them each attempt begins at step
   * 0.
   */
  private static void saves(Map<String, Rule> rules) {
    String words = "attempts that go on from checkpoints";
    List<String> some = List.of("steps", "epoch", "best");
    rules.put("save_strategy", new Rule(some, words, "requeues and chain", false));
    rules.put("save_only_model", new Rule(List.of("false"), words, "requeues and chain", false));
  }

  private void vllm(Map<String, Rule> rules) {
    rules.put("nnodes", is(NODES, "" + nodes));
    rules.put("node_rank", is(LEAVE, nodes == 1 ? "0" : "${node_rank}"));
    rules.put("master_addr", is(LEAVE, "${master_addr}"));
    rules.put("master_port", is(LEAVE, "${master_port}"));
    rules.put("headless", is(LEAVE, "false"));
    rules.put("distributed_executor_backend", is(LEAVE, "mp", "uni"));
    for (String key : List.of("address", "rpc_port", "rank", "start_rank", "size_local")) {
      rules.put("data_parallel_" + key, is(LEAVE));
    }
  }

  private void lmEval(Map<String, Rule> rules) {
    int gpus = plan.allocation().gpusPerNode();
    List<String> devices = new ArrayList<>(onGpus && gpus > 0 ? List.of("cuda") : List.of("cpu"));
    if (gpus == 1) {
      devices.add("cuda:0");
    }
    String words = devices.get(0) + (gpus > 1 ? ", a copy on each of " + gpus + " GPUs" : "");
    rules.put("device", new Rule(devices, words, GPUS, false));
    String folder = "${durable}/evals/${run_id}";
    rules.put("output_path", new Rule(List.of(folder), folder, LEAVE, true));
  }

  private Rule checkpoints() {
    List<String> same =
        plan.supervision().copyCheckpoints().isPresent()
            ? List.of("${checkpoints}")
            : List.of("${checkpoints}", "${durable}/checkpoints/${run_id}");
    return new Rule(same, "the run's checkpoint folder, ${checkpoints}", LEAVE, true);
  }

  /** Returns the rules of a launcher, by its flag with underscores. */
  private Map<String, Rule> flags(String runner) {
    Map<String, Rule> rules = new LinkedHashMap<>();
    if (runner.equals("accelerate")) {
      accelerate(rules);
      rules.put("deepspeed_hostfile", is(NODES));
      rules.put("cpu", is("the cluster", "" + !onGpus));
      return rules;
    }
    int gpus = plan.allocation().gpusPerNode();
    String ranks = "" + (perNode > 1 ? perNode : Math.max(1, onGpus ? gpus : 1));
    rules.put("nnodes", is(NODES, "" + nodes, nodes + ":" + nodes));
    rules.put("nproc_per_node", is(GPUS, ranks, onGpus ? "gpu" : "cpu", "auto"));
    rules.put("node_rank", is(LEAVE, nodes == 1 ? "0" : "${node_rank}"));
    rules.put("standalone", is(NODES, "" + (nodes == 1)));
    rules.put("rdzv_backend", is(LEAVE, "c10d"));
    rules.put("rdzv_endpoint", is(LEAVE, "${master_addr}:${master_port}"));
    rules.put("rdzv_id", is(LEAVE, "${rendezvous}"));
    rules.put("rdzv_conf", is(LEAVE, "is_host=${is_first}"));
    rules.put("master_addr", is(LEAVE, "${master_addr}"));
    rules.put("master_port", is(LEAVE, "${master_port}"));
    rules.put("local_addr", is(LEAVE));
    return rules;
  }

  private static Rule is(String change, String... values) {
    String words = values.length == 0 ? "no value" : values[0];
    return new Rule(List.of(values), words, change, false);
  }

  private static Rule place(String words, String... values) {
    return new Rule(List.of(values), words, LEAVE, true);
  }

  // ---- how a value is held against them

  private JsonObject without(
      Map<String, Rule> rules, JsonObject options, String above, String path, boolean file) {
    JsonObject rest = new JsonObject();
    for (Map.Entry<String, @Nullable Object> option : options.members().entrySet()) {
      String name = above + option.getKey();
      String at = path + "." + option.getKey();
      Rule rule = rules.get(name.replace('-', '_'));
      if (rule != null) {
        if (!agrees(rule, option.getValue()) && !(file && rule.place())) {
          refuse(rule, "is " + shown(option.getValue()), at);
        } else if (option.getValue() != null && rule.values().size() > 1 && !rule.place()) {
          rest.with(option.getKey(), option.getValue()); // Keep the user's choice.
        }
      } else if (option.getValue() instanceof JsonObject below) {
        JsonObject left = without(rules, below, name + ".", at, file);
        if (!left.isEmpty() || below.isEmpty()) {
          rest.with(option.getKey(), left);
        }
      } else {
        rest.with(option.getKey(), option.getValue());
      }
    }
    return rest;
  }

  private static boolean agrees(Rule rule, @Nullable Object value) {
    return value == null
        || rule.values().stream().anyMatch(text(value)::equalsIgnoreCase)
        || (value instanceof JsonObject object && object.isEmpty());
  }

  /** Normalizes a value: 2, "2" and 2.0 are equal. */
  private static String text(Object value) {
    if (value instanceof BigDecimal number) {
      return number.stripTrailingZeros().toPlainString();
    }
    String text = String.valueOf(value).strip();
    return value instanceof String && text.matches("[0-9]{1,9}(\\.0{1,9})?")
        ? new BigDecimal(text).stripTrailingZeros().toPlainString()
        : text;
  }

  private void refuse(Rule rule, String given, String at) {
    String change = rule.change().equals(LEAVE) ? LEAVE : "change " + rule.change() + " instead";
    String message = given + ", but the plan has " + rule.words() + "; " + change;
    problems.add(plan.written().problem(at, message));
  }

  private static String shown(@Nullable Object value) {
    return value == null ? "nothing" : "'" + text(value) + "'";
  }

  /** Checks the sizes whose product must match the number of ranks. */
  private void sizes(String runner, JsonObject options, String path) {
    switch (runner) {
      case "accelerate" -> {
        List<String> keys =
            Stream.of("dp_replicate", "dp_shard", "tp", "cp", "sp")
                .map(name -> "parallelism_config.parallelism_config_" + name + "_size")
                .toList();
        product(options, keys, path, true);
        List<String> megatron =
            List.of(
                "megatron_lm_config.megatron_lm_tp_degree",
                "megatron_lm_config.megatron_lm_pp_degree");
        product(options, megatron, path, false);
      }
      case "axolotl" -> {
        String inner = "tensor_parallel_size";
        List<String> keys =
            List.of(inner, "context_parallel_size", "dp_shard_size", "dp_replicate_size");
        product(options, keys, path, size(options, "dp_shard_size") > 1);
        product(options, List.of("expert_parallel_size"), path, false);
      }
      case "trl" -> product(options, List.of("vllm_tensor_parallel_size"), path, false);
      default -> {}
    }
  }

  private void product(JsonObject options, List<String> keys, String path, boolean whole) {
    long product = 1;
    String last = "";
    for (String key : keys) {
      long size = size(options, key);
      if (size == BAD) {
        String message = "is not a number of GPUs; expected a whole number such as 2";
        problems.add(plan.written().problem(path + key, message));
        return;
      }
      if (size > 1) {
        last = key;
        product = Math.min(product, Integer.MAX_VALUE) * size;
      }
    }
    if (product > 1 && (whole ? product != world : world % product != 0)) {
      String names = String.join(" x ", keys.size() > 1 ? keys : List.of(last));
      String which = whole ? "is not" : "does not divide";
      String message =
          "%s is %s, which %s the %s ranks of the plan; change it, or %s and %s"
              .formatted(names, product, which, world, GPUS, NODES);
      problems.add(plan.written().problem(path + last, message));
    }
  }

  /** Returned for a text or a number that is not a size. */
  static final long BAD = Long.MIN_VALUE;

  /** Returns a size; 1 if the option is missing or leaves the size to the runner. */
  static long size(JsonObject options, String key) {
    Object value = options.members().get(key);
    int dot = key.indexOf('.');
    if (value == null && dot > 0) {
      Object section = options.members().get(key.substring(0, dot));
      value = section instanceof JsonObject o ? o.members().get(key.substring(dot + 1)) : null;
    }
    if (value == null) {
      return 1;
    }
    String text = text(value);
    return text.matches("-1|[0-9]{1,9}") ? Math.max(1, Long.parseLong(text)) : BAD;
  }

  /**
   * Checks flags of the forms {@code --name value}, {@code --name=value} and {@code --name}, with
   * dashes or underscores.
   */
  private void flags(Map<String, Rule> rules, List<String> words, String at) {
    for (int i = 0; i < words.size(); i++) {
      String word = words.get(i);
      if (!word.startsWith("--")) {
        continue;
      }
      String[] parts = word.substring(2).split("=", 2);
      String name = parts[0].replace('-', '_').toLowerCase(Locale.ROOT);
      Rule rule = rules.get(name);
      if (rule != null) {
        boolean next = i + 1 < words.size() && !words.get(i + 1).startsWith("-");
        boolean alone = name.equals("standalone") || name.equals("cpu");
        String value = parts.length > 1 ? parts[1] : next && !alone ? words.get(i + 1) : "true";
        if (!agrees(rule, value)) {
          refuse(rule, "--" + parts[0] + " is '" + value + "'", at);
        }
      }
    }
  }

  private void nativeEnv(JsonObject env, String path) {
    for (Map.Entry<String, @Nullable Object> variable : env.members().entrySet()) {
      if (variable.getValue() != null) {
        env(variable.getKey(), text(variable.getValue()), path + variable.getKey());
      }
    }
  }

  private void env(String name, String value, String at) {
    int gpus = plan.allocation().gpusPerNode();
    if (DEVICES.contains(name)) {
      boolean same =
          gpus == 0
              ? List.of("", "-1", "none", "void", "NoDevFiles").contains(value)
              : value.equals(devices(gpus)) || value.equals("all");
      if (!same) {
        Rule rule = new Rule(List.of(), gpus + " GPUs on each node", GPUS, false);
        refuse(rule, "is " + shown(value), at);
      }
      return;
    }
    Rule rule = variable(name);
    if (rule != null && !agrees(rule, value)) {
      refuse(rule, "is " + shown(value), at);
    }
  }

  private static String devices(int gpus) {
    return IntStream.range(0, gpus).mapToObj(String::valueOf).collect(Collectors.joining(","));
  }

  /**
   * Returns the rule of a variable that Slurm, torch.distributed, torchrun (PET_…) or vLLM reads;
   * null for other variables.
   */
  private @Nullable Rule variable(String name) {
    boolean ranked = plan.shape().ranksPerNode() > 0 && !plan.backend().equals("shell");
    if (name.startsWith("SLURM_") && !name.startsWith("SLURM_CPU_BIND")) {
      return new Rule(List.of(), "what Slurm sets in the job", LEAVE, false);
    }
    if (!ranked) {
      return null;
    }
    String one = world == 1 ? "0" : "${rank}";
    return switch (name) {
      case "WORLD_SIZE" -> is(GPUS, "" + world);
      case "LOCAL_WORLD_SIZE", "PET_NPROC_PER_NODE" -> is(GPUS, "" + perNode);
      case "GROUP_WORLD_SIZE", "PET_NNODES" -> is(NODES, "" + nodes);
      case "RANK", "LOCAL_RANK", "ROLE_RANK" ->
          new Rule(List.of(one), "each rank's own", LEAVE, false);
      case "NODE_RANK", "GROUP_RANK", "PET_NODE_RANK" ->
          new Rule(List.of(nodes == 1 ? "0" : "${node_rank}"), "each node's own", LEAVE, false);
      case "MASTER_ADDR", "PET_MASTER_ADDR", "VLLM_HOST_IP" ->
          new Rule(List.of(), "the job's first node", LEAVE, false);
      case "MASTER_PORT", "PET_MASTER_PORT", "VLLM_PORT" ->
          new Rule(List.of(), "the job's own port", LEAVE, false);
      default ->
          name.startsWith("PET_RDZV_")
                  || name.equals("PET_STANDALONE")
                  || name.startsWith("TORCHELASTIC_RUN_ID")
                  || name.startsWith("VLLM_DP_")
              ? new Rule(List.of(), "the job's own meeting point", LEAVE, false)
              : null;
    };
  }
}
