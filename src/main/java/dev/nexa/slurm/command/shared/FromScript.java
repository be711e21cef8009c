package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.Overrides;
import dev.nexa.slurm.job.config.ScriptConfig;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

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
   * @param request the request as it was typed; the flags are among its overrides
   * @param set the values of {@code --set} alone
   * @param save the file that keeps the config; empty for none
   * @param err receives a line about the config
   * @throws NexaException if the script is missing, or if the config cannot be saved
   */
  Prepared.Request request(
      Prepared.Request request, List<String> set, Optional<String> save, PrintWriter err) {
    ConfigSource.Found found = context.source().file(script);
    warn(found, set, err);
    if (save.isPresent()) {
      Path file = Path.of(save.get());
      String yaml = new ScriptConfig(below(file, found), args, keys()).yaml();
      write(file, yaml);
      err.println("wrote " + file + ": nexa-slurm submit " + file + " runs it again");
      return new Prepared.Request(
          save.get(), set, request.cluster(), request.from(), request.sameNode(), false);
    }
    String name = script.substring(script.lastIndexOf('/') + 1);
    String yaml = new ScriptConfig(name, args, shape(set)).yaml();
    err.println(
        "note: to keep this as a config, add --save "
            + name.substring(0, name.lastIndexOf('.'))
            + ".yaml");
    return request.made(
        new ConfigSource.Found(found.name(), yaml.getBytes(StandardCharsets.UTF_8), found.path()));
  }

  private void warn(ConfigSource.Found found, List<String> set, PrintWriter err) {
    if (!options.containsKey("--time")
        && set.stream().noneMatch(one -> one.startsWith("resources.time="))) {
      err.println("note: no --time was typed: the time limit is " + ScriptConfig.DEFAULT_TIME);
    }
    if (found.text().lines().anyMatch(line -> line.startsWith("#SBATCH"))) {
      err.println(
          "note: nexa-slurm does not read the #SBATCH lines of "
              + script
              + ": type --time, --nodes, --gpus, --mem ... instead");
    }
  }

  /**
   * Returns the values that decide which lines the config has. The other values stay overrides, so
   * that a message names the option and not a line of a file that does not exist.
   */
  private Map<String, String> shape(List<String> set) {
    Map<String, String> shape = new LinkedHashMap<>();
    List<String> all = new ArrayList<>(set);
    keys().forEach((key, value) -> all.add(key + "=" + value));
    for (String one : all) {
      for (String key : List.of("resources.nodes", "resources.gpus_per_node")) {
        if (one.startsWith(key + "=") && one.substring(key.length() + 1).matches("\\d{1,6}")) {
          shape.put(key, one.substring(key.length() + 1));
        }
      }
    }
    return shape;
  }

  /** Returns the values of the options, by their keys. */
  private Map<String, String> keys() {
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

  private void write(Path file, String yaml) {
    if (Files.exists(file)) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "--save: " + file + " exists already",
          Advice.command("runs it", "nexa-slurm", "submit", file),
          Advice.step("or name another file"));
    }
    context
        .workspace()
        .files()
        .replace(file.toAbsolutePath(), yaml.getBytes(StandardCharsets.UTF_8), "rw-r--r--");
  }
}
