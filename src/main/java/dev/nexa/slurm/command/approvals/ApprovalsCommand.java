package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.command.shared.CommandGroup;
import dev.nexa.slurm.command.shared.Subcommand;
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
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The commands {@code approvals list}, {@code show}, {@code revoke}, {@code verify} and {@code
 * install}.
 */
public final class ApprovalsCommand extends CommandGroup {
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  public ApprovalsCommand() {
    super(
        "approvals",
        "Lists, shows, revokes and verifies approvals, or makes an approval known to Slurm.",
        "approvals needs a command: type `approvals list`, `approvals show ID`, `approvals revoke ID`, `approvals verify FILE` or `approvals install FILE`",
        "nexa-slurm approvals list",
        "nexa-slurm approvals revoke 4f1c0a9be2d37765 --reason 'wrong dataset'");
    subcommands(
        new ListCommand(),
        new ShowCommand(),
        new RevokeCommand(),
        new VerifyCommand(),
        new InstallCommand());
  }

  private static void tell(Subcommand command, ShowApprovals.Row row, boolean json) {
    if (json) {
      command.print(row.addTo(JsonObject.ofVersion(1)));
      return;
    }
    command.say(row.path() + ": " + row.state().text());
    row.reasons().forEach(reason -> command.say("  " + reason));
    if (row.file().isPresent()) {
      command.print(ApprovalText.of(row.file().get().approval()));
      command.say("  key        " + row.file().get().signature().key());
      command.print(ApprovalText.uses(row.uses()));
    }
    row.revocation().map(ApprovalText::revocation).ifPresent(command.out()::print);
  }

  /** The command {@code approvals list}. */
  private static final class ListCommand extends Subcommand {
    private final OptionSpec json = jsonFlag();

    ListCommand() {
      super("list", "All approvals of the policy's directory.", "nexa-slurm approvals list");
    }

    @Override
    protected void work() {
      ShowApprovals approvals = new ShowApprovals(ruled());
      approvals.notes().forEach(err()::println);
      List<ShowApprovals.Row> rows = approvals.list();
      if (given(json)) {
        List<JsonObject> documents = rows.stream().map(row -> row.addTo(new JsonObject())).toList();
        print(JsonObject.ofVersion(1).with("approvals", documents));
      } else if (rows.isEmpty()) {
        say("No approvals.");
      } else {
        printTable(ApprovalText.table(rows, style()));
      }
    }
  }

  /** The command {@code approvals show}. */
  private static final class ShowCommand extends Subcommand {
    private final PositionalParamSpec id = id(this);
    private final OptionSpec json = jsonFlag();

    ShowCommand() {
      super(
          "show",
          "Shows one approval: the runs it allows, its signer, and the runs that used it.",
          "nexa-slurm approvals show 4f1c0a9be2d37765");
    }

    @Override
    protected void work() {
      tell(this, new ShowApprovals(ruled()).show(id.getValue()), given(json));
    }
  }

  private static PositionalParamSpec id(Subcommand command) {
    return command.parameter("ID", "An approval's id, or the beginning of one.");
  }

  /** The command {@code approvals revoke}. */
  private static final class RevokeCommand extends Subcommand {
    private final PositionalParamSpec id = id(this);
    private final OptionSpec reason =
        option("--reason TEXT", "A note for everybody who wants to use it.");
    private final OptionSpec json = jsonFlag();

    RevokeCommand() {
      super(
          "revoke",
          "Revokes an approval for good; runs that used it go on.",
          "nexa-slurm approvals revoke 4f1c0a9be2d37765 --reason 'wrong dataset'");
    }

    @Override
    public Integer call() {
      ShowApprovals approvals = new ShowApprovals(ruled());
      ShowApprovals.Row row = approvals.show(id.getValue());
      if (row.file().isEmpty()) {
        throw ErrorCode.APPROVAL_UNKNOWN.error(
            row.reasons().get(0), "it allows nothing, so nothing is to be revoked");
      }
      boolean now = approvals.revoke(row, value(reason));
      String approval = row.file().get().approval().id();
      return answer(
          json,
          () ->
              JsonObject.ofVersion(1)
                  .with("approval_id", approval)
                  .with("revoked", true)
                  .with("was_revoked", !now),
          () -> say(approval + (now ? ": revoked" : ": was revoked before")));
    }
  }

  /** The command {@code approvals verify}. */
  private static final class VerifyCommand extends Subcommand {
    private final PositionalParamSpec file = fileParameter("FILE", "An approval's file.");
    private final OptionSpec json = jsonFlag();

    VerifyCommand() {
      super(
          "verify",
          "Checks whether a file is an approval that is valid here; exit status 3 if it is not.",
          "nexa-slurm approvals verify runs/latest/approval");
    }

