package dev.nexa.slurm.run.start;

import dev.nexa.slurm.cluster.scheduler.slurm.PartitionFacts;
import dev.nexa.slurm.job.backend.Backend;
import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.backend.Plugin;
import dev.nexa.slurm.job.backend.Plugins;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.estimate.Egress;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.job.estimate.Outlook;
import dev.nexa.slurm.job.estimate.PastRun;
import dev.nexa.slurm.job.estimate.PriceKey;
import dev.nexa.slurm.job.estimate.Rates;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Planner;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.money.budgets.BudgetClaim;
import dev.nexa.slurm.records.approvals.ApprovalGate;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunInput;
import dev.nexa.slurm.records.telemetry.UseNotes;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetGate;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * A config with its plan and its price, before any file is written. The commands {@code estimate},
 * {@code render} and {@code submit} begin with it.
 *
 * @param plugin the workspace's jar with the backend; empty for a built-in backend
 * @param launch the command that the backend starts inside the allocation
 * @param model the model's memory and time; empty if the config names no model
 * @param outlook the expected cost
 * @param egress what a sync stage sends out of the cluster; empty for any other run
 * @param inputs the earlier runs of {@code --from}; empty for a stage of a pipeline, whose earlier
 *     runs do not exist yet
 * @param knowsPartitions whether the cluster profile lists the partitions, so that the plan fits
 * @param partitions Slurm's partitions now; empty if the run needs no Slurm, or if Slurm is silent
 */
