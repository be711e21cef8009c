package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.run.Context;
import java.util.List;
import java.util.function.Function;

/**
 * One check.
 *
 * @param name the word that selects it
 * @param looks what it looks at, for the list of checks
 * @param asksSlurm whether it waits for Slurm, and is unknown where Slurm does not answer
 * @param look does it; returns one finding or more. It starts no job and changes nothing
 */
record Check(
    String name, String looks, boolean asksSlurm, Function<Context, List<CheckFinding>> look) {
  /** All checks. Checks of this machine come first; checks that ask Slurm follow. */
  static final List<Check> ALL =
      List.of(
          new Check("java", "Java's version and the archive of classes", HostChecks::java),
          new Check("workspace", "its folder and its records", HostChecks::workspace),
          new Check("clock", "this machine's clock and the file system's", HostChecks::clock),
          new Check("tiers", "the folders of the storage tiers", TierChecks::tiers),
          new Check("disk", "space that is left", TierChecks::disk),
          new Check("leftovers", "unfinished runs, left-out nodes, halts", TierChecks::leftovers),
          new Check("nodes", "what the newest diag found", TierChecks::nodes),
          new Check("team", "whether members of a team can work here", TeamChecks::team),
          new Check("slurm", "Slurm's commands and the controller", SlurmChecks::slurm),
          new Check("accounting", "the database of Slurm", true, SlurmChecks::accounting),
          new Check(
              "profile", "whether the profile still fits the cluster", true, SlurmChecks::profile),
          new Check("policy", "the policy that is in force", RuleChecks::policy),
          new Check("approvers", "the approvers' keys and when they end", RuleChecks::approvers),
          new Check("prices", "the price book's age and missing prices", RuleChecks::prices),
          new Check("job", "whether submit can prepare a small job", true, SlurmChecks::job),
          new Check("limits", "whether Slurm would take a small job", true, SlurmChecks::limits),
          new Check("notifications", "messages that wait or failed", RuleChecks::notifications),
          new Check("cron", "passes of reconcile", HostChecks::cron),
          new Check("s3", "the credentials for the profile's address in S3", TierChecks::s3));

  /** Makes a check that needs no answer of Slurm. */
  Check(String name, String looks, Function<Context, List<CheckFinding>> look) {
    this(name, looks, false, look);
  }
}
