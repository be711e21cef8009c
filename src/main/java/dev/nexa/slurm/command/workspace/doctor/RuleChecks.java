package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/** Checks of the policy, the approvers, the prices and the notifications. */
final class RuleChecks {
  private static final Duration SOON = Duration.ofDays(30);
  private static final int OLD_PRICES_DAYS = 180;

  private RuleChecks() {}

  static List<CheckFinding> policy(Context context) {
    Policy policy = context.configs().policy();
    String limit =
        "%s; runs over %s need an approval".formatted(policy.name(), policy.approvalOver());
    if (policy.approvals().isEmpty()) {
      return List.of(
          CheckFinding.advice(
              "policy",
              limit + ", and it names nobody who may approve",
              "runs over this limit",
              Advice.command(
                  "says how to name approvers", "nexa-slurm explain docs/approvals.md")));
    }
    return List.of(CheckFinding.ok("policy", limit));
  }

  static List<CheckFinding> approvers(Context context) {
    Policy policy = context.configs().policy();
    if (policy.approvals().isEmpty()) {
      return List.of(CheckFinding.ok("approvers", "the policy names none"));
    }
    PolicyApprovals approvals = PolicyApprovals.of(context, policy);
    AllowedSigners allowed = approvals.signers().allowed();
    List<CheckFinding> findings = new ArrayList<>();
    String affects = "approvals and releases";
    for (String problem : approvals.signers().problems()) {
      findings.add(
          CheckFinding.failed(
              "approvers",
              problem,
              affects + ": no signature counts until it is repaired",
              Access.edit(context.environment(), "correct or remove the line", allowed.file())));
    }
    Instant now = Instant.now();
    for (AllowedSigners.Entry entry : allowed.entries()) {
      Instant end = entry.validBefore().orElse(Instant.MAX);
      if (entry.isValidAt(now) && end.isBefore(now.plus(SOON))) {
        findings.add(
            CheckFinding.advice(
                "approvers",
                "%s:%s: the key of %s ends on %s"
                    .formatted(allowed.file(), entry.line(), entry.principals(), end),
                affects + " by this key from then on",
                Access.edit(context.environment(), "write a later valid-before", allowed.file())));
      }
    }
    List<String> may = approvals.signers().principals(Approval.NAMESPACE, now, true);
    findings.add(
        may.isEmpty()
            ? CheckFinding.failed(
                "approvers",
                "no key in " + allowed.file() + " may approve today",
                "runs over the limit cannot be submitted",
                Access.edit(context.environment(), "add a line with a key", allowed.file()))
            : CheckFinding.ok("approvers", "may approve: " + String.join(", ", may)));
    return findings;
  }

  static List<CheckFinding> prices(Context context) {
    ConfigReader configs = context.configs();
    ClusterProfile profile = configs.cluster(Prepared.clusterName(context));
    PriceBook book = configs.prices(profile);
    String file = book.file();
    boolean ours = context.source().isOwn(file) || Path.of(file).isAbsolute();
    List<CheckFinding> findings = new ArrayList<>();
    TreeSet<String> missing = new TreeSet<>(profile.gpuTypes());
    missing.removeIf(type -> book.gpuTypes().stream().anyMatch(type::equalsIgnoreCase));
    if (!missing.isEmpty()) {
      findings.add(
          CheckFinding.failed(
              "prices",
              file + " has no price of " + String.join(", ", missing),
              "submit and estimate of runs on these GPUs",
              edit(
                  context,
                  ours,
                  file,
                  "write " + missing.first() + ": {price: P, source: S}, below gpu_hour")));
    }
    String currency = configs.policy().approvalOver().currency();
    if (!currency.equals(book.currency())) {
      findings.add(
          CheckFinding.failed(
              "prices",
              "%s is in %s, and %s in %s"
                  .formatted(file, book.currency(), configs.policy().name(), currency),
              "each submit",
              edit(context, ours, file, "write both in one currency")));
    }
    long examples =
        book.prices().all().stream()
            .filter(price -> price.source().contains("placeholder"))
            .count();
    LocalDate today = LocalDate.now(Clock.systemUTC());
    boolean old = book.asOf().plusDays(OLD_PRICES_DAYS).isBefore(today);
    if (examples > 0 || old) {
      findings.add(
          CheckFinding.advice(
              "prices",
              examples > 0
                  ? "%s of %s have a placeholder as their source"
                      .formatted(Plural.of(examples, "price"), file)
                  : "%s is as of %s".formatted(file, book.asOf()),
              "estimates and costs of new runs",
              edit(context, ours, file, "write your cluster's prices, and as_of")));
    }
    return findings.isEmpty()
        ? List.of(CheckFinding.ok("prices", file + ", as of " + book.asOf()))
        : findings;
  }

  /** An editor would make an empty file where only the jar has the book. */
  private static Advice edit(Context context, boolean ours, String file, String what) {
    return ours
        ? Access.edit(context.environment(), what, file)
        : Advice.command("writes a price book to change", "nexa-slurm init");
  }

  static List<CheckFinding> notifications(Context context) {
    Outbox outbox = new Outbox(context.workspace());
    if (context.missing().isPresent() || !outbox.exists()) {
      return List.of(CheckFinding.ok("notifications", "none was sent yet"));
    }
    int failed = outbox.countFailed();
    return List.of(
        failed == 0
            ? CheckFinding.ok("notifications", outbox.countWaiting() + " wait, none failed")
            : CheckFinding.advice(
                "notifications",
                failed + " failed",
                "who hears of ended runs",
                Advice.command("shows which and why", "nexa-slurm notify list"),
                Advice.command("tries the channels", "nexa-slurm notify test"),
                Advice.command("sends one again", "nexa-slurm notify resend ID")));
  }
}
