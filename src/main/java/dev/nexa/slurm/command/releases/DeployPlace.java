package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.shared.SigningKey;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.HaltedTiers;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.run.decision.RequireNoHalt;
import dev.nexa.slurm.run.start.Prepared;
import dev.nexa.slurm.storage.releases.CurrentModel;
import dev.nexa.slurm.storage.releases.Halts;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.ReleaseHistory;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.SignOff;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The folder {@code deploy} of a profile's durable tier, and the policy that applies to it.
 *
 * @param durable the durable tier
 */
record DeployPlace(Context context, Policy policy, String durable) {
  /** Returns the place of the named profile, or of the workspace's default profile. */
  static DeployPlace of(Context context, Optional<String> cluster) {
    String durable = Prepared.profile(context, cluster).storage().durable();
    return new DeployPlace(context, context.configs().policy(), durable);
  }

  Path folder() {
    return RequireNoHalt.deploy(durable);
  }

  DurableFiles files() {
    return context.workspace().files();
  }

  ReleaseHistory history() {
    return new ReleaseHistory(folder(), files());
  }

  CurrentModel current() {
    return new CurrentModel(folder(), files());
  }

  Halts halts() {
    return new Halts(folder(), files());
  }

  /** Returns the durable tiers of all profiles; this place's comes first. */
  HaltedTiers tiers() {
    return HaltedTiers.of(context, durable);
  }

  /**
   * Returns the policy's approvers.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if the policy names none
   */
  PolicyApprovals approvals() {
    return PolicyApprovals.of(context, policy);
  }

  /** Returns the people whose signatures count; empty if the policy names nobody. */
  Optional<Signers> signers() {
    return policy.approvals().isPresent() ? Optional.of(approvals().signers()) : Optional.empty();
  }

  /**
   * Returns the halts that stop a release.
   *
   * @param pipeline the id of the pipeline that made it; empty if it had none
   */
  List<Halts.Judged> haltsFor(Optional<String> pipeline) {
    Optional<String> name =
        RequireNoHalt.nameOf(context, pipeline.filter(id -> RunId.parse(id).isPresent()));
    // A pipeline of another workspace has no name here: a halt of any pipeline may be its halt.
    boolean unknown = pipeline.isPresent() && name.isEmpty();
    return halts().all(signers()).stream()
        .filter(one -> one.inForce() && (unknown || one.halt().stops(name)))
        .toList();
  }

  /**
   * Returns the person who signs lines of the history with a key.
   *
   * @param typed the key's file; empty for the first of ssh's default keys
   * @param command the command that signs, for messages
   * @throws dev.nexa.slurm.base.error.NexaException if allowed_signers does not know the key
   */
  LineSigner signer(Optional<String> typed, String command) {
    SigningKey key =
        SigningKey.of(context.environment(), typed, new SigningKey.Use(command, false));
    String principal = key.principal(approvals(), Optional.empty(), SignOff.NAMESPACE);
    HistoryLine.Author author =
        new HistoryLine.Author(
            UnixUser.me().user(), principal, ProcessIdentity.ofThisProcess().host());
    return new LineSigner(author, text -> key.sign(text, SignOff.NAMESPACE));
  }
}
