package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.advice;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.failed;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.found;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.ok;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.orOk;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.unknown;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.command.workspace.ProfileDifferences;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.RunDefaults;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource.Found;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.run.start.RenderRun;
import dev.nexa.slurm.run.start.RequirePartition;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Checks that ask Slurm. They start no job. */
final class SlurmChecks {
  private static final int MOST_PARTITIONS = 10;
  private static final String ESTIMATES = "estimates, partitions and limits";
  private static final String ALL = "submit, status and cancel";

  private static final Advice INIT = Access.type("nexa-slurm init", "reads it off the cluster");

  private SlurmChecks() {}

  static List<CheckFinding> slurm(Context context) {
    if (Prepared.clusterName(context).equals(ClusterProfile.LOCAL)) {
      return List.of(ok("the profile local uses none"));
    }
    if (context.slurm().isEmpty()) {
      Advice there = Advice.step("type it where Slurm's clients are on the PATH");
      return List.of(unknown("there is no Slurm here: sbatch is not on the PATH", there));
    }
    String conf = context.environment().getOrDefault("SLURM_CONF", "");
    if (!conf.isEmpty() && Files.notExists(Path.of(conf))) {
      String says = "SLURM_CONF names " + conf + ", which is not there";
      Advice unset = Access.type("unset SLURM_CONF", "or export the path that is right");
      return List.of(failed(says, ALL, unset));
    }
    List<String> clients =
        new ArrayList<>(List.of("squeue", "sacct", "scancel", "scontrol", "sinfo"));
    clients.removeIf(client -> SlurmScheduler.installed(context.environment(), client));
    if (!clients.isEmpty()) {
      String says = "sbatch is on the PATH, and these are not: " + String.join(", ", clients);
      return List.of(failed(says, ALL, Advice.step("add the folder that has them to PATH")));
    }
    try {
      SlurmCluster cluster = context.slurm().get().cluster();
      int partitions = cluster.partitions().size();
      String says = "Slurm %s, cluster %s, %s partitions";
      Advice shows = Access.type("scontrol show partition", "");
      return List.of(
          partitions == 0
              ? failed("Slurm's answer names no partition", "submit", shows)
              : ok(says.formatted(cluster.version(), cluster.name(), partitions)));
    } catch (SchedulerUnavailable silent) {
      List<Advice> advice = new ArrayList<>();
      if (!conf.isEmpty()) {
        String why = "if " + conf + " is not this cluster's; or export the path that is right";
        advice.add(Access.type("unset SLURM_CONF", why));
      }
      if (!context.environment().getOrDefault("SLURM_JWT", "").isEmpty()) {
        String why = "if this cluster knows no tokens, or yours has ended";
        advice.add(Access.type("unset SLURM_JWT", why));
      }
      advice.addAll(silent.advice());
      advice.add(which("scontrol"));
      return List.of(failed(silent, ALL).with(advice));
    }
  }

  static List<CheckFinding> profile(Context context) {
    String variable = context.environment().getOrDefault("NEXA_CLUSTER", "");
    ClusterProfile profile;
    try {
      profile = context.configs().cluster(Prepared.clusterName(context));
    } catch (NexaException wrong) {
      String name = Prepared.clusterName(context);
      Path file = context.workspace().root().resolve("configs/clusters/" + name + ".yaml");
      boolean empty = Files.exists(file) && file.toFile().length() == 0;
      if (variable.isEmpty() && !empty) {
        throw wrong;
      }
      CheckFinding found = failed(wrong, "all runs");
      List<Advice> advice = new ArrayList<>(found.remedies());
      Advice unset = Access.type("unset NEXA_CLUSTER", "it is " + variable + " here");
      advice.add(0, empty ? INIT : unset);
      return List.of(found.with(advice));
    }
    if (profile.isLocal()) {
      return List.of(ok(profile.file() + " is this machine"));
    }
    return asking(context, slurm -> compared(context, profile, slurm));
  }

