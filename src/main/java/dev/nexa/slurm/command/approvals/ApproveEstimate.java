package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.command.shared.SigningKey;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.estimate.Estimate;
import dev.nexa.slurm.job.estimate.EstimateFile;
import dev.nexa.slurm.money.budgets.BudgetStatus;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalEnvelope;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovedPipeline;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.PipelineEstimateFile;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.SshPublicKey;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.run.start.EstimateLookup;
import dev.nexa.slurm.run.start.OwnPrices;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/** Implements {@code approve}: signs an estimate, or an envelope, with the approver's SSH key. */
public final class ApproveEstimate {
  private static final Pattern DAY = Pattern.compile("\\d{4}-\\d{2}-\\d{2}");

  /** The share of a run's reservation that an approval adds for reruns of failed tasks. */
  private static final BigDecimal RERUN_SHARE = new BigDecimal("0.01");

  private final Context context;
  private final Policy policy;
  private final PolicyApprovals approvals;
  private final Terms terms;

  /**
   * The options of an approval.
   *
   * @param key the private key's file; empty for the first of ssh's default keys
   * @param principal the signer; empty for the name that allowed_signers gives for the key
   * @param expires a duration ({@code 7d}), a day whose last second in UTC counts, or a time (RFC
   *     3339); empty for 7 days
   * @param uses how many runs the approval allows; empty for 1, and for 1000 of an envelope
   * @param upTo the most that a run may cost with reruns of its failed tasks; empty for its
   *     reservation and 1 % more
   * @param submitter the login name that may submit; {@code any} for anybody, empty for the user
   *     who made the estimate
   * @param trustPrices whether the approver signs prices that differ from their own price book
   * @param again whether to sign although a valid approval allows the same already
   */
  public record Terms(
      Optional<String> key,
      Optional<String> principal,
      Optional<String> expires,
      Optional<Integer> uses,
      Optional<BigDecimal> upTo,
      boolean overBudget,
      Optional<String> submitter,
      boolean trustPrices,
      boolean again,
      Optional<String> note) {}

  /**
   * An approval that is not signed yet.
   *
   * @param facts lines about it that the approval itself does not hold: a word and its value
   * @param notes warnings for the approver
   */
  public record Draft(Approval approval, List<Fact> facts, List<String> notes) {}

  /** A line for the approver, such as {@code project} and its name. */
  public record Fact(String word, String value) {}

  /** The result of the call. */
  public sealed interface Outcome permits Signed, AlreadyApproved, NotSigned {}

  /**
   * A signed approval and its file.
   *
   * @param isFound whether the file lies where submit looks for approvals
   */
  public record Signed(Draft draft, ApprovalFile file, Path path, boolean isFound)
      implements Outcome {}

  /** Nothing was signed, because this valid approval allows the same. */
  public record AlreadyApproved(ShowApprovals.Row row) implements Outcome {}

  /** Nothing was signed, because the review did not agree. */
  public record NotSigned(Draft draft) implements Outcome {}

  public ApproveEstimate(Context context, Terms terms) {
    this.context = context;
    this.policy = context.configs().policy();
    this.approvals = PolicyApprovals.of(context, policy);
    this.terms = terms;
  }

