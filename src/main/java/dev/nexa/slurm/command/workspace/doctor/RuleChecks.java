package dev.nexa.slurm.command.workspace.doctor;

import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.advice;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.failed;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.ok;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.orOk;
import static dev.nexa.slurm.command.workspace.doctor.CheckFinding.unknown;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.workspace.ShareWorkspace;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.BudgetUsage;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import dev.nexa.slurm.run.notify.SendNotices;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Checks of the policy, the approvers, the prices and the notifications. */
final class RuleChecks {
  private static final Duration SOON = Duration.ofDays(30);
  private static final int OLD_PRICES_DAYS = 180;
  private static final int READ_BY_OTHERS = 077;
  private static final String KNOWN = "then replace the address: others may know it";
  private static final String EXAMPLE = "%s: {price: 2.50, source: contract}";

  private RuleChecks() {}

  static List<CheckFinding> policy(Context context) {
    Policy policy = context.configs().policy();
    String limit =
        "%s; runs over %s need an approval".formatted(policy.name(), policy.approvalOver());
    String none = limit + ", and it names nobody who may approve";
    Advice how = Access.type("nexa-slurm explain docs/approvals.md", "says how to name approvers");
    List<String> uncounted = new ArrayList<>();
    if (!context.workspace().unsharedMembers().isEmpty()) {
      return List.of(unknown("it could not look: see team"));
    }
    if (context.missing().isEmpty()) {
      new BudgetUsage(context).on(LocalDate.now(Clock.systemUTC()), uncounted);
    }
    if (!uncounted.isEmpty()) {
      String says = "the budgets cannot count each run: " + Plural.some(uncounted, 3);
      Advice audit = Access.type("nexa-slurm audit --repair", "writes the broken lines again");
      Advice rest = Advice.step("a line that stays names no run: take it out of the file");
      return List.of(failed(says, "submit of runs that a budget applies to", audit, rest));
    }
    Path own = context.workspace().root().resolve("configs/policy.yaml");
    List<CheckFinding> findings = Access.misnamed(own, "policy", "each rule in it");
    findings.add(
        policy.approvals().isPresent() ? ok(limit) : advice(none, "runs over this limit", how));
    return findings;
  }

  static List<CheckFinding> approvers(Context context) {
    Policy policy = context.configs().policy();
    if (policy.approvals().isEmpty()) {
      return List.of(ok("the policy names none"));
    }
    PolicyApprovals approvals = PolicyApprovals.of(context, policy);
    Signers signers = approvals.signers();
    AllowedSigners allowed = signers.allowed();
    Path file = Path.of(allowed.file());
    List<CheckFinding> findings = new ArrayList<>();
    String affects = "approvals and releases";
    for (String problem : signers.problems()) {
      Advice correct =
          Access.changeAt(problem, "correct or remove")
              .orElse(Access.change(file, "correct what the message names"));
      findings.add(failed(problem, affects + ": no signature counts", correct));
    }
    if (!findings.isEmpty()) {
      return findings;
    }
    Instant now = Instant.now();
    for (AllowedSigners.Entry entry : allowed.entries()) {
      Instant end = entry.validBefore().orElse(Instant.MAX);
      if (entry.isValidAt(now) && end.isBefore(now.plus(SOON))) {
        String says = "%s:%s: the key of %s ends on %s";
        Advice later = Access.change(file, entry.line(), "write a later valid-before");
        findings.add(
            advice(says.formatted(file, entry.line(), entry.principals(), end), affects, later));
      }
    }
    uses(context, policy, approvals).ifPresent(findings::add);
    List<String> may = signers.principals(Approval.NAMESPACE, now, true);
    String over = "your runs over the limit cannot be submitted";
    Advice add =
        Access.change(file, "add the line of a person who may approve: ada@site ssh-ed25519 AAAA…");
    if (may.isEmpty()) {
      List<String> why = new ArrayList<>(allowed.ignored());
      allowed.entries().forEach(entry -> why.add(whyNot(signers, entry, now)));
      String says = "no key in " + file + " may approve today; " + String.join("; ", why);
      Advice correct = Access.change(file, "correct the line, or replace its key");
      findings.add(failed(why.isEmpty() ? "no key is in " + file : says, over, correct, add));
    } else if (signers.usable(Approval.NAMESPACE, now).stream()
        .allMatch(entry -> signers.nameOf(entry.key(), Optional.of(UnixUser.me())).isPresent())) {
      String mine = " may be you, and submitters cannot approve their own runs";
      findings.add(failed("who may approve, " + String.join(", ", may) + "," + mine, over, add));
    } else {
      findings.add(ok("may approve: " + String.join(", ", may)));
    }
    return findings;
  }

