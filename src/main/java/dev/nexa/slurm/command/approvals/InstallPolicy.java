package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.render.JobSubmitLua;
import dev.nexa.slurm.records.approvals.TokenDirectory;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Implements {@code policy install}: renders the policy's limits as a job_submit.lua. */
public record InstallPolicy(Context context) {

  /**
   * The rendered file.
   *
   * @param text the file's content
   * @param policy the policy file with the limits
   * @param notes lines for the administrator
   */
  public record Rendered(String text, String policy, List<String> notes) {}

  /**
   * Renders the file.
   *
   * @param cluster the cluster profile; empty for the workspace's default profile
   * @param approved the folder of the tokens; must be absolute
   * @throws NexaException if the path is relative, or if the policy has no limits for Slurm
   */
  public Rendered render(Optional<String> cluster, Path approved) {
    if (!approved.isAbsolute()) {
      throw Subcommand.invalid(
          "--approved-dir: expected an absolute path, got '" + approved + "'",
          "--approved-dir " + PolicyCommand.APPROVED);
    }
    Policy policy = context.configs().policy();
    if (policy.gate().isEmpty()) {
      throw ErrorCode.POLICY_INCOMPLETE.error(
          policy.name() + " does not say what Slurm itself lets through",
          "add to it:",
          "  slurm:",
          "    gpu_hours_over: 64");
    }
    Policy.Gate gate = policy.gate().get();
    String name = cluster.orElseGet(() -> Prepared.clusterName(context));
    ClusterProfile profile = context.configs().cluster(name);
    String text =
        JobSubmitLua.render(context.source(), policy, gate, profile, approved.normalize());
    return new Rendered(text, policy.name(), notes(gate, profile));
  }

  private static List<String> notes(Policy.Gate gate, ClusterProfile profile) {
    List<String> unknown =
        profile.partitions().entrySet().stream()
            .filter(partition -> partition.getValue().gpusPerNode().isEmpty())
            .map(Map.Entry::getKey)
            .toList();
    List<String> notes = new ArrayList<>();
    if (gate.observes()) {
      notes.add(
          "slurm.mode is observe: slurmctld refuses nothing, and logs what it would refuse as"
              + " `nexa-slurm would refuse`");
    }
    if (profile.partitions().isEmpty()) {
      notes.add(
          "the profile %s names no partitions: every job with whole nodes (--exclusive) needs an approval; `nexa-slurm init` reads them off the cluster"
              .formatted(profile.name()));
    } else if (!unknown.isEmpty()) {
      notes.add(
          ("the profile %s does not say gpus_per_node of %s: jobs with whole nodes "
                  + "there need an approval")
              .formatted(profile.name(), String.join(", ", unknown)));
    }
    return notes;
  }

  /**
   * Writes the file.
   *
   * @param command the words of the command with its options, without {@code --to}
   * @throws NexaException if the file exists and was not written by nexa-slurm
   */
  public void write(Rendered rendered, Path file, List<String> command) {
    if (Files.isDirectory(file)) {
      throw ErrorCode.OPTION_INVALID.error(
          "--to: expected a file, but " + file + " is a folder",
          writes(command, file.resolve("job_submit.lua")));
    }
    Path folder = file.toAbsolutePath().normalize().getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "--to: the folder " + folder + " does not exist",
          Advice.command("makes it; then type this again", "mkdir", "-p", folder));
    }
    if (Files.exists(file) && !DurableFiles.read(file).startsWith(JobSubmitLua.FIRST_WORDS)) {
      throw ErrorCode.FILE_EXISTS.error(
          file + " is not nexa-slurm's",
          "write it elsewhere, --to nexa_submit.lua, and call its functions from yours: `nexa-slurm explain docs/policy.md`");
    }
    context.workspace().files().replace(file, rendered.text());
  }

  private static Advice writes(List<String> command, Path file) {
    List<String> words = new ArrayList<>(command);
    words.addAll(List.of("--to", file.toString()));
    return Advice.command("", words.toArray());
  }

  /**
   * Returns the problems with the installed file and the folder of tokens; empty if there are none.
   *
   * @param command the words of the command that writes the file, without {@code --to}
   */
  public List<String> check(Rendered rendered, Path file, Path approved, List<String> command) {
    List<String> problems = new ArrayList<>();
    if (!Files.exists(file)) {
      problems.add("there is no " + file + "; type: " + writes(command, file));
    } else if (!DurableFiles.read(file).equals(rendered.text())) {
      problems.add(
          "%s is not what this policy, profile and version render; type: %s"
              .formatted(file, writes(command, file)));
    }
    problems.addAll(new TokenDirectory(approved).problems());
    return problems;
  }
}
