package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.ApprovalGate;
import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.backend.Backend;
import dev.nexa.slurm.backend.Backends;
import dev.nexa.slurm.backend.Launch;
import dev.nexa.slurm.backend.Plugin;
import dev.nexa.slurm.backend.Plugins;
import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.config.ConfigReader;
import dev.nexa.slurm.config.FromRun;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.RunConfig;
import dev.nexa.slurm.costs.BudgetClaim;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Outlook;
import dev.nexa.slurm.estimate.PriceKey;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.Planner;
import dev.nexa.slurm.render.Renderer;
import dev.nexa.slurm.render.Script;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A config taken as far as it goes without touching anything: what estimate, render and submit have
 * in common.
 *
 * @param plugin the workspace's jar that the backend comes from; empty for a built-in one
 * @param launch what the backend starts inside the allocation
 * @param model what its model says of memory and time; empty where it names none
 * @param outlook what it will probably cost
 */
public record Prepared(
    Plan plan,
    Optional<Plugin> plugin,
    Launch launch,
    Estimate estimate,
    Optional<ModelNumbers> model,
    Outlook outlook,
    Policy policy) {

  /**
   * What a person asked for.
   *
   * @param config the config's path
   * @param overrides {@code --set} values
   * @param cluster the profile named on the command line
   * @param from the finished run whose checkpoint it goes on from
   * @param sameNode whether on that run's nodes
   * @param serves whether it must be a server
   */
  public record Request(
      String config,
      List<String> overrides,
      Optional<String> cluster,
      Optional<String> from,
      boolean sameNode,
      boolean serves) {
    public Request(String config, List<String> overrides, Optional<String> cluster) {
      this(config, overrides, cluster, Optional.empty(), false, false);
    }

    /** The same, of a server. */
    public Request serving() {
      return new Request(config, overrides, cluster, from, sameNode, true);
    }
  }

  /** Reads, plans, estimates. */
  public static Prepared of(Nexa nexa, Request request) {
    ConfigReader configs = nexa.configs();
    Optional<FromRun> from =
        request.from().isPresent()
            ? Optional.of(FindFrom.find(nexa, request.from().get(), request.sameNode()))
            : Optional.empty();
    RunConfig config = configs.run(request.config(), request.overrides(), from);
    Optional<ClusterProfile> own =
        request.cluster().isPresent() ? Optional.empty() : configs.cluster(config);
    ClusterProfile cluster =
        own.isPresent() ? own.get() : configs.cluster(request.cluster().orElse(clusterName(nexa)));
    Policy policy = configs.policy();
    Plan plan = new Planner(nexa.source()).plan(config, cluster, policy);
    Optional<Backend> builtIn = Backends.builtIn(plan.backend());
    Optional<Plugin> plugin =
        builtIn.isPresent()
            ? Optional.empty()
            : Optional.of(Plugins.named(plan.backend(), nexa.root(), plan.written()));
    Backend backend = builtIn.isPresent() ? builtIn.get() : plugin.orElseThrow();
    Launch launch = Backends.launch(plan, backend);
    if (request.serves() && !launch.serves()) {
      throw new ConfigException(
          plan.written()
              .problem(
                  "stage", "is no server; write stage: serve and backend: vllm, or `submit` it"));
    }
    PriceKey key = PriceKey.of(plan, cluster, LocalDate.now(ZoneOffset.UTC));
    Estimate estimate = Estimate.of(plan, Rates.of(configs.prices(cluster), key));
    Optional<ModelNumbers> model =
        plan.training().namesModel() ? Optional.of(ModelNumbers.of(nexa, plan)) : Optional.empty();
    Outlook outlook = ExpectCost.of(nexa, plan, estimate, model);
    return new Prepared(plan, plugin, launch, estimate, model, outlook, policy);
  }

  /** The same by a model's numbers that this workspace's own runs have calibrated. */
  public Prepared calibrated(ModelNumbers numbers) {
    Outlook better = outlook.otherwise(ExpectCost.analytic(plan, estimate, numbers));
    return new Prepared(plan, plugin, launch, estimate, Optional.of(numbers), better, policy);
  }

  /** The cluster that is meant where nobody names one. */
  static String clusterName(Nexa nexa) {
    String variable = nexa.environment().getOrDefault("NEXA_CLUSTER", "");
    return variable.isEmpty() ? "default" : variable;
  }

  /**
   * The workspace's own files that this run is made from where the jar has its own too, and its
   * plugin.
   */
  public List<String> ownFiles(Nexa nexa) {
    List<String> own = new ArrayList<>();
    for (String path :
        List.of(
            "templates/" + launch.template(),
            "configs/clusters/" + plan.cluster() + ".yaml",
            "configs/prices/" + estimate.rates().book() + ".yaml",
            "configs/policy.yaml")) {
      if (nexa.source().isOwn(path)) {
        own.add(path);
      }
    }
    if (plugin.isPresent()) {
      own.add(plugin.get().file());
    }
    return own;
  }

  public boolean needsApproval() {
    return ApprovalGate.needsApproval(estimate, policy);
  }

  /** What it would take of each of the policy's budgets that is for it. */
  public List<BudgetClaim> budgets(Nexa nexa) {
    return policy.budgets().isEmpty()
        ? List.of()
        : BudgetGate.look(nexa, policy, plan.toJson()).claims(estimate.total());
  }

  public JsonObject estimateJson() {
    JsonObject json = outlook.into(estimate.toJson(needsApproval()));
    if (model.isPresent()) {
      model.get().addTo(json);
    }
    return json.with("partition", plan.allocation().partition().orElse(null))
        .with("partition_reason", plan.partitionReason().orElse(null));
  }

  /** The same with what runs, which an approver signs. */
  public JsonObject estimateJson(Nexa nexa) {
    Script script = new Renderer(nexa.source(), plugin).render(plan, launch);
    JsonObject whole = plan.toJson().with("config", plan.config());
    return Proposal.of(nexa.root(), whole, script, estimate, Person.me()).addTo(estimateJson());
  }

  /** The same, priced otherwise. */
  Prepared at(Estimate other) {
    return new Prepared(plan, plugin, launch, other, model, outlook, policy);
  }
}