  private static String whyNot(Signers signers, AllowedSigners.Entry entry, Instant now) {
    String file = signers.allowed().file();
    String principal = entry.principals().split(",", -1)[0];
    return signers.isRevoked(entry.key())
        ? file + ":" + entry.line() + ": the key is revoked"
        : signers.allowed().refusal(principal, entry.key(), Approval.NAMESPACE, now).orElse("");
  }

  /** Returns the finding that a submit could not count the use of an approval. */
  private static Optional<CheckFinding> uses(
      Context context, Policy policy, PolicyApprovals approvals) {
    Path used = approvals.directory().path().resolve("used");
    Path there = DurableFiles.nearest(used);
    Workspace workspace = context.workspace();
    boolean team = used.startsWith(workspace.root()) && ShareWorkspace.isTeams(workspace);
    Path above = used.resolveSibling("");
    boolean ofTeam = Access.group(above).equals(Access.group(workspace.runs()));
    int enters = ofTeam ? 050 : 05;
    boolean closed = team && Files.exists(above) && (ShareWorkspace.mode(above) & enters) != enters;
    boolean may = Files.isDirectory(there) && Files.isWritable(there);
    // A member who can remove another's use can use an approval again.
    int mode = ShareWorkspace.mode(used);
    boolean loose = team && (mode & 022) != 0 && (mode & Access.STICKY) == 0;
    may &= !team || (there.equals(used) && !closed && !loose);
    if (may || (team && !Access.isMember(workspace.runs()))) {
      return Optional.empty();
    }
    String affects = "submits with an approval";
    if (!team && !policy.name().equals(ConfigReader.ADMIN_POLICY.toString())) {
      return Optional.of(Access.notWritable(context, there, affects));
    }
    String who = team ? Workspace.ownerOf(workspace.root()) : "root";
    String group = team ? " -g " + Access.group(workspace.runs()) : "";
    String modes = team ? "3770" : "1777";
    List<Advice> make = new ArrayList<>();
    if (closed) {
      make.add(Access.type(ofTeam ? "chmod g+rx" : "chmod o+rx", who + " types it", above));
    }
    make.add(Access.type("install -d -m " + modes + group, who + " types it", used));
    String others = "members can remove others' uses of approvals in ";
    String says = (loose ? others : "submits cannot count uses of approvals in ") + used;
    return Optional.of(failed(says, affects).with(make));
  }

  static List<CheckFinding> prices(Context context) {
    ConfigReader configs = context.configs();
    ClusterProfile profile = configs.cluster(Prepared.clusterName(context));
    PriceBook book = configs.prices(profile);
    String file = book.file();
    List<CheckFinding> findings =
        Access.misnamed(context.workspace().root().resolve(file), "*", "estimates and costs");
    if (!findings.isEmpty()) {
      return findings; // these are the jar's prices
    }
    LocalDate today = LocalDate.now(Clock.systemUTC());
    book.entries().stream()
        .findFirst() // it has the book's own dates, which bound those of all prices
        .filter(own -> !own.validOn(today))
        .map(own -> own.validUntil().filter(today::isAfter).isPresent())
        .map(over -> outOfDate(context, file, over ? "valid_until" : "valid_from"))
        .ifPresent(findings::add);
    TreeSet<String> missing = new TreeSet<>(profile.gpuTypes());
    missing.removeIf(type -> book.gpuTypes().stream().anyMatch(type::equalsIgnoreCase));
    if (!missing.isEmpty()) {
      String says = file + " has no price of " + String.join(", ", missing);
      String lines = String.join(" and ", missing.stream().map(EXAMPLE::formatted).toList());
      Advice write =
          edit(context, file, "gpu_hour", "write below gpu_hour, with your price, " + lines);
      findings.add(failed(says, "submit and estimate of runs on these GPUs", write));
    }
    String currency = configs.policy().approvalOver().currency();
    if (!currency.equals(book.currency())) {
      String says = "%s is in %s, and %s in %s";
      says = says.formatted(file, book.currency(), configs.policy().name(), currency);
      findings.add(
          failed(
              says,
              "each submit",
              edit(context, file, "currency", "write the prices in " + currency)));
    }
    long examples =
        book.prices().all().stream()
            .filter(one -> one.source().contains("placeholder") || one.price().signum() == 0)
            .count();
    LocalDate asOf = book.asOf();
    if (examples > 0
        || asOf.plusDays(OLD_PRICES_DAYS).isBefore(today)
        || asOf.isAfter(today.plusDays(1))) {
      String many = "%s of %s are 0, or have a placeholder as their source";
      String when = asOf.isAfter(today) ? "%s is as of %s, in the future" : "%s is as of %s";
      String dated = when.formatted(file, asOf);
      String says = examples > 0 ? many.formatted(Plural.of(examples, "price"), file) : dated;
      Advice write = edit(context, file, "as_of", "write your cluster's prices, and as_of");
      findings.add(advice(says, "estimates and costs of new runs", write));
    }
    return orOk(findings, file + ", as of " + book.asOf());
  }