  /**
   * Approves one run.
   *
   * @param typed an estimate's file, the beginning of its digest, or a run's config
   * @param review gets the approval before it is signed, and returns whether to sign it
   * @throws NexaException if the estimate or the options are not valid, if the prices are not the
   *     approver's, or if submit would reject the approval
   */
  public Outcome run(String typed, Predicate<Draft> review) {
    Optional<String> submitter = terms.submitter();
    // A script's variable may be empty, and an approval is for one user or for any.
    if (submitter.isPresent() && !submitter.get().matches("[A-Za-z0-9_][A-Za-z0-9._@+-]*[$]?")) {
      throw Subcommand.invalid(
          "--for '" + submitter.get() + "': expected one login name, or any",
          "several users: one approval for each, or --for any");
    }
    EstimateLookup lookup = new EstimateLookup(context);
    if (lookup.isConfig(typed) && submitter.isEmpty()) {
      lookup.requireFile(typed);
      if (Files.isDirectory(Path.of(typed))) {
        throw ErrorCode.FILE_NOT_REGULAR.error(
            typed + " is a folder; expected an estimate or a config",
            "name the estimate that submit wrote: estimates/NAME");
      }
      throw ErrorCode.ARGUMENT_MISSING.error(
          "the submitter is not known: %s is a config, which does not say who will submit the run"
              .formatted(typed),
          "add --for USER, or --for any",
          "for a pipeline: `pipeline run` writes the estimate that you can approve");
    }
    Optional<PipelineEstimateFile> pipeline = lookup.pipeline(typed);
    if (pipeline.isPresent()) {
      return pipeline(typed, pipeline.get(), review);
    }
    List<String> notes = new ArrayList<>();
    EstimateFile estimate = lookup.find(typed);
    ApprovedRun run = checked(typed, estimate, notes);
    if (lookup.isConfig(typed)) {
      notes.add(
          "the plan of this workspace is signed, "
              + context.workspace().root()
              + ": submit in another workspace can need another plan. To sign the submitter's plan,"
              + " name the estimate that submit writes there: approve DIR/estimates/NAME");
    }
    Money most = most(run.reservation(), "the run", withRerun(run.reservation()));
    unknown(submitter).ifPresent(notes::add);
    List<Fact> facts = facts(List.of(estimate), run.reservation(), run, notes);
    return sign(run.reservation(), most, run, facts, notes, review);
  }

  private Outcome pipeline(String typed, PipelineEstimateFile file, Predicate<Draft> review) {
    List<String> notes = new ArrayList<>();
    List<ApprovedPipeline.Stage> stages = new ArrayList<>();
    List<EstimateFile> estimates = new ArrayList<>();
    ApprovedPipeline pipeline;
    try {
      for (PipelineEstimateFile.Stage stage : file.stages()) {
        ApprovedRun run = checked(typed + ": " + stage.name(), stage.estimate(), notes);
        stages.add(new ApprovedPipeline.Stage(stage.name(), run));
        estimates.add(stage.estimate());
      }
      pipeline = new ApprovedPipeline(file.config(), file.digest(), stages);
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.ESTIMATE_UNUSABLE.error(
          typed + " is no estimate: " + broken.getMessage(), broken);
    }
    unknown(terms.submitter()).ifPresent(notes::add);
    Money reservation = pipeline.reservation();
    List<Fact> facts = facts(estimates, reservation, pipeline, notes);
    Money most = most(reservation, "the pipeline", reservation);
    return sign(reservation, most, pipeline, facts, notes, review);
  }

  /** Returns the project of the runs, and what is left of the budgets that they take from. */
  private List<Fact> facts(
      List<EstimateFile> estimates, Money needs, Approval.Scope scope, List<String> notes) {
    List<Fact> facts = new ArrayList<>();
    Set<String> projects = new LinkedHashSet<>();
    Map<String, String> left = new LinkedHashMap<>();
    List<BudgetStatus> budgets =
        policy.budgets().isEmpty()
            ? List.of()
            : new BudgetUsage(context).on(LocalDate.now(ZoneOffset.UTC), new ArrayList<>());
    for (EstimateFile estimate : estimates) {
      LedgerLine run =
          new LedgerLine.Draft("none")
              .with(LedgerKey.TAGS, estimate.tags())
              .with(LedgerKey.ACCOUNT, estimate.limits().optionalText("account"))
              .with(LedgerKey.USER, scope.submitter().map(UnixUser::user))
              .line(YearMonth.now(ZoneOffset.UTC).toString());
      String project = run.tagged("project");
      projects.add(project == null ? "none" : project);
      for (BudgetStatus budget : budgets) {
        boolean isFirst =
            budget.covers(run) && left.put(budget.name(), left(budget, needs)) == null;
        if (isFirst && isTooLittle(budget, needs) && !terms.overBudget()) {
          notes.add(
              "submit will refuse the run: budget "
                  + budget.name()
                  + " has too little left, and this approval is without --over-budget");
        }
      }
    }
    facts.add(new Fact("project", String.join(", ", projects)));
    // Another workspace's runs take from the same budget, and their costs are not here.
    String by = ", by the runs of " + context.workspace().root() + " only";
    left.forEach((budget, rest) -> facts.add(new Fact("budget", budget + ", " + rest + by)));
    return facts;
  }

