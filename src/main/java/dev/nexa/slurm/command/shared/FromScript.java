package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.FromRuns;
import dev.nexa.slurm.job.config.Overrides;
import dev.nexa.slurm.job.config.SbatchHeader;
import dev.nexa.slurm.job.config.ScriptConfig;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A script that was typed in place of a config. Its config is made from the options; {@code --save}
 * keeps it as a file.
 *
 * @param args the script's arguments
 * @param options the values of options such as {@code --nodes}, by their names
 */
record FromScript(Context context, String script, List<String> args, Map<String, String> options) {

  /**
   * Returns a request that runs the script.
   *
   * @param request the request as it was typed
   * @param set the values of {@code --set} alone
   * @param save the file that keeps the config; empty for none
   * @param err receives a line about the config
   * @throws NexaException if the script is missing, or if the config cannot be saved
   */
  Prepared.Request request(
      Prepared.Request request, List<String> set, Optional<String> save, PrintWriter err) {
    ConfigSource.Found found = context.source().file(script);
    SbatchHeader header = SbatchHeader.of(found.text());
    Map<String, String> lines = lines(header, set);
    Map<String, String> all = new LinkedHashMap<>(lines);
    all.putAll(options);
    Map<String, String> shape = shape(set, keys(all));
    ScriptConfig.Start start = start(found, set, shape);
    requireTaken(header, set);
    tell(header, lines, all, set, err);
    where(found, start).forEach(shape::putIfAbsent);
    String name = script.substring(script.lastIndexOf('/') + 1);
    if (save.isPresent()) {
      Path file = Path.of(save.get().isEmpty() ? yamlName(name) : save.get());
      requireYaml(file, name);
      return saved(request, set, file, found, start, all, shape, err);
    }
    shape.putAll(keys(lines));
    ScriptConfig config = new ScriptConfig(name, start, args, shape);
    if (!Files.exists(Path.of(config.stem() + ".yaml"))) {
      err.println("note: to keep this as a config, add --save " + config.stem() + ".yaml");
    }
    List<String> overrides = new ArrayList<>(set);
    options.forEach((option, value) -> overrides.add(option + "=" + value));
    return request
        .with(overrides)
        .made(
            new ConfigSource.Found(
                found.name(), config.yaml(), found.path(), places(header, lines)));
  }

