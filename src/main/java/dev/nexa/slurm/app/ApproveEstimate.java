package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.AllowedSigners;
import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.ApprovalFile;
import dev.nexa.slurm.approve.ApprovedRun;
import dev.nexa.slurm.approve.Envelope;
import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import dev.nexa.slurm.units.TimeLimit;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** {@code approve}: an estimate, or a family of runs, signed with the approver's SSH key. */
public final class ApproveEstimate {
  private final Nexa nexa;
  private final Policy policy;
  private final PolicyApprovals approvals;
  private final Terms terms;

  /**
   * On which terms.
   *
   * @param key the private key's file; empty for the first of ssh's own
   * @param principal who signs; empty for whom allowed_signers names for the key
   * @param expires after so long ({@code 7d}), or at a time (RFC 3339)
   * @param uses how many runs
   * @param upTo the most that a run may cost; empty for what it can cost
   * @param submitter who may submit; {@code any} for anybody, empty for who made the estimate
   * @param trustPrices whether prices that the approver's own book does not have may be signed
   */
  public record Terms(
      Optional<String> key,
      Optional<String> principal,
      String expires,
      int uses,
      Optional<BigDecimal> upTo,
      boolean overBudget,
      Optional<String> submitter,
      boolean trustPrices,
      Optional<String> note) {}

  /**
   * What was signed.
   *
   * @param notes what the approver should know
   */
  public record Signed(ApprovalFile file, Path path, List<String> notes) {}

  public ApproveEstimate(Nexa nexa, Terms terms) {
    this.nexa = nexa;
    this.policy = nexa.configs().policy();
    this.approvals = PolicyApprovals.of(nexa, policy);
    this.terms = terms;
  }

  /**
   * One run.
   *
   * @param typed an estimate's file, the beginning of its digest, or a run's config
   * @param show told what will be signed, before it is
   */
  public Signed run(String typed, BiConsumer<Approval, List<String>> show) {
    EstimateLookup lookup = new EstimateLookup(nexa);
    if (lookup.isConfig(typed) && terms.submitter().isEmpty()) {
      throw new NexaException(
          ExitCode.USAGE,
          "who submits it? " + typed + " is a config, which does not say it as an estimate does",
          "add --for USER, or --for any");
    }
    JsonObject estimate = lookup.find(typed);
    Estimate priced = requireAddsUp(typed, estimate);
    Rates rates = priced.rates();
    List<String> notes =
        new ArrayList<>(
            new OwnPrices(nexa, typed, priced, estimate.object("limits"))
                .notes(terms.trustPrices()));
    Money reservation =
        new Money(new BigDecimal(estimate.object("reservation").text("total")), rates.currency());
    Money most = terms.upTo().map(amount -> money(amount, rates.currency())).orElse(reservation);
    if (most.compareTo(reservation) < 0) {
      throw new NexaException(
          ExitCode.USAGE,
          "--up-to " + most + " is less than the run can cost: " + reservation,
          "leave out --up-to, or: --up-to " + reservation.amount().toPlainString());
    }
    unknown(terms.submitter()).ifPresent(notes::add);
    return sign(most, asked(typed, estimate, rates, reservation), notes, show);
  }

  private ApprovedRun asked(String typed, JsonObject estimate, Rates rates, Money reservation) {
    try {
      return new ApprovedRun(
          estimate.text("config"),
          estimate.text("config_digest"),
          estimate.object("what_runs"),
          estimate.object("limits"),
          submitter(estimate),
          rates.toJson(),
          reservation);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw new NexaException(
          ExitCode.USAGE, typed + " is no estimate: " + broken.getMessage(), broken);
    }
  }

  /** A family of runs; its terms say what one may cost. */
  public Signed envelope(Envelope envelope, BiConsumer<Approval, List<String>> show) {
    BigDecimal upTo =
        terms
            .upTo()
            .orElseThrow(
                () ->
                    new NexaException(
                        ExitCode.USAGE,
                        "--envelope needs --up-to: the most that one run may cost",
                        "add --up-to AMOUNT, such as --up-to 200"));
    return sign(money(upTo, policy.approvalOver().currency()), envelope, new ArrayList<>(), show);
  }

  /** An amount in the currency that the policy counts in. */
  public Money inPolicysCurrency(BigDecimal amount) {
    return money(amount, policy.approvalOver().currency());
  }

  private static Money money(BigDecimal amount, String currency) {
    return new Money(amount, currency).rounded();
  }