  private static List<CheckFinding> compared(
      Context context, ClusterProfile profile, SlurmScheduler slurm) {
    if (context.source().optional(profile.file()).filter(it -> it.path().isEmpty()).isPresent()) {
      String says = profile.file() + " is the jar's: it knows nothing of this cluster";
      Path own = context.workspace().root().resolve(profile.file());
      return Access.misnamed(own, profile.name(), "each value in it").stream()
          .findFirst()
          .map(List::of)
          .orElse(List.of(advice(says, ESTIMATES, INIT)));
    }
    SlurmCluster cluster = slurm.cluster();
    List<Difference> differences =
        ProfileDifferences.of(context, profile, cluster).stream()
            // sacct tells its fields, and accounting has a check of its own.
            .filter(one -> !one.key().equals("slurm.sacct_fields"))
            .toList();
    if (differences.isEmpty()) {
      return List.of(ok(profile.file() + " says what the cluster says"));
    }
    List<String> says = new ArrayList<>();
    for (Difference one : differences) {
      String form = "%s is %s here and %s on the cluster";
      form = one.cluster().equals("there") ? "%s is only on the cluster" : form;
      form = one.file().equals("there") ? "%s is only here" : form;
      says.add(form.formatted(one.key(), one.file(), one.cluster()));
    }
    Path file = context.workspace().root().resolve(profile.file());
    List<Advice> remedies = ProfileEdit.of(file, profile.name(), differences);
    String words = profile.file() + ": " + String.join("; ", says);
    boolean refused = differences.stream().anyMatch(SlurmChecks::promisesMore);
    String affects = refused ? "runs that use what the cluster does not have" : ESTIMATES;
    return List.of(found(refused, words, affects, remedies.toArray(Advice[]::new)));
  }

  /** Returns whether submit takes a run by the profile that Slurm then refuses. */
  private static boolean promisesMore(Difference one) {
    String here = one.file();
    String there = one.cluster();
    if (one.key().endsWith(".max_time")) {
      boolean both = !here.equals("-") && !there.equals("-");
      return both && TimeLimit.parse(here).compareTo(TimeLimit.parse(there)) > 0;
    }
    return one.key().endsWith(".gpu_type")
        || (here.equals("there") && there.equals("-"))
        || (one.key().matches(".*\\.(gpus_per_node|cpus_per_node|max_nodes)")
            && here.matches("\\d+")
            && Integer.parseInt(here) > Integer.parseInt(there));
  }

  /** Prepares small jobs as submit does, up to their scripts. */
  static List<CheckFinding> job(Context context) {
    ClusterProfile profile = context.configs().cluster(Prepared.clusterName(context));
    context.configs().gpus(); // estimates of a model read it
    Map<String, String> jobs = new LinkedHashMap<>();
    jobs.put("any job", "stage: data\nresources: {time: 1m}\n");
    jobs.put(
        "arrays in packs",
        "stage: data\nresources: {time: 1m}\narray: {shards: 4, pack: 2, parallel: 2}\n");
    String resources = "stage: train\nresources: {time: 1m, partition: %s, gpus_per_node: %d}\n";
    profile.partitions().entrySet().stream()
        .filter(partition -> !partition.getValue().byNameOnly())
        .limit(MOST_PARTITIONS)
        .forEach(
            partition -> {
              int gpus = Math.min(1, partition.getValue().gpusPerNode().orElse(0));
              jobs.put(
                  "jobs in the partition " + partition.getKey(),
                  resources.formatted(partition.getKey(), gpus));
            });
    Map<String, CheckFinding> findings = new LinkedHashMap<>();
    jobs.forEach(
        (name, config) ->
            refusal(context, profile, config)
                .ifPresent(
                    why -> findings.putIfAbsent(why.says(), why.affecting("submit of " + name))));
    List<CheckFinding> found = new ArrayList<>(findings.values());
    defaults(context, profile)
        .filter(why -> !findings.containsKey(why.says()))
        .ifPresent(found::add);
    return orOk(found, "submit would prepare a small job");
  }

