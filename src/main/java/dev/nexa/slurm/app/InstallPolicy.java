package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.TokenDirectory;
import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.render.JobSubmitLua;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code policy install}: the policy's threshold as a job_submit.lua for the admin to place. */
public final class InstallPolicy {
  private final Nexa nexa;

  public InstallPolicy(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What was rendered.
   *
   * @param text the file
   * @param policy where the numbers are from
   * @param notes what the admin should know of it
   */
  public record Rendered(String text, String policy, Policy.Gate gate, List<String> notes) {}

  /** Renders it for a cluster profile, the workspace's usual one where none is named. */
  public Rendered render(Optional<String> cluster, Path approved) {
    if (!approved.isAbsolute()) {
      throw new NexaException(
          ExitCode.USAGE, "--approved-dir: expected an absolute path, got '" + approved + "'");
    }
    Policy policy = nexa.configs().policy();
    Policy.Gate gate =
        policy
            .gate()
            .orElseThrow(
                () ->
                    new NexaException(
                        ExitCode.USAGE,
                        policy.name() + " does not say what Slurm itself lets through",
                        "add to it:",
                        "  slurm:",
                        "    gpu_hours_over: 64"));
    String name = cluster.isPresent() ? cluster.get() : Prepared.clusterName(nexa);
    ClusterProfile profile = nexa.configs().cluster(name);
    String text = JobSubmitLua.render(nexa.source(), policy, gate, profile, approved.normalize());
    return new Rendered(text, policy.name(), gate, notes(profile));
  }

  private static List<String> notes(ClusterProfile profile) {
    List<String> unknown = new ArrayList<>();
    profile
        .partitions()
        .forEach(
            (name, partition) -> {
              if (partition.gpusPerNode().isEmpty()) {
                unknown.add(name);
              }
            });
    List<String> notes = new ArrayList<>();
    if (profile.partitions().isEmpty()) {
      notes.add(
          "the profile "
              + profile.name()
              + " names no partitions: every job with whole nodes (--exclusive) needs an approval; `nexa-slurm init` reads them off the cluster");
    } else if (!unknown.isEmpty()) {
      notes.add(
          "the profile "
              + profile.name()
              + " does not say gpus_per_node of "
              + String.join(", ", unknown)
              + ": jobs with whole nodes there need an approval");
    }
    return notes;
  }

  /** Writes it; a job_submit.lua of the site's own is left alone. */
  public void write(Rendered rendered, Path file) {
    if (Files.exists(file) && !DurableFiles.read(file).startsWith(JobSubmitLua.FIRST_WORDS)) {
      throw new NexaException(
          ExitCode.USAGE,
          file + " is not nexa-slurm's",
          "write it elsewhere, --to nexa_submit.lua, and call its functions from yours: docs/policy.md");
    }
    nexa.workspace().files().replace(file, rendered.text());
  }

  /** What differs between what is placed and what would be; empty where nothing does. */
  public List<String> check(Rendered rendered, Path file, Path approved) {
    List<String> problems = new ArrayList<>();
    if (!Files.exists(file)) {
      problems.add("there is no " + file);
    } else if (!DurableFiles.read(file).equals(rendered.text())) {
      problems.add(file + " is not what this policy, profile and version render");
    }
    problems.addAll(new TokenDirectory(approved).problems());
    return problems;
  }
}