  /** An estimate whose sum is not what its own rates and limits come to was edited. */
  private static Estimate requireAddsUp(String typed, JsonObject estimate) {
    try {
      Estimate again = Estimate.ofLimits(estimate);
      String total = estimate.object("reservation").text("total");
      if (again.total().amount().compareTo(new BigDecimal(total)) != 0) {
        throw new NexaException(
            ExitCode.USAGE,
            typed
                + ": its reservation is "
                + total
                + ", but its rates and limits come to "
                + again.total()
                + ": it was edited",
            "ask for the estimate anew, or approve the config itself");
      }
      return again;
    } catch (IllegalArgumentException | ArithmeticException notWhole) {
      throw new NexaException(
          ExitCode.USAGE,
          typed + " is no estimate that can be approved: " + notWhole.getMessage(),
          notWhole,
          "`nexa-slurm submit CONFIG` writes one below estimates/ when it needs an approval");
    }
  }

  private Optional<Person> submitter(JsonObject estimate) {
    if (terms.submitter().isEmpty()) {
      return Optional.of(
          new Person(
              estimate.object("submitter").text("user"),
              estimate.object("submitter").optionalDecimal("uid").map(BigDecimal::longValueExact)));
    }
    String named = terms.submitter().get();
    return named.equals("any")
        ? Optional.empty()
        : Optional.of(new Person(named, Optional.empty()));
  }

  /** An approval for a user that is mistyped is for nobody; other machines may have others. */
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

  private Signed sign(
      Money most,
      Approval.Scope scope,
      List<String> notes,
      BiConsumer<Approval, List<String>> show) {
    Instant now = Instant.ofEpochSecond(Instant.now().getEpochSecond());
    SigningKey key = SigningKey.of(nexa.environment(), terms.key());
    String principal = terms.principal().orElseGet(() -> key.principal(approvals));
    Approval approval;
    try {
      approval =
          new Approval(
              Approval.newId(),
              principal,
              now,
              expires(now),
              terms.uses(),
              most,
              terms.overBudget(),
              terms.note(),
              scope);
    } catch (IllegalArgumentException wrong) {
      throw new NexaException(ExitCode.USAGE, String.valueOf(wrong.getMessage()), wrong);
    }
    requireUsable(approval);
    show.accept(approval, notes);
    ApprovalFile file = key.sign(approval);
    requireCounts(file, now);
    return new Signed(file, keep(file), notes);
  }

  private Instant expires(Instant now) {
    String text = terms.expires();
    try {
      Instant expires =
          text.indexOf('T') > 0 ? Instant.parse(text) : now.plus(TimeLimit.parse(text));
      if (!expires.isAfter(now)) {
        throw new NexaException(
            ExitCode.USAGE,
            "--expires: expected a time to come, got " + text + "; now it is " + now,
            "--expires 7d");
      }
      return expires;
    } catch (DateTimeException | IllegalArgumentException wrong) {
      throw new NexaException(
          ExitCode.USAGE,
          "--expires: expected a time such as 7d, 12h or 2026-12-01T00:00:00Z, got '" + text + "'",
          wrong,
          "--expires 7d");
    }
  }

  /** What submit would refuse is not worth a signature. */
  private void requireUsable(Approval approval) {
    Policy.Approvals rules = approvals.policy();
    if (approval.expires().isAfter(approval.created().plus(rules.longest()))) {
      throw new NexaException(
          ExitCode.USAGE,
          "--expires: the policy lets an approval last "
              + TimeLimit.words(rules.longest())
              + " at most ("
              + policy.name()
              + ")",
          "--expires " + rules.longest().toHours() + "h");
    }
    boolean own =
        approval.scope() instanceof ApprovedRun run
            && run.submitter().isPresent()
            && run.submitter().get().mayBe(approval.approver());
    if (own && !rules.selfApproval()) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          approval.approver() + " would submit this run: nobody approves their own",
          "somebody else of allowed_signers can; or --for USER, if another submits it");
    }
  }

  private void requireCounts(ApprovalFile file, Instant now) {
    Optional<String> refusal = approvals.signers().refusal(file, now);
    if (refusal.isEmpty()) {
      return;
    }
    AllowedSigners allowed = approvals.signers().allowed();
    List<String> holders = allowed.holders(file.signature().key());
    List<String> advice = new ArrayList<>(List.of("nothing was written"));
    if (holders.isEmpty()) {
      advice.add(
          "whoever keeps "
              + allowed.file()
              + " can add the line: "
              + file.approval().approver()
              + " "
              + file.signature().key().line());
    } else if (terms.principal().isPresent() && !holders.contains(terms.principal().get())) {
      // Never the line that gives somebody's key another's name.
      advice.add("this key is " + String.join(", ", holders) + "'s: leave out --as");
    }
    throw new NexaException(
        ExitCode.NEEDS_APPROVAL, "submit would refuse this approval: " + refusal.get(), advice);
  }

  /** In the policy's directory, or here where the approver may not write there. */
  private Path keep(ApprovalFile file) {
    Path directory = approvals.directory().path();
    if (!Files.exists(directory) || Files.isWritable(directory)) {
      return approvals.directory().add(file);
    }
    Path here = nexa.root().toAbsolutePath().normalize().resolve(file.approval().fileName());
    nexa.workspace().files().replace(here, file.text());
    return here;
  }
}