  private static boolean isTooLittle(BudgetStatus budget, Money needs) {
    return needs.currency().equals(budget.budget().amount().currency())
        && needs.amount().compareTo(budget.remaining()) > 0;
  }

  private static String left(BudgetStatus budget, Money needs) {
    Money amount = budget.budget().amount().rounded();
    String left = budget.period() + ": " + budget.remaining() + " of " + amount + " left";
    return needs.currency().equals(amount.currency())
        ? left + ", " + budget.remaining().subtract(needs.amount()) + " after this"
        : left;
  }

  /** Returns what an approval of a run says, after the estimate and its prices were checked. */
  private ApprovedRun checked(String typed, EstimateFile estimate, List<String> notes) {
    Estimate priced = requireAddsUp(typed, estimate);
    new OwnPrices(context, typed, priced, estimate.limits())
        .notes(terms.trustPrices()).stream()
            .filter(note -> !notes.contains(note))
            .forEach(notes::add);
    Money reservation = new Money(estimate.reserved(), priced.rates().currency());
    try {
      return new ApprovedRun(
          estimate.config(),
          estimate.configDigest(),
          estimate.whatRuns(),
          estimate.limits(),
          submitter(estimate),
          priced.rates().toJson(),
          reservation);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw ErrorCode.ESTIMATE_UNUSABLE.error(
          typed + " is no estimate: " + broken.getMessage(), broken);
    }
  }

  /**
   * Returns the amount that is signed unless the approver names one. The part above the reservation
   * pays for attempts that failed early, so that their tasks can run again. The run itself is bound
   * to its limits and rates, so it cannot cost more than its reservation.
   */
  private static Money withRerun(Money reservation) {
    BigDecimal amount = reservation.amount();
    int cents = Money.zero(reservation.currency()).amount().scale();
    return new Money(
        amount.add(amount.multiply(RERUN_SHARE)).setScale(cents, RoundingMode.UP),
        reservation.currency());
  }

  private Money most(Money reservation, String what, Money usual) {
    Money most = terms.upTo().map(amount -> money(amount, reservation.currency())).orElse(usual);
    if (most.compareTo(reservation) < 0) {
      throw Subcommand.invalid(
          "--up-to " + most + " is less than " + what + " can cost: " + reservation,
          "leave out --up-to, or: --up-to " + reservation.amount().toPlainString());
    }
    return most;
  }