  /** Returns the first refusal of a run that leaves its resources to the profile. */
  private static Optional<CheckFinding> defaults(Context context, ClusterProfile profile) {
    List<String> places = new ArrayList<>();
    List<CheckFinding> refused = new ArrayList<>();
    for (RunDefaults.ForSize entry : context.configs().defaults(profile.name()).resources()) {
      boolean adapters = entry.trains().equals(Optional.of(RunDefaults.ADAPTERS));
      String model = "stage: train\nmodel_size: %s\nadapter: %s\n";
      String config = model.formatted(entry.upTo().orElse("1B"), adapters ? "lora" : "none");
      refusal(context, profile, config)
          .ifPresent(
              why -> {
                places.add(entry.place());
                refused.add(why);
              });
    }
    return refused.stream()
        .findFirst()
        .map(
            why ->
                advice(
                    why.says(),
                    "submit of runs that get " + Plural.some(places, 3),
                    why.remedies().toArray(Advice[]::new)));
  }

  /** Returns why submit refuses a config; empty if it does not. */
  private static Optional<CheckFinding> refusal(
      Context context, ClusterProfile profile, String config) {
    String text = config + "backend: shell\nrun: \"true\"\n";
    Found made = new Found("a small job", text, Optional.empty(), Map.of());
    Prepared.Request request = new Prepared.Request("doctor", List.of(), Optional.empty());
    try {
      RequirePartition.of(context, new RenderRun(context).render(request.made(made)).prepared());
      return Optional.empty();
    } catch (NexaException wrong) {
      if (wrong.code() == ErrorCode.PRICE_NEEDS_PARTITION) { // a config can name it
        return Optional.empty();
      }
      CheckFinding found = failed(wrong, "submit");
      if (wrong instanceof ConfigException broken) {
        return Optional.of(found.with(List.of(correct(context, profile, broken))));
      }
      // A template of the workspace is named by its path in it.
      Path template = context.root().resolve(found.says().split(":", 2)[0]);
      if (wrong.code() == ErrorCode.TEMPLATE_INVALID && Files.isRegularFile(template)) {
        List<Advice> both = new ArrayList<>(found.remedies());
        Access.changeAt(context.root() + "/" + found.says(), "correct")
            .ifPresent(it -> both.add(0, it));
        return Optional.of(found.with(both));
      }
      return Optional.of(found);
    }
  }

  /** Names the line of the first problem that is in a file; the profile if none is. */
  private static Advice correct(Context context, ClusterProfile profile, ConfigException wrong) {
    for (Problem problem : wrong.problems()) {
      Path file = context.root().resolve(problem.at().source());
      if (problem.at().line() > 0 && Files.isRegularFile(file)) {
        int line = problem.at().line();
        return Access.change(file, line, "correct line " + line);
      }
    }
    String key = wrong.problems().isEmpty() ? "" : wrong.problems().get(0).key();
    Path file = context.root().resolve(profile.file());
    int line = YamlLines.of(file).of(key.substring(key.lastIndexOf('.') + 1));
    return Access.change(file, line, "correct what the message names");
  }

  static List<CheckFinding> accounting(Context context) {
    return asking(context, SlurmChecks::accounting);
  }

  private static List<CheckFinding> accounting(SlurmScheduler slurm) {
    if (!slurm.keepsAccounting()) {
      String says = "this cluster keeps no accounting";
      String affects = "costs come from what slurmctld remembers for minutes";
      Advice page =
          Access.type("nexa-slurm explain docs/without-accounting.md", "says what to expect");
      return List.of(advice(says, affects, page));
    }
    String affects = "costs, manifests, usage and look wait until it answers";
    Optional<String> account;
    try {
      account = slurm.defaultAccount(System.getProperty("user.name"));
    } catch (SchedulerUnavailable silent) {
      return List.of(failed(silent, affects));
    }
    try {
      slurm.accounting(
          AccountingQuery.byNames(List.of("nexa-slurm-doctor"), Instant.now()), row -> {});
    } catch (SchedulerUnavailable refused) {
      // sacctmgr has answered, so the database runs.
      Advice again = Access.type("timeout 60 sacct -X -S now-1hour", "shows what sacct says");
      Advice ask = Advice.step("ask whose program it is why it does not answer you");
      if (refused.code() != ErrorCode.WORKSPACE_BUSY) { // else a pass asks it just now
        return List.of(failed(refused, affects).with(List.of(which("sacct"), again, ask)));
      }
    }
    return List.of(ok("it answers; your default account: " + account.orElse("none")));
  }

