package dev.nexa.slurm.job.config.foreign;

import dev.nexa.slurm.job.config.foreign.SbatchHeader.Unread;
import dev.nexa.slurm.job.config.run.Overrides;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The components of a script's heterogeneous job beside the first: groups without a command, which
 * the script uses with {@code srun --het-group}. As with sbatch, a component inherits only the
 * account. A component without a time limit has the first component's, because the job ends with
 * the script. Pure.
 */
public final class HetComponents {
  private HetComponents() {}

  /**
   * Returns the keys of the config for all components, such as {@code
   * groups.group1.resources.nodes}.
   *
   * @param first the first component's keys
   */
  public static Map<String, String> keys(SbatchHeader header, Map<String, String> first) {
    Map<String, String> keys = new LinkedHashMap<>();
    int number = 0;
    for (SbatchHeader component : header.components()) {
      String begin = "groups.group" + ++number + ".";
      Map<String, String> own = new LinkedHashMap<>();
      component.options().forEach((option, value) -> own.putAll(Overrides.keys(option, value)));
      own.keySet().removeIf(key -> !key.startsWith("resources."));
      own.putIfAbsent(
          "resources.time", first.getOrDefault("resources.time", ScriptConfig.DEFAULT_TIME));
      if (own.keySet().stream().noneMatch(key -> key.matches("resources[.]gpus.*"))) {
        own.put("resources.gpus_per_node", "0");
      }
      String account = first.get("resources.account");
      if (account != null) {
        own.putIfAbsent("resources.account", account);
      }
      own.forEach((key, value) -> keys.put(begin + key, value));
    }
    return keys;
  }

  /** Returns the options of the components that are not taken. */
  public static List<Unread> unread(SbatchHeader header) {
    List<Unread> unread = new ArrayList<>();
    for (SbatchHeader component : header.components()) {
      unread.addAll(component.unread());
      component
          .origins()
          .forEach(
              (option, origin) -> {
                if (Overrides.keys(option, component.options().getOrDefault(option, ""))
                    .keySet()
                    .stream()
                    .noneMatch(key -> key.startsWith("resources."))) {
                  unread.add(origin.because("only the first component's counts"));
                }
              });
    }
    return unread;
  }
}
