package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.command.shared.SigningKey;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.closing.BudgetShare;
import dev.nexa.slurm.money.closing.Capacity;
import dev.nexa.slurm.money.closing.ClosingSignature;
import dev.nexa.slurm.money.closing.MonthClosing;
import dev.nexa.slurm.money.closing.Statement;
import dev.nexa.slurm.money.closing.Statements;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.UnlistedRuns;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Path;
import java.time.Instant;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/** Closes a month: makes its statement from the ledger and the bills, signs it, and writes both. */
record CloseMonth(Context context, Statements statements, Instant now) {

  /**
   * Refuses a month that cannot be closed.
   *
   * @throws NexaException if it is not over, if an earlier one must be closed first, or if runs of
   *     it may have ended that no pass has seen
   */
  void requireClosable(YearMonth month) {
    Instant end = month.plusMonths(1).atDay(1).atStartOfDay(ZoneOffset.UTC).toInstant();
    if (now.isBefore(end)) {
      throw ErrorCode.MONTH_NOT_CLOSABLE.error(
          month + " is not over: it ends at " + end,
          Advice.command("shows what it cost so far", "nexa-slurm", "costs", "--month", month));
    }
    Optional<YearMonth> next = statements.next();
    if (next.isPresent() && month.isAfter(next.get())) {
      throw ErrorCode.MONTH_NOT_CLOSABLE.error(
          month + " cannot be closed before " + next.get(),
          Advice.command("closes it", "nexa-slurm", "costs", "close", next.get()));
    }
    if (next.isPresent() && month.isBefore(next.get())) {
      throw ErrorCode.MONTH_NOT_CLOSABLE.error(
          "the first month that was closed is %s: an earlier one cannot be closed any more"
              .formatted(statements.closed().first()),
          Advice.command("lists the closed months", "nexa-slurm", "costs", "close", "--list"));
    }
    long begun = unfinished(month).size();
    Optional<Instant> pass =
        Heartbeat.read(context.workspace())
            .map(beat -> beat.behindSince().orElseGet(beat::lastPass));
    if (begun > 0 && (pass.isEmpty() || pass.get().isBefore(end))) {
      throw ErrorCode.MONTH_NOT_CLOSABLE.error(
          "%d %s not settled, and no pass has looked at %s since %s ended"
              .formatted(
                  begun, begun == 1 ? "run is" : "runs are", begun == 1 ? "it" : "them", month),
          Advice.command("settles what has ended", "nexa-slurm", "reconcile"));
    }
  }

  /** Returns the runs that were made before the month's end and are not settled. */
  private List<Statement.Unfinished> unfinished(YearMonth month) {
    List<Statement.Unfinished> open = new ArrayList<>();
    for (RunId id : context.workspace().openRuns()) {
      String time = id.value().substring(id.value().indexOf('_') + 1);
      String made = time.substring(0, 4) + "-" + time.substring(4, 6);
      if (made.compareTo(month.toString()) <= 0) {
        Optional<RunFolder> run =
            Optional.of(context.workspace().run(id)).filter(RunFolder::exists);
        open.add(new Statement.Unfinished(id.value(), run.map(RunFolder::owner)));
      }
    }
    return open;
  }

  /**
   * Returns the statement of a month that can be closed.
   *
   * @throws NexaException if the ledger is damaged or incomplete, or an earlier statement is
   */
  Statement statement(YearMonth month) {
    // The open runs before the ledger: a run is closed after its ledger line exists.
    List<Statement.Unfinished> open = unfinished(month);
    YearMonth begin = statements.closed().isEmpty() ? month : statements.closed().first();
    Optional<String> previous =
        begin.equals(month)
            ? Optional.empty()
            : Optional.of(statements.read(month.minusMonths(1)).sha256());
    MonthClosing closing =
        new MonthClosing(
            month,
            begin,
            statements.before(month),
            new Bills(context.workspace()).charges(),
            statements::proof);
    UnlistedRuns unlisted = UnlistedRuns.of(context.workspace());
    FinishedRuns finished = new FinishedRuns(context.workspace());
    finished.forEach(
        (LedgerLine run) -> {
          unlisted.seen(run);
          closing.add(run);
        });
    List<String> problems = new ArrayList<>(finished.problems());
    unlisted.report(problems);
    for (String run : closing.missing()) {
      problems.add("the ledger has no line of " + run + ", which an earlier statement has");
    }
    if (!problems.isEmpty()) {
      throw ErrorCode.RECORD_DAMAGED.error(
          "the ledger is not whole, so nothing was closed: " + String.join("; ", problems),
          Advice.command("writes it again", "nexa-slurm", "audit", "--repair"));
    }
    Statement statement = closing.statement(previous, budgets(), capacity(), open);
    requireUnreported(statement);
    return statement;
  }