  static List<CheckFinding> limits(Context context) {
    ClusterProfile profile = context.configs().cluster(Prepared.clusterName(context));
    if (profile.isLocal()) {
      return List.of(ok("this machine has none"));
    }
    return asking(context, slurm -> limits(profile, slurm));
  }

  /** Asks for a job of a minute in each partition that the profile uses by itself. */
  private static List<CheckFinding> limits(ClusterProfile profile, SlurmScheduler slurm) {
    slurm.partitions(); // a Slurm that does not answer refuses nothing
    List<CheckFinding> findings = new ArrayList<>();
    Map<String, String> refused = new LinkedHashMap<>();
    List<String> jobs =
        profile.partitions().entrySet().stream()
            .filter(partition -> !partition.getValue().byNameOnly())
            .map(partition -> "--partition=" + partition.getKey() + gpu(partition.getValue()))
            .limit(MOST_PARTITIONS)
            .toList();
    String show =
        "sacctmgr show associations format=account,partition,qos,maxjobs,maxsubmit,maxwall,maxtres,grptresmins user=";
    Advice yours = Access.type(show + System.getProperty("user.name"), "shows your limits");
    Advice other =
        Advice.step("correct that program, or put the folder of Slurm's own first on PATH");
    for (String job : jobs.isEmpty() ? List.of("--ntasks=1") : jobs) {
      List<String> options = new ArrayList<>(List.of("--time=1"));
      options.addAll(List.of(job.split(" ", -1)));
      profile.usual().account().ifPresent(account -> options.add("--account=" + account));
      profile.usual().qos().ifPresent(qos -> options.add("--qos=" + qos));
      ExpectedStart start;
      try {
        start = slurm.expectedStart(options);
      } catch (SchedulerUnavailable itself) {
        return List.of(failed(itself, "submit").with(List.of(which("sbatch"), other)));
      }
      if (start.refused()) {
        refused.merge(start.why(), String.join(" ", options), (one, two) -> one + ", or " + two);
      } else if (start.at().isEmpty()) {
        findings.add(
            unknown(start.why().isEmpty() ? "sbatch --test-only said nothing" : start.why()));
      }
    }
    Advice ask = Advice.step("ask who runs the cluster, or use another partition, account or QOS");
    for (String why : refused.keySet()) {
      String says = "Slurm refuses a job with " + refused.get(why) + ": " + why;
      findings.add(failed(says, "submit", ask, yours));
    }
    return orOk(
        findings, "Slurm would take a job of a minute, with a GPU in partitions that have GPUs");
  }

  /** A script of the site may stand before Slurm's own client. */
  private static Advice which(String client) {
    return Access.type("command -v " + client, "shows which " + client + " this shell starts");
  }

  /** A QOS may refuse jobs with GPUs, and a partition may refuse jobs without. */
  private static String gpu(ClusterProfile.Partition partition) {
    boolean has = partition.gpusPerNode().orElse(0) > 0;
    return has ? " --gres=gpu:" + partition.gpuType().map(it -> it + ":").orElse("") + "1" : "";
  }

  /** Makes a check that needs Slurm. That Slurm does not answer is a finding of `slurm`. */
  private static List<CheckFinding> asking(
      Context context, Function<SlurmScheduler, List<CheckFinding>> look) {
    if (Prepared.clusterName(context).equals(ClusterProfile.LOCAL)) {
      return List.of(ok("the profile local needs none"));
    }
    return context.slurm().map(look).orElseGet(() -> List.of(unknown("there is no Slurm here")));
  }
}