public record Prepared(
    Plan plan,
    Optional<Plugin> plugin,
    Launch launch,
    Estimate estimate,
    Optional<ModelNumbers> model,
    Outlook outlook,
    Optional<Egress> egress,
    Policy policy,
    List<RunInput> inputs,
    boolean knowsPartitions,
    Optional<List<PartitionFacts>> partitions) {

  /**
   * The user's request.
   *
   * @param config the config's path
   * @param overrides the values of {@code --set}
   * @param cluster the profile named on the command line
   * @param from the earlier runs whose files the new run reads, as {@code --from} names them
   * @param sameNode whether to run on the nodes of the first of these runs
   * @param serves whether the config must describe a server
   * @param stage the pipeline's stage that the run is; empty for a run outside a pipeline
   * @param made the config itself if it was made from a script; empty if {@code config} names a
   *     file
   */
  public record Request(
      String config,
      List<String> overrides,
      Optional<String> cluster,
      List<String> from,
      boolean sameNode,
      boolean serves,
      Optional<PipelineConfig.Stage> stage,
      Optional<ConfigSource.Found> made) {
    /** Makes a request for a config that starts from no run, is in no pipeline, and may serve. */
    public Request(String config, List<String> overrides, Optional<String> cluster) {
      this(config, overrides, cluster, List.of(), false, false, Optional.empty(), Optional.empty());
    }

    /** Returns a copy of this request that reads the files of earlier runs. */
    public Request reading(List<String> runs, boolean onTheirNodes) {
      return new Request(config, overrides, cluster, runs, onTheirNodes, serves, stage, made);
    }

    /** Returns a copy of this request for a stage of a pipeline. */
    public Request of(PipelineConfig.Stage one) {
      return new Request(
          config, overrides, cluster, from, sameNode, serves, Optional.of(one), made);
    }

    /** Returns a copy of this request that requires a server. */
    public Request serving() {
      return new Request(config, overrides, cluster, from, sameNode, true, stage, made);
    }

    /** Returns a copy of this request with a config that was made from a script. */
    public Request made(ConfigSource.Found file) {
      return new Request(
          config, overrides, cluster, from, sameNode, serves, stage, Optional.of(file));
    }

    /** Returns a copy of this request with these overrides. */
    public Request with(List<String> other) {
      return new Request(config, other, cluster, from, sameNode, serves, stage, made);
    }
  }

  /**
   * Reads, plans and prices a config.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if a file is invalid, or if the request
   *     requires a server and the config describes none
   */
  public static Prepared of(Context context, Request request) {
    return of(context, context.configs(), new LivePartitions(context), request);
  }

  /**
   * Reads, plans and prices one of several configs.
   *
   * @param configs the reader of all these requests, which keeps what they share
   * @param live what Slurm says to all these requests
   */
  public static Prepared of(
      Context context, ConfigReader configs, LivePartitions live, Request request) {
    if (!request.cluster().orElse(clusterName(context)).equals(ClusterProfile.LOCAL)) {
      live.ask(); // while the config is read
    }
    Optional<FindFrom.Found> found =
        request.from().isEmpty()
            ? Optional.empty()
            : Optional.of(FindFrom.find(context, request.from(), request.sameNode()));
    FromRuns from = found.isPresent() ? found.get().runs() : FromRuns.NONE;
    RunConfig config;
    try {
      config =
          configs.run(
              request.made().isPresent() ? request.made().get() : configs.runFile(request.config()),
              request.overrides(),
              from,
              request.stage(),
              request.cluster(),
              clusterName(context));
    } catch (ConfigException wrong) {
      throw new AllProblems(context, configs, request).of(wrong);
    }
    if (found.isPresent()) {
      found.get().requireCheckpoint();
    }
    Optional<ClusterProfile> own =
        request.cluster().isPresent() ? Optional.empty() : configs.cluster(config);
    ClusterProfile cluster =
        own.isPresent()
            ? own.get()
            : configs.cluster(request.cluster().orElse(clusterName(context)));
    Policy policy = configs.policy();
    if (config.supervision().growth().isPresent() && !cluster.isLocal()) {
      config = new GrownBefore(context).begin(config);
    }
    Optional<PackedCode> code = code(context, config);
    Plan plan;
    try {
      plan =
          new Planner(context.source())
              .plan(
                  config,
                  cluster,
                  policy,
                  code,
                  request.stage().isPresent() ? request.stage().get().after() : from.after());
    } catch (ConfigException wrong) {
      throw new AllProblems(context, configs, request).of(wrong, config);
    }
    Optional<Plugin> plugin;
    Launch launch;
    try {
      Optional<Backend> builtIn = Backends.builtIn(plan.backend());
      plugin =
          builtIn.isPresent()
              ? Optional.empty()
              : Optional.of(Plugins.named(plan.backend(), context.root(), plan.written()));
      launch = Backends.launch(plan, builtIn.isPresent() ? builtIn.get() : plugin.orElseThrow());
      if (request.serves() && !launch.serves()) {
        boolean stage = plan.stage().equals("serve");
        throw new ConfigException(
            plan.written()
                .problem(
                    stage ? "backend" : "stage",
                    stage
                        ? "'" + plan.backend() + "' starts no server; only vllm does: `submit` it"
                        : "is no server; write stage: serve and backend: vllm, or `submit` it"));
      }
    } catch (ConfigException wrong) {
      throw new AllProblems(context, configs, request).of(wrong, plan, cluster);
    }
    Optional<List<PartitionFacts>> partitions = cluster.isLocal() ? Optional.empty() : live.get();
    if (partitions.isPresent()) {
      plan = LivePartitions.given(plan, partitions.get());
    }
    Estimate estimate = dearest(plan, cluster, configs);
    Optional<ModelNumbers> model =
        plan.training().namesModel()
            ? Optional.of(ModelNumbers.of(context, plan))
            : Optional.empty();
    Outlook outlook = ExpectCost.of(context, plan, estimate, model);
    // The classes for it are loaded only for a sync stage.
    Optional<Egress> egress =
        plan.payload().sync().isPresent()
            ? Optional.of(ExpectEgress.of(plan, plan.payload().sync().get()))
            : Optional.empty();
    return new Prepared(
        plan.noting(launch.notes()),
        plugin,
        launch,
        estimate,
        model,
        outlook,
        egress,
        policy,
        found.isPresent() ? found.get().inputs() : List.of(),
        !cluster.partitions().isEmpty(),
        partitions);
  }

  /** Returns the estimate for the partition that costs most, of those that the plan names. */
  private static Estimate dearest(Plan plan, ClusterProfile cluster, ConfigReader configs) {
    PriceKey key = PriceKey.of(plan, cluster, LocalDate.now(ZoneOffset.UTC));
    Estimate most = null;
    for (PriceKey one : key.each(cluster)) {
      Estimate other = Estimate.of(plan, Rates.of(configs.prices(cluster), one));
      most = most == null ? other : most.orMore(other);
    }
    return Objects.requireNonNull(most);
  }

  /** Loads the classes that pack code only for a config that has code. */
  private static Optional<PackedCode> code(Context context, RunConfig config) {
    return config.work().code().isPresent()
        ? PackedCode.of(config, context.environment(), context.root())
        : Optional.empty();
  }

  /** Returns whether Slurm could not be asked how it shares its nodes. */
  boolean slurmIsSilent() {
    return partitions.isEmpty() && !plan.site().scheduler().equals(ClusterProfile.LOCAL);
  }

  /**
   * Returns a copy that costs at most what so many CPUs cost, if Slurm would give more CPUs than
   * the estimate counts: a plugin of the site can change a job.
   *
   * @param cpus the CPUs on all nodes that Slurm would give
   */
  public Prepared atLeast(int cpus) {
    if (cpus <= plan.billed().cpus()) {
      return this;
    }
    String why = "sbatch --test-only says that the job would get " + cpus + " CPUs";
    Plan more = plan.withCpus(cpus, why);
    return with(more, Estimate.of(more, estimate.rates()), model, outlook);
  }

  /**
   * Returns a note on the newest similar past run, if it left its GPUs idle. Empty if it did not,
   * or if nothing was sampled.
   */
  public Optional<String> pastUse(Context context) {
    if (plan.allocation().gpusPerNode() == 0 || outlook.history().isEmpty()) {
      return Optional.empty();
    }
    List<PastRun> past = outlook.history().get().runs();
    Optional<RunId> newest = past.isEmpty() ? Optional.empty() : RunId.parse(past.get(0).runId());
    return newest.flatMap(
        id ->
            UseNotes.idle(context.workspace().run(id), plan.training().adapter())
                .map(note -> "note: in the last run like this, " + id + ", " + note));
  }

  /** Returns a copy with model numbers that are calibrated by this workspace's own runs. */
  public Prepared calibrated(ModelNumbers numbers) {
    Outlook better = outlook.otherwise(ExpectCost.analytic(plan, estimate, numbers));
    return with(plan, estimate, Optional.of(numbers), better);
  }

  /**
   * Returns the cluster to use if neither the config nor the user names one: {@code NEXA_CLUSTER},
   * else {@code default}.
   */
  public static String clusterName(Context context) {
    String variable = context.environment().getOrDefault("NEXA_CLUSTER", "");
    return variable.isEmpty() ? "default" : variable;
  }

  /**
   * Returns the profile that the user named; without a name, the profile of {@link #clusterName}.
   */
  public static ClusterProfile profile(Context context, Optional<String> named) {
    return context.configs().cluster(named.orElseGet(() -> clusterName(context)));
  }

  /**
   * Returns the workspace files that replace files of the jar for this run, and the plugin's jar.
   */
  public List<String> ownFiles(Context context) {
    List<String> own = new ArrayList<>();
    for (String path :
        List.of(
            "templates/" + launch.template(),
            "configs/clusters/" + plan.site().cluster() + ".yaml",
            "configs/prices/" + estimate.rates().book() + ".yaml",
            "configs/policy.yaml")) {
      if (context.source().isOwn(path)) {
        own.add(path);
      }
    }
    if (plugin.isPresent()) {
      own.add(plugin.get().file());
    }
    return own;
  }

  /**
   * Returns whether the policy's cost limit requires an approval. Budgets are not considered.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if the limit and the estimate are in different
   *     currencies
   */
  public boolean needsApproval() {
    return ApprovalGate.needsApproval(estimate, policy);
  }

  /** Returns the amount that the run would take from each budget that applies to it. */
  public List<BudgetClaim> budgets(Context context) {
    return policy.budgets().isEmpty()
        ? List.of()
        : BudgetGate.look(context, policy, List.of(PlanFile.of(plan)))
            .claims(List.of(estimate.total()));
  }

  /** Returns the estimate's document without the digests of what will run. */
  public EstimateFile estimateFile() {
    EstimateFile file = EstimateFile.of(estimate, needsApproval()).outlook(outlook);
    if (model.isPresent()) {
      model.get().addTo(file);
    }
    if (egress.isPresent()) {
      file.egress(egress.get(), estimate.rates());
    }
    return file.partition(plan.allocation().partition(), plan.shape().partitionReason());
  }

  /** Returns the estimate's document with the digests of what will run, as an approver signs it. */
  public EstimateFile estimateFile(Context context) {
    Script script = new Renderer(context.source(), plugin).render(plan, launch);
    PlanFile whole =
        PlanFile.of(plan).rendered(plan.config(), script.digest(), launch.servedModel());
    return Proposal.of(context.root(), whole, script, estimate, UnixUser.me())
        .addTo(estimateFile());
  }

  /** Returns a copy with another estimate. */
  Prepared at(Estimate other) {
    return with(plan, other, model, outlook);
  }

  private Prepared with(
      Plan plan, Estimate estimate, Optional<ModelNumbers> model, Outlook outlook) {
    return new Prepared(
        plan,
        plugin,
        launch,
        estimate,
        model,
        outlook,
        egress,
        policy,
        inputs,
        knowsPartitions,
        partitions);
  }
}
