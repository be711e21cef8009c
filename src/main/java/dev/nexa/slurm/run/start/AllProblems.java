package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.backend.Plugins;
import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.RunConfig;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.plan.Planner;
import dev.nexa.slurm.run.Context;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds the problems of a config that a later step would report, so that the user reads all of them
 * at once. Loaded only for a config with problems.
 */
final class AllProblems {
  private final Context context;
  private final ConfigReader configs;
  private final Prepared.Request request;

  AllProblems(Context context, ConfigReader configs, Prepared.Request request) {
    this.context = context;
    this.configs = configs;
    this.request = request;
  }

  /**
   * Returns the exception for a config that could not be read, with the problems of later steps.
   */
  ConfigException of(ConfigException wrong) {
    if (wrong.values().isEmpty()) {
      return wrong;
    }
    Set<Problem> all = new LinkedHashSet<>(wrong.problems());
    Optional<RunConfig> corrected = configs.corrected(wrong);
    if (corrected.isPresent()) {
      planned(corrected.get(), all);
      backend(corrected.get().backend(), corrected.get().written().problem("backend", ""), all);
    } else {
      ConfigSource.Found file = wrong.file().orElseThrow();
      Values values = wrong.values().get();
      files(file, values, all);
      values
          .optionalText("backend")
          .ifPresent(name -> backend(name, values.problem("backend", ""), all));
    }
    return new ConfigException(List.copyOf(all));
  }

  /**
   * Returns the exception for a config that could not be planned, with the problem of its backend.
   */
  ConfigException of(ConfigException wrong, RunConfig config) {
    Set<Problem> all = new LinkedHashSet<>(wrong.problems());
    backend(config.backend(), config.written().problem("backend", ""), all);
    return new ConfigException(List.copyOf(all));
  }

  private void planned(RunConfig config, Set<Problem> all) {
    try {
      Optional<ClusterProfile> own =
          request.cluster().isPresent() ? Optional.empty() : configs.cluster(config);
      ClusterProfile cluster =
          own.isPresent()
              ? own.get()
              : configs.cluster(request.cluster().orElse(Prepared.clusterName(context)));
      new Planner(context.source())
          .plan(config, cluster, configs.policy(), Optional.empty(), Map.of());
    } catch (ConfigException more) {
      all.addAll(more.problems());
    } catch (NexaException other) {
      // The error of another file, which the user meets when this file is right.
    }
  }

  /** Adds a problem if no backend has the name. */
  private void backend(String name, Problem at, Set<Problem> all) {
    if (Backends.builtIn(name).isPresent()) {
      return;
    }
    try {
      Plugins.named(name, context.root(), at);
    } catch (ConfigException unknown) {
      all.addAll(unknown.problems());
    } catch (NexaException broken) {
      // The user meets a broken plugin when the file is right.
    }
  }

  /** Adds a problem for each file that the config names and that is missing. */
  private void files(ConfigSource.Found file, Values values, Set<Problem> all) {
    Values entrypoint = values.section("entrypoint");
    Optional<String> script = entrypoint.optionalText("script");
    // With packed code, the script can be part of the code and lie elsewhere.
    if (script.isPresent() && !values.has("code")) {
      file(file, script.get(), entrypoint.problem("script", ""), all);
    }
    List<String> files = new ArrayList<>(values.texts("files"));
    for (int i = 0; i < files.size(); i++) {
      Problem at = values.problem("files", "");
      file(file, files.get(i), new Problem(at.code(), at.at(), "files." + i, ""), all);
    }
  }

  private void file(ConfigSource.Found config, String path, Problem at, Set<Problem> all) {
    if (path.startsWith("/") || List.of(path.split("/", -1)).contains("..")) {
      return;
    }
    try {
      context.source().beside(config, path);
    } catch (NexaException missing) {
      all.add(new Problem(missing.code(), at.at(), at.key(), String.valueOf(missing.getMessage())));
    }
  }
}
