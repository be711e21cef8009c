package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.yaml.Problem;
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
 * resources, a command and variables of its own. The first group's are read as the config's own
 * keys.
 */
public final class Groups {
  /** The key of a config. */
  public static final String KEY = "groups";

  /** Slurm's own limit is higher; this many ask for a mistake. */
  private static final int MOST = 32;

  /** The keys of a group that the config itself has, where it has no groups. */
  private static final List<String> OF_A_GROUP = List.of("resources", "run");

  /** What one script for one job has no place for. */
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

  /** Returns the config with the first group's resources, command and variables as its own keys. */
  public static YamlNode withFirst(YamlNode root, List<Problem> problems) {
    if (!(root instanceof Mapping config)
        || !config.entries().containsKey(KEY)
        || !(config.entries().get(KEY).value() instanceof Mapping groups)
        || groups.entries().isEmpty()
        || !(groups.entries().values().iterator().next().value() instanceof Mapping first)) {
      return root;
    }
    Map<String, Entry> all = new LinkedHashMap<>(config.entries());
    for (String key : OF_A_GROUP) {
      Entry own = all.get(key);
      if (own != null) {
        String message = "each group has its own; move it into one of the groups";
        problems.add(new Problem(own.keyAt(), key, message));
      } else if (first.entries().containsKey(key)) {
        all.put(key, first.entries().get(key));
      }
    }
    Entry env = first.entries().get("env");
    if (env != null && env.value() instanceof Mapping more) {
      Map<String, Entry> variables = new LinkedHashMap<>();
      if (all.containsKey("env") && all.get("env").value() instanceof Mapping common) {
        variables.putAll(common.entries());
      }
      variables.putAll(more.entries());
      all.put("env", new Entry(env.keyAt(), new Mapping(more.at(), variables)));
    }
    return new Mapping(config.at(), all);
  }

  /** Returns the groups, the first one without what the config itself has of it. */
  static List<Group> of(Values values) {
    Values groups = values.section(KEY);
    List<Group> all = new ArrayList<>();
    for (String name : groups.names()) {
      Values group = groups.section(name);
      all.add(
          new Group(
              name,
              Resources.from(group.section("resources")),
              group.optionalText("run"),
              group.textMap("env")));
    }
    return all;
  }

  /** Adds the problems of a config that has groups. */
  static void check(Values values, List<Problem> problems) {
    Values groups = values.section(KEY);
    List<String> names = groups.names();
    if (names.size() < 2 || names.size() > MOST) {
      problems.add(
          values.problem(
              KEY, "expected 2 to " + MOST + " groups; a job of one has no groups, only run"));
    }
    if (!values.optionalText("backend").orElse("shell").equals("shell")) {
      problems.add(values.problem("backend", "groups are for backend shell"));
    }
    for (String key : OTHER_SHAPES) {
      if (values.has(key) && !values.isDefault(key)) {
        problems.add(
            values.problem(key, "a job with groups has none; `nexa-slurm explain docs/groups.md`"));
      }
    }
    Set<String> seen = new TreeSet<>();
    for (int i = 0; i < names.size(); i++) {
      String name = names.get(i);
      Values group = groups.section(name);
      if (!seen.add(name.toUpperCase(Locale.ROOT).replace('-', '_'))) {
        problems.add(groups.problem(name, "another group has the same variables; rename it"));
      }
      if (i > 0) {
        others(group, problems);
      } else if (!group.has("run")) {
        problems.add(groups.problem(name, "the first group needs run: its end ends the job"));
      }
    }
  }

  private static void others(Values group, List<Problem> problems) {
    Resources.check(group.section("resources"), problems);
    Environment.checkNames(group.section("env"), problems);
    Values resources = group.section("resources");
    for (ResourceOption option : ResourceOption.values()) {
      if (group.has("run") && option.countsProcesses() && resources.has(option.key())) {
        problems.add(
            resources.problem(
                option.key(), "a further group runs its command once on each of its nodes"));
      }
    }
  }
}
