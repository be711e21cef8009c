package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.ApprovedRun;
import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.approve.SlurmToken;
import dev.nexa.slurm.approve.TokenDirectory;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** {@code approvals install}: an approval, once verified, as a token that slurmctld honours. */
public final class InstallApproval {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private final Nexa nexa;

  public InstallApproval(Nexa nexa) {
    this.nexa = nexa;
  }

  /** What was written where. */
  public record Installed(SlurmToken token, Path file) {}

  /**
   * Verifies it by the policy in force, then writes it.
   *
   * @param named who submits, where the approval does not say
   */
  public Installed install(Path file, Path directory, Optional<String> named) {
    ShowApprovals.Row row = new ShowApprovals(nexa).verify(file);
    if (!row.state().equals("valid")) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          file + " is " + row.state() + ": " + String.join("; ", row.reasons()),
          "nothing was written");
    }
    Approval approval = row.file().orElseThrow().approval();
    Person submitter = submitter(approval, named);
    try {
      SlurmToken token =
          SlurmToken.of(
              approval, submitter.user(), submitter.uid().orElseGet(() -> uid(submitter.user())));
      Path written = new TokenDirectory(directory).install(token, nexa.workspace().files());
      return new Installed(token, written);
    } catch (IllegalArgumentException cannot) {
      throw new NexaException(
          ExitCode.USAGE, file + " can't be told to Slurm: " + cannot.getMessage(), cannot);
    }
  }

  private static Person submitter(Approval approval, Optional<String> named) {
    Optional<Person> signed =
        approval.scope() instanceof ApprovedRun run ? run.submitter() : Optional.empty();
    if (signed.isPresent() && named.isPresent() && !named.get().equals(signed.get().user())) {
      throw new NexaException(
          ExitCode.USAGE,
          "--for " + named.get() + ": the approval is for " + signed.get() + " and nobody else");
    }
    if (signed.isEmpty() && named.isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "the approval is for anybody, and Slurm must be told of one user",
          "add --for USER");
    }
    return signed.orElseGet(() -> new Person(named.orElseThrow(), Optional.empty()));
  }

  /** As this machine's user database has it, which must be the one of slurmctld's. */
  private long uid(String user) {
    Command command =
        new Command(List.of("id", "-u", "--", user), nexa.environment(), nexa.root(), PATIENCE);
    try {
      CommandResult result = new CommandRunner().run(command);
      if (result.exit() == 0) {
        return Long.parseLong(result.out().strip());
      }
      throw new NexaException(ExitCode.USAGE, "no user " + user + ": " + result.err().strip());
    } catch (IOException failed) {
      throw new NexaException(ExitCode.DEFECT, "cannot ask id for " + user, failed);
    }
  }
}