  /**
   * Returns what starts the script.
   *
   * @throws NexaException if torchrun would ignore its first line, or if it has the line ends of
   *     Windows, which sbatch refuses too
   */
  private ScriptConfig.Start start(
      ConfigSource.Found found, List<String> set, Map<String, String> shape) {
    Optional<String> program = ScriptConfig.interpreter(found.text());
    if (script.endsWith(".py") || program.map(name -> name.startsWith("python")).orElse(false)) {
      Optional<String> own = ScriptConfig.ownPython(found.text());
      boolean chosen = set.stream().anyMatch(one -> one.startsWith("software."));
      return own.isEmpty() || chosen ? ScriptConfig.Start.PYTHON : ownPython(own.get(), shape);
    }
    if (found.text().contains("\r\n")) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          script + " has the line ends of Windows, and bash takes them for parts of the commands",
          Advice.command("", "sed", "-i", "s/\\r$//", script));
    }
    return program.isPresent() ? ScriptConfig.Start.KERNEL : ScriptConfig.Start.BASH;
  }

  /**
   * Returns what starts a script whose first line names a Python of its own: one process is started
   * by that Python, several need torchrun of an environment.
   */
  private ScriptConfig.Start ownPython(String python, Map<String, String> shape) {
    if (ScriptConfig.isAlone(shape)) {
      return ScriptConfig.Start.KERNEL;
    }
    throw new NexaException(
        ErrorCode.OPTION_INVALID,
        script
            + ":1: the first line names "
            + python
            + ", but torchrun starts the processes of several GPUs or nodes with its own Python",
        Advice.step("write #!/usr/bin/env python3 in this line"),
        Advice.step(
            "or name the environment: --set software.venv=DIR, or --set software.conda=NAME"));
  }

  /** Returns the name of the config that is made from a script. */
  static String yamlName(String script) {
    return script.substring(script.lastIndexOf('/') + 1).replaceFirst("(?<=.)\\.[^.]*$", "")
        + ".yaml";
  }

  private static void requireYaml(Path file, String script) {
    if (file.toString().matches(".*\\.ya?ml")) {
      return;
    }
    throw new NexaException(
        ErrorCode.OPTION_INVALID,
        "--save " + file + ": expected the name of a config, which ends with .yaml",
        Advice.step("type --save " + yamlName(script)));
  }

  /** Writes the config, and returns a request that reads it. */
  private Prepared.Request saved(
      Prepared.Request request,
      List<String> set,
      Path file,
      ConfigSource.Found found,
      ScriptConfig.Start start,
      Map<String, String> all,
      Map<String, String> shape,
      PrintWriter err) {
    Map<String, String> values = keys(all);
    shape.forEach(values::putIfAbsent);
    ScriptConfig config = new ScriptConfig(below(file, found), start, args, values);
    List<String> left = new ArrayList<>();
    for (String one : set) {
      Optional<ScriptConfig> more = config.with(one);
      config = more.orElse(config);
      if (more.isEmpty()) {
        left.add(one);
      }
    }
    String yaml = config.yaml();
    requireNoSecret(file, yaml);
    boolean written = write(file, yaml);
    List<String> again = new ArrayList<>(List.of("nexa-slurm", "submit", file.toString()));
    left.forEach(one -> again.addAll(List.of("--set", one)));
    err.println(
        (written ? "wrote " : "found ")
            + file
            + (left.isEmpty() ? "" : ", which does not hold --set " + String.join(" --set ", left))
            + ": "
            + Script.shellLine(again)
            + " runs it again");
    return new Prepared.Request(
        file.toString(), left, request.cluster(), request.from(), request.sameNode(), false);
  }

  /** Returns where the values of {@code #SBATCH} lines are written, by the keys that they set. */
  private Map<String, Position> places(SbatchHeader header, Map<String, String> lines) {
    Map<String, Position> places = new HashMap<>();
    for (Map.Entry<String, String> line : lines.entrySet()) {
      String place = script + ":" + header.lines().get(line.getKey());
      for (String key : Overrides.keys(line.getKey(), line.getValue()).keySet()) {
        places.put(key, new Position(place, 0, 0));
      }
    }
    return places;
  }

  /**
   * Returns the keys that let the script find what it finds when it is typed by hand: it starts in
   * this folder, as with sbatch, and Python finds the modules beside it.
   */
  private static Map<String, String> where(ConfigSource.Found found, ScriptConfig.Start start) {
    if (found.path().isEmpty()) {
      return Map.of();
    }
    Path file = found.path().get().toAbsolutePath().normalize();
    Path here = Path.of("").toAbsolutePath();
    Path beside = file.resolveSibling("").normalize();
    Map<String, String> where = new LinkedHashMap<>();
    where.put("workdir", here.toString());
    if (start == ScriptConfig.Start.PYTHON) {
      where.put("env.PYTHONPATH", beside.toString());
    }
    return where;
  }

  /** Returns the options of the {@code #SBATCH} lines that no typed option replaces. */
  private Map<String, String> lines(SbatchHeader header, List<String> set) {
    Map<String, String> lines = new LinkedHashMap<>();
    for (Map.Entry<String, String> option : header.options().entrySet()) {
      boolean replaced = options.containsKey(option.getKey());
      for (String key : Overrides.keys(option.getKey(), option.getValue()).keySet()) {
        replaced |= isSet(set, key);
      }
      if (!replaced) {
        lines.put(option.getKey(), option.getValue());
      }
    }
    return lines;
  }

  private static boolean isSet(List<String> set, String key) {
    return set.stream().anyMatch(one -> one.startsWith(key + "="));
  }

  /** Returns {@code job.sh:2: #SBATCH --gpus=8}. */
  private String place(SbatchHeader.Unread option) {
    return script + ":" + option.line() + ": #SBATCH " + option.text();
  }

  /**
   * Throws if an option that we cannot take asks for GPUs or for an array: without it, the script
   * would run on other resources, or do a part of its work, and end well.
   */
  private void requireTaken(SbatchHeader header, List<String> set) {
    for (SbatchHeader.Unread option : header.unread()) {
      boolean gpus = header.options().containsKey("--gpus") || options.containsKey("--gpus");
      if (option.asksForGpus() && !gpus && !isSet(set, "resources.gpus_per_node")) {
        String each = gpusPerNode(option, header);
        throw new NexaException(
            ErrorCode.OPTION_INVALID,
            place(option) + ": nexa-slurm takes the number of GPUs on each node, not another count",
            Advice.step("write #SBATCH --gpus-per-node=" + each + " in this line"),
            Advice.step("or add --gpus " + each + " to the command"));
      }
      if (option.makesArray() && !isSet(set, "array.shards")) {
        throw new NexaException(
            ErrorCode.OPTION_INVALID,
            place(option) + ": nexa-slurm takes arrays from 0 without gaps, such as --array=0-15%4",
            Advice.step(
                "add --set array.shards=N to the command; the script then reads NEXA_TASK, from 0,"
                    + " and NEXA_TASKS"),
            Advice.command(
                "shows what becomes of each option", "nexa-slurm", "explain", "docs/migration.md"));
      }
    }
  }

  /** Returns the GPUs on each node as an option of ours takes them; N if they are not known. */
  private static String gpusPerNode(SbatchHeader.Unread option, SbatchHeader header) {
    boolean ofJob = option.name().equals("-G") || option.name().equals("--gpus");
    int colon = option.value().indexOf(':') + 1;
    String count = option.value().substring(colon);
    int nodes = Integer.parseInt(header.options().getOrDefault("--nodes", "1"));
    return ofJob && count.matches("\\d{1,6}") && nodes > 0 && Integer.parseInt(count) % nodes == 0
        ? option.value().substring(0, colon) + Integer.parseInt(count) / nodes
        : "N";
  }

  private void tell(
      SbatchHeader header,
      Map<String, String> lines,
      Map<String, String> all,
      List<String> set,
      PrintWriter err) {
    StringBuilder read = new StringBuilder();
    lines.forEach((option, value) -> read.append(' ').append(option).append(' ').append(value));
    if (read.length() > 0) {
      err.println("note: from the #SBATCH lines of " + script + ":" + read);
    }
    if (!header.unread().isEmpty()) {
      err.println(
          "note: these #SBATCH options of "
              + script
              + " are not used: "
              + header.unread().stream()
                  .map(one -> withOurs(one.text()))
                  .collect(Collectors.joining(" ")));
    }
    if (!all.containsKey("--time") && !isSet(set, "resources.time")) {
      err.println("note: no --time was typed: the time limit is " + ScriptConfig.DEFAULT_TIME);
    }
  }

  /** Returns an option of sbatch as it was written, and what to type instead if something does. */
  private static String withOurs(String option) {
    String name = option.split("[= ]", 2)[0];
    String value = option.substring(name.length()).replaceFirst("^[= ]", "");
    String ours =
        name.matches("--gpus|-G")
            ? "type --gpus " + value + ", the GPUs on each node"
            : FamiliarWords.job(name);
    return ours == null || !ours.startsWith("type ") ? option : option + " (" + ours + ")";
  }

  /**
   * Returns the values that decide which lines the config has. The other typed values stay
   * overrides, so that a message names the option.
   */
  private static Map<String, String> shape(List<String> set, Map<String, String> keys) {
    Map<String, String> shape = new LinkedHashMap<>();
    List<String> all = new ArrayList<>(set);
    keys.forEach((key, value) -> all.add(key + "=" + value));
    for (String one : all) {
      for (String key : List.of("resources.nodes", "resources.gpus_per_node")) {
        if (one.startsWith(key + "=") && one.substring(key.length() + 1).matches("\\d{1,6}")) {
          shape.put(key, one.substring(key.length() + 1));
        }
      }
    }
    return shape;
  }

  /** Returns the values of options, by the keys that they set. */
  private static Map<String, String> keys(Map<String, String> options) {
    Map<String, String> keys = new LinkedHashMap<>();
    options.forEach((option, value) -> keys.putAll(Overrides.keys(option, value)));
    return keys;
  }

  /** Returns the script's path as the config names it: relative to the config's folder. */
  private String below(Path config, ConfigSource.Found found) {
    Path folder = config.toAbsolutePath().normalize().getParent();
    if (found.path().isEmpty() || folder == null) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--save: " + found.name() + " is a file of the jar, and a config names files beside it");
    }
    Path real = found.path().get().toAbsolutePath().normalize();
    if (!real.startsWith(folder)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--save "
              + config
              + ": a config lies in its script's folder or above, and "
              + real
              + " is not below "
              + folder,
          Advice.step("name a file in " + real.getParent()));
    }
    return folder.relativize(real).toString();
  }

  /** Throws if the config holds a secret, such as a token among the arguments. */
  private void requireNoSecret(Path file, String yaml) {
    ConfigSource.Found made =
        new ConfigSource.Found(
            file.toString(), yaml.getBytes(StandardCharsets.UTF_8), Optional.of(file));
    try {
      context
          .configs()
          .run(
              made,
              List.of(),
              FromRuns.NONE,
              Optional.empty(),
              Optional.empty(),
              Prepared.clusterName(context));
    } catch (ConfigException wrong) {
      if (wrong.problems().stream().anyMatch(one -> one.code() == ErrorCode.CONFIG_HOLDS_SECRET)) {
        throw wrong;
      }
      // The command reports the other problems, when the file exists.
    }
  }

  /** Writes the config. Returns false if the file holds it already: the same line typed again. */
  private boolean write(Path file, String yaml) {
    if (Files.exists(file)) {
      if (yaml.equals(text(file))) {
        return false;
      }
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--save: " + file + " exists already",
          Advice.command(
              "runs it as it is, without the options that you typed", "nexa-slurm", "submit", file),
          Advice.step("or name another file; or, to replace it, delete it first"));
    }
    context
        .workspace()
        .files()
        .replace(file.toAbsolutePath(), yaml.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
    return true;
  }

  /** Returns the file's text; empty if it cannot be read as a text. */
  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      return "";
    }
  }
}
