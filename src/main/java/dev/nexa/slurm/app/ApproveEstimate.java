package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.ApprovalFile;
import dev.nexa.slurm.approve.ApprovedRun;
import dev.nexa.slurm.approve.Envelope;
import dev.nexa.slurm.approve.JsonDifference;
import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.config.ClusterProfile;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.config.PriceBook;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.estimate.PriceKey;
import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import dev.nexa.slurm.units.TimeLimit;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiConsumer;

/** {@code approve}: an estimate, or a family of runs, signed with the approver's SSH key. */
public final class ApproveEstimate {
  private final Nexa nexa;
  private final Policy policy;
  private final Optional<PolicyApprovals> approvals;
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
   */
  public record Terms(
      Optional<String> key,
      Optional<String> principal,
      String expires,
      int uses,
      Optional<BigDecimal> upTo,
      boolean overBudget,
      Optional<String> submitter,
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
    this.approvals =
        policy.approvals().isPresent()
            ? Optional.of(PolicyApprovals.of(nexa, policy))
            : Optional.empty();
    this.terms = terms;
  }

  /**
   * One run.
   *
   * @param typed an estimate's file, the beginning of its digest, or a run's config
   * @param show told what will be signed, before it is
   */
  public Signed run(String typed, BiConsumer<Approval, List<String>> show) {
    JsonObject estimate = new EstimateLookup(nexa).find(typed);
    Rates rates = requireAddsUp(typed, estimate);
    List<String> notes = new ArrayList<>();
    otherPrices(typed, estimate.object("limits"), rates, notes);
    Money reservation =
        new Money(new BigDecimal(estimate.object("reservation").text("total")), rates.currency());
    Money most = terms.upTo().map(amount -> money(amount, rates.currency())).orElse(reservation);
    if (most.compareTo(reservation) < 0) {
      throw new NexaException(
          ExitCode.USAGE, "--up-to " + most + " is less than the run can cost: " + reservation);
    }
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
    } catch (IllegalArgumentException broken) {
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
                        "--envelope needs --up-to: the most that one run may cost"));
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
  private static Rates requireAddsUp(String typed, JsonObject estimate) {
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
      return again.rates();
    } catch (IllegalArgumentException notWhole) {
      throw new NexaException(
          ExitCode.USAGE,
          typed + " is no estimate that can be approved: " + notWhole.getMessage(),
          notWhole,
          "`nexa-slurm submit CONFIG` writes one below estimates/ when it needs an approval");
    }
  }

  /** The approver's own price book says whether the submitter's is the same. */
  private void otherPrices(String typed, JsonObject limits, Rates rates, List<String> notes) {
    Rates ours;
    boolean dated;
    try {
      ClusterProfile cluster = nexa.configs().cluster(limits.text("cluster"));
      PriceBook book = nexa.configs().prices(rates.book());
      dated = !book.entries().isEmpty();
      ours = Rates.of(book, key(cluster, limits));
    } catch (NexaException missing) {
      notes.add("its prices are taken as told, because yours can't be: " + missing.getMessage());
      return;
    }
    List<String> lines = JsonDifference.lines(ours.toJson(), rates.toJson());
    if (lines.isEmpty()) {
      return;
    }
    String told = String.join("; ", lines).replace(" was approved, this is ", " here, there ");
    // Of prices with dates others may have held when it was made.
    if (ours.digest().equals(rates.digest()) && !dated) {
      throw new NexaException(
          ExitCode.USAGE,
          typed + ": its rates are not those of the price book that it names: " + told,
          "it was edited; ask for the estimate anew, or approve the config itself");
    }
    notes.add("its prices are of another version of '" + rates.book() + "' than yours: " + told);
  }

  private static PriceKey key(ClusterProfile cluster, JsonObject limits) {
    Optional<String> gpuType = limits.optionalText("gpu_type");
    return PriceKey.of(
        cluster,
        limits.optionalText("partition"),
        limits.optionalText("account"),
        LocalDate.now(ZoneOffset.UTC),
        limits.number("gpus") > 0 && gpuType.isPresent() ? List.of(gpuType.get()) : List.of());
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
      return text.indexOf('T') > 0 ? Instant.parse(text) : now.plus(TimeLimit.parse(text));
    } catch (DateTimeException | IllegalArgumentException wrong) {
      throw new NexaException(
          ExitCode.USAGE,
          "--expires: expected a time such as 7d, 12h or 2026-12-01T00:00:00Z, got '" + text + "'",
          wrong);
    }
  }

  /** What submit would refuse is not worth a signature. */
  private void requireUsable(Approval approval) {
    if (approvals.isEmpty()) {
      return;
    }
    Policy.Approvals rules = approvals.get().policy();
    if (approval.expires().isAfter(approval.created().plus(rules.longest()))) {
      throw new NexaException(
          ExitCode.USAGE,
          "--expires: the policy lets an approval last "
              + TimeLimit.words(rules.longest())
              + " at most ("
              + policy.name()
              + ")");
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
    if (approvals.isEmpty()) {
      return;
    }
    Optional<String> refusal = approvals.get().signers().refusal(file, now);
    if (refusal.isPresent()) {
      throw new NexaException(
          ExitCode.NEEDS_APPROVAL,
          "submit would refuse this approval: " + refusal.get(),
          "nothing was written; whoever keeps "
              + approvals.get().signers().allowed().file()
              + " can add the line: "
              + file.approval().approver()
              + " "
              + file.signature().key().line());
    }
  }

  /** In the policy's directory, or here where the approver may not write there. */
  private Path keep(ApprovalFile file) {
    if (approvals.isPresent()) {
      Path directory = approvals.get().directory().path();
      if (!Files.exists(directory) || Files.isWritable(directory)) {
        return approvals.get().directory().add(file);
      }
    }
    Path here = nexa.root().toAbsolutePath().normalize().resolve(file.approval().fileName());
    nexa.workspace().files().replace(here, file.text());
    return here;
  }
}
