package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.cluster.scheduler.ExpectedStart;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmCluster;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import dev.nexa.slurm.command.workspace.ProfileDifferences;
import dev.nexa.slurm.command.workspace.ProfileDifferences.Difference;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Checks that ask Slurm. They start no job. */
final class SlurmChecks {
  private static final int MOST_PARTITIONS = 10;

  private SlurmChecks() {}

  static List<CheckFinding> slurm(Context context) {
    Optional<SlurmScheduler> slurm = context.slurm();
    if (Prepared.clusterName(context).equals(ClusterProfile.LOCAL)) {
      return List.of(CheckFinding.ok("slurm", "the profile local uses none"));
    }
    if (slurm.isEmpty()) {
      return List.of(
          CheckFinding.unknown(
              "slurm",
              "there is no Slurm here: sbatch is not on the PATH",
              Advice.step("type it where Slurm's clients are on the PATH")));
    }
    try {
      SlurmCluster cluster = slurm.get().cluster();
      if (cluster.partitions().isEmpty()) {
        return List.of(
            CheckFinding.failed(
                "slurm",
                "Slurm's answer names no partition",
                "submit",
                Advice.command("", "scontrol", "show", "partition")));
      }
      return List.of(
          CheckFinding.ok(
              "slurm",
              "Slurm %s, cluster %s, %s partitions"
                  .formatted(cluster.version(), cluster.name(), cluster.partitions().size())));
    } catch (SchedulerUnavailable silent) {
      return List.of(CheckFinding.failed("slurm", silent, "submit, status and cancel"));
    }
  }

  static List<CheckFinding> profile(Context context) {
    ClusterProfile profile = context.configs().cluster(Prepared.clusterName(context));
    if (profile.isLocal()) {
      return List.of(CheckFinding.ok("profile", profile.file() + " is this machine"));
    }
    return asking("profile", context, slurm -> compared(context, profile, slurm));
  }

  private static List<CheckFinding> compared(
      Context context, ClusterProfile profile, SlurmScheduler slurm) {
    if (context
        .source()
        .optional(profile.file())
        .filter(file -> file.path().isEmpty())
        .isPresent()) {
      return List.of(
          CheckFinding.advice(
              "profile",
              profile.file() + " is the jar's: it knows nothing of this cluster",
              "estimates, partitions and limits",
              Advice.command("reads it off the cluster", "nexa-slurm init")));
    }
    SlurmCluster cluster = slurm.cluster();
    List<Difference> differences =
        ProfileDifferences.of(context, profile, cluster).stream()
            // sacct tells its fields, and accounting has a check of its own.
            .filter(one -> !one.key().equals("slurm.sacct_fields"))
            .toList();
    if (differences.isEmpty()) {
      return List.of(CheckFinding.ok("profile", profile.file() + " says what the cluster says"));
    }
    String keys =
        differences.stream()
            .map(
                one ->
                    "%s is %s here and %s on the cluster"
                        .formatted(one.key(), one.file(), one.cluster()))
            .collect(Collectors.joining("; "));
    String anew = profile.name() + "-new";
    return List.of(
        CheckFinding.advice(
            "profile",
            profile.file() + ": " + keys,
            "estimates, partitions and limits",
            Advice.command(
                "reads the cluster into a file of its own; carry over storage and defaults",
                "nexa-slurm",
                "init",
                "--cluster",
                anew),
            Advice.command("", "mv", "configs/clusters/" + anew + ".yaml", profile.file())));
  }

  static List<CheckFinding> accounting(Context context) {
    return asking(
        "accounting",
        context,
        slurm -> {
          if (!slurm.keepsAccounting()) {
            return List.of(
                CheckFinding.advice(
                    "accounting",
                    "this cluster keeps no accounting",
                    "costs come from what slurmctld remembers for minutes",
                    Advice.command(
                        "says what to expect", "nexa-slurm explain docs/without-accounting.md")));
          }
          String user = System.getProperty("user.name");
          try {
            Optional<String> account = slurm.defaultAccount(user);
            return List.of(
                CheckFinding.ok(
                    "accounting",
                    account
                        .map(name -> "it answers; your default account is " + name)
                        .orElse("it answers; you have no default account")));
          } catch (SchedulerUnavailable silent) {
            return List.of(
                CheckFinding.failed(
                    "accounting",
                    silent,
                    "costs, manifests, usage and look wait until it answers"));
          }
        });
  }

  static List<CheckFinding> limits(Context context) {
    ClusterProfile profile = context.configs().cluster(Prepared.clusterName(context));
    if (profile.isLocal()) {
      return List.of(CheckFinding.ok("limits", "this machine has none"));
    }
    return asking("limits", context, slurm -> limits(profile, slurm));
  }

  /** Asks for a job of a minute in each partition that the profile uses by itself. */
  private static List<CheckFinding> limits(ClusterProfile profile, SlurmScheduler slurm) {
    List<CheckFinding> findings = new ArrayList<>();
    List<String> partitions =
        profile.partitions().entrySet().stream()
            .filter(partition -> !partition.getValue().byNameOnly())
            .map(partition -> "--partition=" + partition.getKey())
            .limit(MOST_PARTITIONS)
            .toList();
    for (String partition : partitions.isEmpty() ? List.of("") : partitions) {
      List<String> options = new ArrayList<>(List.of("--time=1", "--ntasks=1"));
      if (!partition.isEmpty()) {
        options.add(partition);
      }
      profile.usual().account().ifPresent(account -> options.add("--account=" + account));
      profile.usual().qos().ifPresent(qos -> options.add("--qos=" + qos));
      ExpectedStart start = slurm.expectedStart(options);
      if (start.refused()) {
        findings.add(
            CheckFinding.failed(
                "limits",
                "Slurm refuses a job of a minute%s: %s"
                    .formatted(partition.isEmpty() ? "" : " with " + partition, start.why()),
                "submit",
                Advice.command(
                    "shows your limits",
                    "sacctmgr",
                    "show",
                    "associations",
                    "user=" + System.getProperty("user.name"),
                    "format=account,partition,qos,maxjobs,maxsubmit,grptresmins")));
      } else if (start.at().isEmpty()) {
        findings.add(
            CheckFinding.unknown(
                "limits", start.why().isEmpty() ? "sbatch --test-only said nothing" : start.why()));
      }
    }
    return findings.isEmpty()
        ? List.of(CheckFinding.ok("limits", "Slurm would take a job of a minute"))
        : findings;
  }

  /** Makes a check that needs Slurm. That Slurm does not answer is a finding of `slurm`. */
  private static List<CheckFinding> asking(
      String check, Context context, Function<SlurmScheduler, List<CheckFinding>> look) {
    if (Prepared.clusterName(context).equals(ClusterProfile.LOCAL)) {
      return List.of(CheckFinding.ok(check, "the profile local needs none"));
    }
    Optional<SlurmScheduler> slurm = context.slurm();
    return slurm.isEmpty()
        ? List.of(CheckFinding.unknown(check, "there is no Slurm here"))
        : look.apply(slurm.get());
  }
}