  /**
   * Approves a family of runs. {@code upTo} must be present.
   *
   * @param review gets the approval before it is signed, and returns whether to sign it
   */
  public Outcome envelope(ApprovalEnvelope envelope, Predicate<Draft> review) {
    if (terms.upTo().isEmpty()) {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "--envelope needs --up-to: the most that one run may cost",
          "add --up-to AMOUNT, such as --up-to 200");
    }
    Money most = inPolicysCurrency(terms.upTo().get());
    return sign(most, most, envelope, List.of(), new ArrayList<>(), review);
  }

  /** Returns an amount in the policy's currency. */
  public Money inPolicysCurrency(BigDecimal amount) {
    return money(amount, policy.approvalOver().currency());
  }

  private static Money money(BigDecimal amount, String currency) {
    return new Money(amount, currency).rounded();
  }

  /**
   * Returns the estimate, priced again from its own rates and limits. An estimate with another sum
   * was edited, which is an error.
   */
  private static Estimate requireAddsUp(String typed, EstimateFile estimate) {
    try {
      Estimate again = estimate.ofLimits();
      BigDecimal total = estimate.reserved();
      if (again.total().amount().compareTo(total) != 0) {
        throw ErrorCode.ESTIMATE_UNUSABLE.error(
            "%s: its reservation is %s, but its rates and limits come to %s: it was edited"
                .formatted(typed, total.toPlainString(), again.total()),
            "ask for the estimate anew, or approve the config itself");
      }
      return again;
    } catch (IllegalArgumentException | ArithmeticException notWhole) {
      throw ErrorCode.ESTIMATE_UNUSABLE.error(
          typed + " is no estimate that can be approved: " + notWhole.getMessage(),
          notWhole,
          Advice.step(
              "`nexa-slurm submit CONFIG` writes one below estimates/ when it needs an approval"));
    }
  }

  private Optional<UnixUser> submitter(EstimateFile estimate) {
    String named = terms.submitter().orElse("any");
    return terms.submitter().isEmpty()
        ? Optional.of(UnixUser.fromJson(estimate.submitter()))
        : named.equals("any")
            ? Optional.empty()
            : Optional.of(new UnixUser(named, Optional.empty()));
  }

  /** Returns a warning if this machine has no user of this name. Another machine may have one. */
  private static Optional<String> unknown(Optional<String> user) {
    if (user.isEmpty() || user.get().equals("any")) {
      return Optional.empty();
    }
    try {
      FileSystems.getDefault().getUserPrincipalLookupService().lookupPrincipalByName(user.get());
      return Optional.empty();
    } catch (IOException | UnsupportedOperationException none) {
      return Optional.of("--for " + user.get() + ": this machine knows no such user");
    }
  }

  /**
   * Signs an approval, unless a valid one allows the same.
   *
   * @param least the amount that an existing approval must allow if the approver typed none
   */
  private Outcome sign(
      Money least,
      Money most,
      Approval.Scope scope,
      List<Fact> facts,
      List<String> notes,
      Predicate<Draft> review) {
    Instant now = Instant.ofEpochSecond(Instant.now().getEpochSecond());
    int uses = terms.uses().orElse(scope instanceof ApprovalEnvelope ? 1000 : 1);
    Optional<ShowApprovals.Row> existing =
        terms.again()
            ? Optional.empty()
            : existing(
                new ExistingApproval.Wanted(
                    scope,
                    terms.expires().map(typed -> expires(now)),
                    terms.uses().orElse(1),
                    terms.upTo().isPresent() ? most : least,
                    terms.overBudget()));
    if (existing.isPresent()) {
      return new AlreadyApproved(existing.get());
    }
    requireReadableKeys();
    SigningKey key =
        SigningKey.of(context.environment(), terms.key(), new SigningKey.Use("approve", true));
    key.publicKey().ifPresent(half -> requireAnother(half, scope.submitter()));
    String principal =
        terms
            .principal()
            .orElseGet(() -> key.principal(approvals, scope.submitter(), Approval.NAMESPACE));
    Approval approval;
    try {
      approval =
          new Approval(
              Approval.newId(),
              principal,
              now,
              expires(now),
              uses,
              most,
              terms.overBudget(),
              terms.note(),
              scope);
    } catch (IllegalArgumentException wrong) {
      throw ErrorCode.OPTION_INVALID.error(String.valueOf(wrong.getMessage()), wrong);
    }
    requireUsable(approval);
    // Before the approver reads and signs: a signature that does not count is work for nothing.
    key.publicKey().ifPresent(half -> requireMaySign(approval, half, now));
    Path folder = folder();
    if (!folder.equals(approvals.directory().path())) {
      notes.addAll(notWritable(approvals.directory().path(), folder.resolve(approval.fileName())));
    }
    List<Fact> all = new ArrayList<>(facts);
    all.add(new Fact("key", key.text()));
    Draft draft = new Draft(approval, all, notes);
    if (!review.test(draft)) {
      return new NotSigned(draft);
    }
    ApprovalFile file = key.sign(approval);
    Optional<String> refusal = approvals.signers().refusal(file, now);
    if (refusal.isPresent()) {
      throw refused(refusal.get(), file.approval(), file.signature().key());
    }
    requireAnother(file.signature().key(), file.approval().scope().submitter());
    return new Signed(draft, file, keep(file, folder), folder.equals(approvals.directory().path()));
  }

  /** Returns a valid approval that allows all this, and that the submitter may use. */
  private Optional<ShowApprovals.Row> existing(ExistingApproval.Wanted wanted) {
    Optional<UnixUser> submitter =
        approvals.policy().selfApproval() ? Optional.empty() : wanted.scope().submitter();
    List<ShowApprovals.Row> usable =
        new ArrayList<>(new ShowApprovals(context).like(wanted.scope()));
    submitter.ifPresent(
        user ->
            usable.removeIf(
                row ->
                    row.file()
                        .flatMap(file -> approvals.signers().selfApproval(file, user))
                        .isPresent()));
    return ExistingApproval.find(wanted, usable, Instant.now());
  }

  private Instant expires(Instant now) {
    String text = terms.expires().orElse("7d");
    try {
      Instant expires =
          DAY.matcher(text).matches()
              ? LocalDate.parse(text).atTime(23, 59, 59).toInstant(ZoneOffset.UTC)
              : text.indexOf('T') > 0 ? Instant.parse(text) : now.plus(TimeLimit.parseExact(text));
      if (!expires.isAfter(now)) {
        throw Subcommand.invalid(
            "--expires: expected a time to come, got " + text + "; now it is " + PlainTime.utc(now),
            "--expires 7d");
      }
      return expires;
    } catch (DateTimeException | IllegalArgumentException wrong) {
      throw ErrorCode.OPTION_INVALID.error(
          ("--expires: expected a duration such as 7d or 12h, a day such as 2026-12-01 (its end, in"
                  + " UTC), or a time such as 2026-12-01T18:00:00Z, got '%s'")
              .formatted(text),
          wrong,
          Advice.step("--expires 7d"));
    }
  }

  /** Checks the approval before it is signed: submit must accept it. */
  private void requireUsable(Approval approval) {
    Policy.Approvals rules = approvals.policy();
    if (approval.expires().isAfter(approval.created().plus(rules.longest()))) {
      throw Subcommand.invalid(
          "--expires: the policy lets an approval last %s at most (%s)"
              .formatted(TimeLimit.words(rules.longest()), policy.name()),
          "--expires " + rules.longest().toHours() + "h");
    }
    Optional<UnixUser> submitter = approval.scope().submitter();
    if (submitter.filter(user -> user.mayBe(approval.approver())).isPresent()
        && !rules.selfApproval()) {
      throw ErrorCode.APPROVAL_BY_SUBMITTER.error(
          approval.approver() + " would submit this run: submitters cannot approve their own runs",
          "somebody else of allowed_signers can; or --for USER, if another submits it");
    }
  }

  /** A line that cannot be read makes all signatures void, whoever signs. */
  private void requireReadableKeys() {
    List<String> problems = approvals.signers().problems();
    if (problems.isEmpty()) {
      return;
    }
    String file =
        approvals.signers().allowed().problems().isEmpty()
            ? approvals.signers().revokedList().map(Path::toString).orElse("")
            : approvals.signers().allowed().file();
    throw ErrorCode.APPROVAL_REFUSED.error(
        "nobody can approve until this is fixed: " + String.join("; ", problems),
        Workspace.ownerOf(Path.of(file)) + ", who owns " + file + ", can fix it",
        "nothing was signed");
  }

  /** Checks that no name of the key may be the submitter: submit would refuse the approval. */
  private void requireAnother(SshPublicKey key, Optional<UnixUser> submitter) {
    Optional<String> own =
        approvals.policy().selfApproval()
            ? Optional.empty()
            : approvals.signers().nameOf(key, submitter);
    if (own.isEmpty()) {
      return;
    }
    String file = approvals.signers().allowed().file();
    String rule = ": submitters cannot approve their own runs";
    if (AllowedSigners.isName(own.get())) {
      throw ErrorCode.APPROVAL_BY_SUBMITTER.error(
          file + " gives this key to " + own.get() + ", who would submit this run" + rule,
          "somebody else of allowed_signers can; or --for USER, if another submits it");
    }
    int at = own.get().indexOf('@');
    String site = at < 0 ? "" : own.get().substring(at);
    String who =
        submitter.map(user -> user.user() + ", who submits the run").orElse("any submitter");
    throw ErrorCode.APPROVAL_BY_SUBMITTER.error(
        "%s gives this key only to the pattern %s. A pattern names nobody, so it may mean %s%s"
            .formatted(file, own.get(), who, rule),
        SigningKey.owners(approvals)
            + " writes a line with the name of the key's owner in its place:",
        SigningKey.line("NAME" + site, key, Approval.NAMESPACE),
        "nothing was signed");
  }

  private void requireMaySign(Approval approval, SshPublicKey key, Instant now) {
    Optional<String> refusal =
        approvals.signers().refusal(approval.approver(), key, Approval.NAMESPACE, now);
    if (refusal.isPresent()) {
      throw refused(refusal.get(), approval, key);
    }
  }

  private NexaException refused(String why, Approval approval, SshPublicKey key) {
    AllowedSigners allowed = approvals.signers().allowed();
    String approver = approval.approver();
    List<String> holders = allowed.holders(key);
    List<Advice> advice = new ArrayList<>(List.of(Advice.step("nothing was written")));
    if (holders.isEmpty()) {
      advice.addAll(
          SigningKey.listing(
              approvals, approver, key, approval.scope().submitter(), Approval.NAMESPACE));
    } else if (approvals.signers().isRevoked(key)) {
      advice.add(Advice.step("sign with another key of " + approver + ": --key PATH"));
      advice.add(Advice.command("makes a new key", "ssh-keygen", "-t", "ed25519"));
      advice.add(
          Advice.step(
              SigningKey.owners(approvals) + " can add the new key's line to " + allowed.file()));
    } else {
      boolean hasName = holders.stream().anyMatch(AllowedSigners::isName);
      String names = String.join(", ", holders);
      // Does not advise to add a line that would give the key to another name.
      advice.add(
          Advice.step(
              hasName && !holders.contains(approver)
                  ? "this key belongs to " + names + ": type the command again without --as"
                  : !hasName
                      ? "give a name that the pattern matches, " + names + ": --as NAME"
                      : "%s, who owns %s, can correct it (`nexa-slurm explain docs/approvals.md`)"
                          .formatted(Workspace.ownerOf(Path.of(allowed.file())), allowed.file())));
    }
    return ErrorCode.APPROVAL_REFUSED.error("submit would refuse this approval: " + why, advice);
  }

  /**
   * Returns the folder for the approval. It is the first that the approver may write to: the
   * policy's folder, the workspace, the folder where the command is typed.
   *
   * @throws NexaException if the approver may write to none of them
   */
  private Path folder() {
    Path policys = approvals.directory().path();
    Path root = context.workspace().root();
    Path typed = Path.of("").toAbsolutePath();
    for (Path folder : List.of(policys, root, typed)) {
      if (mayWrite(folder)) {
        return folder;
      }
    }
    throw ErrorCode.APPROVALS_UNUSABLE.error(
        "the approval can't be written: you may write neither to " + policys + " nor to " + root,
        "type this in a folder of your own, such as your home folder",
        lets(policys));
  }

  /** Returns whether this user can write to the folder, or make it. */
  private static boolean mayWrite(Path folder) {
    Path there = DurableFiles.nearest(folder);
    return Files.isDirectory(there) && Files.isWritable(there);
  }

  /** Returns notes about an approval that submit will not find, and what each person types. */
  private static List<String> notWritable(Path policys, Path file) {
    String make = Files.exists(policys) ? "" : Advice.command("", "mkdir", "-p", policys) + " && ";
    return List.of(
        "you may not write to " + policys + ", where submit looks for approvals",
        "the approval goes to " + file + ", where submit does not look for it",
        "for submit to find it, %s types: %s%s"
            .formatted(
                owner(policys), make, Advice.command("", "install", "-m", "644", file, policys)),
        "or the submitter adds to the command: --approval " + Advice.command("", file),
        lets(policys));
  }

  private static String lets(Path policys) {
    return ("to let all approvers write there, %s types: install -d -m 2775 -g APPROVERS %s "
            + "(APPROVERS: a Unix group of the approvers)")
        .formatted(owner(policys), Advice.command("", policys));
  }

  private static String owner(Path folder) {
    return Workspace.ownerOf(DurableFiles.nearest(folder));
  }

  private Path keep(ApprovalFile file, Path folder) {
    if (folder.equals(approvals.directory().path())) {
      return approvals.directory().add(file);
    }
    Path kept = folder.resolve(file.approval().fileName());
    context.workspace().files().replace(kept, file.text());
    return kept;
  }
}
