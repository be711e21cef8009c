package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.backend.Plugins;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.config.shared.Resources;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Values;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.estimate.Usage;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Planner;
import dev.nexa.slurm.run.Context;
import java.time.LocalDate;
import java.time.ZoneOffset;
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
record AllProblems(Context context, ConfigReader configs, Prepared.Request request) {
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
      price(corrected.get(), all);
      backend(corrected.get().backend(), corrected.get().written().problem("backend", ""), all);
    } else {
      Values values = wrong.values().get();
      files(wrong.file().orElseThrow(), values, all);
      price(values, all);
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
    price(config, all);
    return new ConfigException(List.copyOf(all));
  }

  /** Returns the exception for a plan that its backend refuses, with the problem of its prices. */
  ConfigException of(ConfigException wrong, Plan plan, ClusterProfile cluster) {
    Set<Problem> all = new LinkedHashSet<>(wrong.problems());
    PriceKey key = PriceKey.of(plan, cluster, LocalDate.now(ZoneOffset.UTC));
    String of = key.apiModels().isEmpty() ? "resources.gpu_type" : "";
    priced(key, cluster, plan.written().problem(of, ""), all);
    return new ConfigException(List.copyOf(all));
  }

  /** Adds a problem if the price book lacks the price of the config's GPU type. */
  private void price(RunConfig config, Set<Problem> all) {
    Resources asked = config.resources();
    if (asked.gpusPerNode() == 0 || asked.gpuType().isEmpty()) {
      return;
    }
    try {
      ClusterProfile cluster = cluster(config);
      PriceKey key =
          PriceKey.of(
              cluster,
              asked.option(ResourceOption.PARTITION),
              asked.option(ResourceOption.ACCOUNT),
              LocalDate.now(ZoneOffset.UTC),
              List.of(asked.gpuType().get()));
      priced(key, cluster, config.written().problem("resources.gpu_type", ""), all);
    } catch (NexaException other) {
      // The error of the cluster profile, which the user meets when this file is right.
    }
  }

  /** Adds the same problem for a config that could not be read as a whole. */
  private void price(Values values, Set<Problem> all) {
    Values asked = values.section("resources");
    try {
      Optional<String> type = asked.optionalText("gpu_type");
      String name =
          request
              .cluster()
              .or(() -> values.optionalText("cluster"))
              .orElse(Prepared.clusterName(context));
      if (type.isPresent()) {
        ClusterProfile cluster = configs.cluster(name);
        PriceKey key =
            PriceKey.of(
                cluster,
                asked.optionalText("partition"),
                asked.optionalText("account"),
                LocalDate.now(ZoneOffset.UTC),
                List.of(type.get()));
        priced(key, cluster, asked.problem("gpu_type", ""), all);
      }
    } catch (NexaException other) {
      // The error of the cluster profile, which the user meets when this file is right.
    }
  }

  private void priced(PriceKey key, ClusterProfile cluster, Problem at, Set<Problem> all) {
    try {
      Rates rates = Rates.of(configs.prices(cluster), key);
      if (rates.terms().partsAreCharged()) {
        key.gpuTypes().forEach(type -> rates.price(Usage.of(Map.of(type, 1L), 0, 0, 1)));
      }
    } catch (NexaException missing) {
      if (missing.code() == ErrorCode.PRICE_MISSING) {
        all.add(
            new Problem(
                ErrorCode.PRICE_MISSING,
                at.at(),
                at.key(),
                missing.getMessage() + "; `nexa-slurm prices show` lists the prices"));
      }
    }
  }

  private ClusterProfile cluster(RunConfig config) {
    Optional<ClusterProfile> own =
        request.cluster().isPresent() ? Optional.empty() : configs.cluster(config);
    return own.orElseGet(
        () -> configs.cluster(request.cluster().orElse(Prepared.clusterName(context))));
  }

  private void planned(RunConfig config, Set<Problem> all) {
    try {
      new Planner(context.source())
          .plan(config, cluster(config), configs.policy(), Optional.empty(), Map.of());
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