    @Override
    public Integer call() {
      ShowApprovals.Row row = new ShowApprovals(ruled()).verify(file.getValue());
      tell(this, row, given(json));
      return (row.state() == ShowApprovals.State.VALID ? ExitCode.OK : ExitCode.NEEDS_APPROVAL)
          .status();
    }
  }

  /** The command {@code approvals install}. */
  private static final class InstallCommand extends Subcommand {
    private final PositionalParamSpec file = fileParameter("FILE", "An approval's file.");
    private final OptionSpec to =
        option(
            "--to DIR",
            "Where slurmctld looks, as `policy install --approved-dir` said; /etc/nexa-slurm/approved if not given.");
    private final OptionSpec user =
        option("--for USER", "The submitter, if the approval is for any submitter.");
    private final OptionSpec json = jsonFlag();

    InstallCommand() {
      super(
          "install",
          "For Slurm's admin: verifies an approval and makes it known to slurmctld (`nexa-slurm explain docs/policy.md`).",
          "nexa-slurm approvals install approvals/0c5f3e9a1b2c3d4e-4f1c0a9be2d37765.approval");
    }

    @Override
    protected void work() {
      Path directory = Path.of(value(to).orElse(PolicyCommand.APPROVED));
      Context context = ruled();
      Path path = file.getValue();
      ShowApprovals.Row row = new ShowApprovals(context).verify(path);
      if (row.state() != ShowApprovals.State.VALID) {
        String why = String.join("; ", row.reasons());
        throw ErrorCode.APPROVAL_REFUSED.error(
            path + " is " + row.state().text() + (why.isEmpty() ? "" : ": " + why),
            "nothing was written");
      }
      ApprovalFile valid = row.file().orElseThrow();
      UnixUser submitter = submitter(valid.approval(), value(user));
      requireAnother(context, path, valid, submitter);
      List<Installed> installed;
      try {
        TokenDirectory tokens = new TokenDirectory(directory);
        long uid = submitter.uid().orElseGet(() -> uid(context, submitter.user()));
        // One for a run, and one for each different stage of a pipeline.
        installed =
            SlurmToken.of(valid.approval(), submitter.user(), uid).stream()
                .map(one -> new Installed(one, tokens.install(one, context.workspace().files())))
                .toList();
      } catch (IllegalArgumentException cannot) {
        throw ErrorCode.APPROVAL_NOT_INSTALLABLE.error(
            path + " cannot be installed for Slurm: " + cannot.getMessage(), cannot);
      }
      if (given(json)) {
        print(json(installed));
        return;
      }
      for (Installed one : installed) {
        say("wrote " + one.file() + " for " + one.token().user());
        say("  its jobs name it: --comment=nexa:v1:" + one.token().id());
        say("  to take it back: rm " + one.file());
      }
    }

    private static JsonObject json(List<Installed> installed) {
      List<JsonObject> tokens = new ArrayList<>();
      for (Installed one : installed) {
        tokens.add(
            new JsonObject().with("id", one.token().id()).with("file", one.file().toString()));
      }
      SlurmToken first = installed.get(0).token();
      return JsonObject.ofVersion(1)
          .with("user", first.user())
          .with("uid", first.uid())
          .with("tokens", tokens);
    }
  }

  /** A token and its file. */
  private record Installed(SlurmToken token, Path file) {}

  private static void requireAnother(
      Context context, Path file, ApprovalFile approval, UnixUser submitter) {
    PolicyApprovals approvals = PolicyApprovals.of(context, context.configs().policy());
    Optional<String> self = approvals.signers().selfApproval(approval, submitter);
    if (!approvals.policy().selfApproval() && self.isPresent()) {
      throw ErrorCode.APPROVAL_BY_SUBMITTER.error(file + ": " + self.get(), "nothing was written");
    }
  }

  private static UnixUser submitter(Approval approval, Optional<String> named) {
    Optional<UnixUser> signed = approval.scope().submitter();
    if (signed.isPresent() && named.isPresent() && !named.get().equals(signed.get().user())) {
      throw conflict(
          "--for " + named.get() + ": the approval is for " + signed.get() + " and nobody else");
    }
    if (signed.isEmpty() && named.isEmpty()) {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "the approval is for any submitter, but Slurm needs one user", "add --for USER");
    }
    return signed.orElseGet(() -> new UnixUser(named.orElseThrow(), Optional.empty()));
  }

  /** Returns the uid from this machine's user database, which must be the same as slurmctld's. */
  private static long uid(Context context, String user) {
    List<String> words = List.of("id", "-u", "--", user);
    Command command = new Command(words, context.environment(), context.root(), PATIENCE);
    try {
      CommandResult result = new CommandRunner().run(command);
      if (result.exit() == 0) {
        return Long.parseLong(result.out().strip());
      }
      throw invalid("no user " + user + ": " + result.err().strip());
    } catch (IOException failed) {
      throw ErrorCode.DEFECT.error("cannot ask id for " + user, failed);
    }
  }
}
