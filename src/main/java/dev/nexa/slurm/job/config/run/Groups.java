package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.config.yaml.YamlNode;
import dev.nexa.slurm.job.config.yaml.YamlNode.Entry;
import dev.nexa.slurm.job.config.yaml.YamlNode.Mapping;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The groups of a heterogeneous job (Slurm's heterogeneous_jobs): they start together, and each has
 * resources, a command and variables of its own. The first group's resources and command are read
 * as the config's own keys.
 */
public final class Groups {
  /** The key of a config. */
  public static final String KEY = "groups";

  /** Slurm's own limit is higher; this many ask for a mistake. */
  private static final int MOST = 32;

  /** The name of the first group where the config's own keys are its keys. */
  private static final String MAIN = "main";

  /** Keys that one script for one job has no place for. */
  private static final List<String> OTHER_SHAPES =
      List.of(
          "array",
          "sweep",
          "chain",
          "grow",
          "watchdog",
          "checkpoints",
          "code",
          "data",
          "sync",
          "entrypoint",
          "options_file");

  private Groups() {}

  /**
   * A group beside the first.
   *
   * @param run the text that bash runs once on each of its nodes; empty if the first group's
   *     command uses the nodes
   */
  public record Group(
      String name, Resources resources, Optional<String> run, Map<String, String> env) {}

  /**
   * Returns the config with the first group's resources and command as its own keys. A config that
   * has {@code run} itself is the first group already.
   */
  public static YamlNode withFirst(YamlNode root) {
    Entry entry = root instanceof Mapping given ? given.entries().get(KEY) : null;
    if (!(root instanceof Mapping config)
        || entry == null
        || !(entry.value() instanceof Mapping groups)
        || groups.entries().isEmpty()) {
      return root;
    }
    Map<String, Entry> all = new LinkedHashMap<>(config.entries());
    Map<String, Entry> named = new LinkedHashMap<>();
    if (all.containsKey("run") || all.containsKey("resources")) {
      String name = groups.entries().containsKey(MAIN) ? MAIN + "0" : MAIN;
      named.put(name, new Entry(config.at(), new Mapping(config.at(), Map.of())));
      named.putAll(groups.entries());
    } else {
      named.putAll(groups.entries());
      Map.Entry<String, Entry> leader = named.entrySet().iterator().next();
      if (!(leader.getValue().value() instanceof Mapping first)) {
        return root;
      }
      leader.setValue(new Entry(leader.getValue().keyAt(), with(all, first)));
    }
    all.put(KEY, new Entry(entry.keyAt(), new Mapping(groups.at(), named)));
    return new Mapping(config.at(), all);
  }

  /** Adds what is the config's own in the first group; returns the rest of the group. */
  private static Mapping with(Map<String, Entry> all, Mapping first) {
    Map<String, Entry> rest = new LinkedHashMap<>(first.entries());
    for (String key : List.of("resources", "run")) {
      Entry own = rest.remove(key);
      if (own != null) {
        all.put(key, own);
      }
    }
    return new Mapping(first.at(), rest);
  }

  /** Returns the groups; what the first one has is among the config's own keys. */
  static List<Group> of(Values values) {
    Values groups = values.section(KEY);
    List<Group> all = new ArrayList<>();
    for (String name : groups.names()) {
      Values group = groups.section(name);
      Values resources = all.isEmpty() ? values : group;
      all.add(
          new Group(
              name,
              Resources.from(resources.section("resources")),
              group.optionalText("run"),
              group.textMap("env")));
    }
    return all;
  }

  /** Adds the problems of a config that has groups. */
  static void check(Values values) {
    Values groups = values.section(KEY);
    List<String> names = groups.names();
    if (names.size() < 2 || names.size() > MOST) {
      values.report(KEY, "expected 2 to " + MOST + " groups; a job of one has no groups, only run");
    }
    if (!values.optionalText("backend").orElse("shell").equals("shell")) {
      values.report("backend", "groups are for backend shell");
    }
    for (String key : OTHER_SHAPES) {
      boolean once = key.equals("chain") && values.optionalInteger(key).orElse(1) == 1;
      if (values.has(key) && !once) {
        values.report(key, "a job with groups has none; `nexa-slurm explain docs/groups.md`");
      }
    }
    Set<String> seen = new TreeSet<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      Values group = groups.section(name);
      Environment.checkNames(group.section("env"));
      if (!seen.add(name.toUpperCase(Locale.ROOT).replace('-', '_'))) {
        groups.report(name, "another group has the same variables; rename it");
      }
      if (i > 0) {
        others(group);
      } else if (!values.has("run")) {
        groups.report(name, "the first group needs run: its end ends the job");
      }
    }
  }

  private static void others(Values group) {
    if (!group.has("resources") && !group.isWrong("resources")) {
      group.report("resources", "missing; each group has its own");
    }
    Resources.check(group.section("resources"));
    Values resources = group.section("resources");
    for (ResourceOption option : ResourceOption.values()) {
      if (group.has("run") && option.countsProcesses() && resources.has(option.key())) {
        resources.report(
            option.key(), "a further group runs its command once on each of its nodes");
      }
    }
  }
}