  private static CheckFinding outOfDate(Context context, String file, String key) {
    String says = "%s on top of %s bounds all its prices, and leaves out today";
    Advice correct = edit(context, file, key, "correct " + key);
    return failed(says.formatted(key, file), "each submit", correct);
  }

  /** Where only the jar has the book, there is no file to change yet. */
  private static Advice edit(Context context, String file, String key, String what) {
    Path own = context.workspace().root().resolve(file);
    return context.source().isOwn(file) || Path.of(file).isAbsolute()
        ? Access.change(own, YamlLines.of(own).of(key), what)
        : Access.type("nexa-slurm init", "writes a price book; then " + what);
  }

  static List<CheckFinding> notifications(Context context) {
    List<CheckFinding> findings = new ArrayList<>();
    String affects = "who hears of ended runs";
    Policy policy = context.configs().policy();
    Path file = context.workspace().root().resolve(policy.name());
    YamlLines lines = YamlLines.of(file);
    for (NotifyChannel channel : policy.channels()) {
      List<Advice> repair = new ArrayList<>(repair(channel, file, lines));
      repair.add(Access.type("nexa-slurm notify test " + channel.name(), "tries it"));
      SendNotices.fault(channel, context.environment())
          .map(why -> failed(channel.name() + ": " + why, affects).with(repair))
          .ifPresent(findings::add);
    }
    Outbox outbox = new Outbox(context.workspace());
    if (context.missing().isPresent() || !outbox.exists()) {
      return orOk(findings, "none was sent yet");
    }
    for (Path damaged : outbox.damaged()) {
      String says = damaged + " is no notification";
      findings.add(advice(says, affects, Access.moveAway(damaged)));
    }
    Optional<String> retried =
        outbox.all(new ArrayList<>()).stream()
            .flatMap(notice -> notice.deliveries().stream())
            .filter(one -> !one.isFinal() && one.error().isPresent())
            .map(one -> "; " + one.channel() + ": " + one.error().get())
            .findFirst();
    int failed = outbox.countFailed();
    String says = outbox.countWaiting() + " wait, " + (failed == 0 ? "none" : failed) + " failed";
    if (failed > 0 || retried.isPresent()) {
      Advice list = Access.type("nexa-slurm notify list", "shows which and why");
      Advice test = Access.type("nexa-slurm notify test", "tries the channels");
      findings.add(advice(says + retried.orElse(""), affects, list, test));
    }
    return orOk(findings, says);
  }

  /** Returns what repairs a channel: its file with the address, its program, or the policy. */
  private static List<Advice> repair(NotifyChannel channel, Path policy, YamlLines lines) {
    Path address = Path.of(channel.urlFile().orElse("/proc/self/none"));
    Path program = Path.of(channel.command().stream().findFirst().orElse("/"));
    Advice write = Access.change(address, "write the address of the channel " + channel.name());
    if (channel.urlFile().isPresent() && Files.notExists(address)) {
      return List.of(Access.type("install -D -m 600 /dev/null", "", address), write);
    }
    if ((ShareWorkspace.mode(address) & READ_BY_OTHERS) != 0) {
      return List.of(Access.type("chmod 600", KNOWN, address));
    }
    if (Files.isRegularFile(program) && !Files.isExecutable(program)) {
      return List.of(Access.type("chmod +x", "", program));
    }
    String key = "notify." + channel.name();
    boolean holds = Files.isRegularFile(address);
    return List.of(holds ? write : Access.change(policy, lines.of(key), "correct " + key));
  }
}