  /**
   * Refuses to replace a statement without a signature by one with other amounts. It may have been
   * signed and reported; a process that died before it signed leaves the same statement.
   */
  private void requireUnreported(Statement statement) {
    YearMonth month = statement.month();
    Path file = statements.file(month);
    if (statements.unsigned().contains(month)
        && !Sha256.of(DurableFiles.readBytes(file)).equals(Sha256.of(statement.text()))) {
      throw ErrorCode.MONTH_NOT_CLOSABLE.error(
          file + " has no signature, and is not what would be written in its place",
          Advice.step(
              "if the month was closed: bring " + month + ".signature.json back from a backup"),
          Advice.command(
              "if not: puts it aside; then close the month", "mv", file, file + ".unsigned"));
    }
  }

  private List<BudgetShare> budgets() {
    return context.configs().policy().budgets().stream().map(BudgetShare::of).toList();
  }

  private List<Capacity> capacity() {
    return Capacity.of(
        TierRoot.profiles(context.configs(), context.workspace().root()).stream()
            .map(profile -> context.configs().cluster(profile))
            .toList());
  }

  /**
   * A signature that can be made.
   *
   * @param signer the name in allowed_signers
   */
  record Signer(SigningKey key, String signer, Signers signers) {}

  /**
   * Returns who would sign. Nobody is asked for a passphrase yet.
   *
   * @param keyFile the key that was typed
   * @param as the name in allowed_signers that was typed
   * @throws NexaException if the policy would not accept the signature
   */
  Signer signer(Optional<String> keyFile, Optional<String> as) {
    PolicyApprovals approvals = PolicyApprovals.of(context, context.configs().policy());
    SigningKey key =
        SigningKey.of(context.environment(), keyFile, new SigningKey.Use("costs close", true));
    String signer =
        as.orElseGet(() -> key.principal(approvals, Optional.empty(), ClosingSignature.NAMESPACE));
    Signers signers = approvals.signers();
    requireCounting(
        key.publicKey()
            .flatMap(half -> signers.refusal(signer, half, ClosingSignature.NAMESPACE, now)));
    return new Signer(key, signer, signers);
  }

  private static void requireCounting(Optional<String> refusal) {
    if (refusal.isPresent()) {
      throw ErrorCode.APPROVAL_REFUSED.error(
          "this signature would not count: " + refusal.get(),
          "the line of a person who closes months has the namespace " + ClosingSignature.NAMESPACE,
          "nothing was signed");
    }
  }

  /**
   * Makes a statement, signs it and writes it with its signature. All of it happens under the lock,
   * so that what is shown is what is signed.
   *
   * @param confirm shows the statement; returns whether it is to be signed
   * @return what was written; empty if another process has closed the month, or if it was not
   *     confirmed
   */
  Optional<Statements.Closed> close(YearMonth month, Signer signer, Predicate<Statement> confirm) {
    try (FileLock held = statements.lock()) {
      if (!held.holds() || statements.closed().contains(month)) {
        return Optional.empty();
      }
      requireClosable(month);
      Statement statement = statement(month);
      if (!confirm.test(statement)) {
        return Optional.empty();
      }
      String sha256 = Sha256.of(statement.text());
      ClosingSignature unsigned =
          new ClosingSignature(
              month,
              sha256,
              now.truncatedTo(ChronoUnit.SECONDS),
              UnixUser.me().user(),
              signer.signer(),
              ProcessIdentity.ofThisProcess().host(),
              "");
      ClosingSignature signed =
          unsigned.signed(signer.key().sign(unsigned.signedText(), ClosingSignature.NAMESPACE));
      requireCounting(signed.refusal(signer.signers()));
      return statements.write(statement, signed)
          ? Optional.of(new Statements.Closed(statement, sha256, signed))
          : Optional.empty();
    } catch (FileLock.LockedException busy) {
      throw ErrorCode.WORKSPACE_BUSY.error(
          "another `costs close` is at work: " + busy.getMessage(),
          busy,
          Advice.step("type the command again when it is done"));
    }
  }
}
