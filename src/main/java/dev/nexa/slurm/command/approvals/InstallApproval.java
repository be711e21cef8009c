package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.SlurmToken;
import dev.nexa.slurm.records.approvals.TokenDirectory;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Implements {@code approvals install}: turns a verified approval into a token that the job_submit
 * plugin accepts.
 */
public final class InstallApproval {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Context context;

  public InstallApproval(Context context) {
    this.context = context;
  }

  /** A token and its file. */
  public record Installed(SlurmToken token, Path file) {}

  /**
   * Verifies an approval by the policy in force and writes its tokens: one for a run, and one for
   * each different stage of a pipeline.
   *
   * @param named the submitter's login name, for an approval that names none
   * @throws NexaException if the approval is not valid, or if the submitter is unknown; nothing is
   *     written then
   */
  public List<Installed> install(Path file, Path directory, Optional<String> named) {
    ShowApprovals.Row row = new ShowApprovals(context).verify(file);
    if (!row.state().equals("valid")) {
      throw new NexaException(
          ErrorCode.APPROVAL_REFUSED,
          file
              + " is "
              + row.state()
              + (row.reasons().isEmpty() ? "" : ": " + String.join("; ", row.reasons())),
          Advice.step("nothing was written"));
    }
    Approval approval = row.file().orElseThrow().approval();
    UnixUser submitter = submitter(approval, named);
    requireAnother(file, row.file().orElseThrow(), submitter);
    try {
      TokenDirectory tokens = new TokenDirectory(directory);
      List<Installed> installed = new ArrayList<>();
      for (SlurmToken token :
          SlurmToken.of(
              approval, submitter.user(), submitter.uid().orElseGet(() -> uid(submitter.user())))) {
        installed.add(new Installed(token, tokens.install(token, context.workspace().files())));
      }
      return installed;
    } catch (IllegalArgumentException cannot) {
      throw new NexaException(
          ErrorCode.APPROVAL_NOT_INSTALLABLE,
          file + " cannot be installed for Slurm: " + cannot.getMessage(),
          cannot);
    }
  }

  private void requireAnother(Path file, ApprovalFile approval, UnixUser submitter) {
    PolicyApprovals approvals = PolicyApprovals.of(context, context.configs().policy());
    Optional<String> self = approvals.signers().selfApproval(approval, submitter);
    if (!approvals.policy().selfApproval() && self.isPresent()) {
      throw new NexaException(
          ErrorCode.APPROVAL_BY_SUBMITTER,
          file + ": " + self.get(),
          Advice.step("nothing was written"));
    }
  }

  private static UnixUser submitter(Approval approval, Optional<String> named) {
    Optional<UnixUser> signed = approval.scope().submitter();
    if (signed.isPresent() && named.isPresent() && !named.get().equals(signed.get().user())) {
      throw new NexaException(
          ErrorCode.OPTIONS_CONFLICT,
          "--for " + named.get() + ": the approval is for " + signed.get() + " and nobody else");
    }
    if (signed.isEmpty() && named.isEmpty()) {
      throw new NexaException(
          ErrorCode.ARGUMENT_MISSING,
          "the approval is for any submitter, but Slurm needs one user",
          Advice.step("add --for USER"));
    }
    return signed.orElseGet(() -> new UnixUser(named.orElseThrow(), Optional.empty()));
  }

  /** Returns the uid from this machine's user database, which must be the same as slurmctld's. */
  private long uid(String user) {
    Command command =
        new Command(
            List.of("id", "-u", "--", user), context.environment(), context.root(), PATIENCE);
    try {
      CommandResult result = new CommandRunner().run(command);
      if (result.exit() == 0) {
        return Long.parseLong(result.out().strip());
      }
      throw new NexaException(
          ErrorCode.OPTION_INVALID, "no user " + user + ": " + result.err().strip());
    } catch (IOException failed) {
      throw new NexaException(ErrorCode.DEFECT, "cannot ask id for " + user, failed);
    }
  }
}
