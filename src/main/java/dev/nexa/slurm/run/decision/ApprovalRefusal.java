package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.job.config.shared.NoticeKind;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.render.Script;
import dev.nexa.slurm.records.approvals.Approvable;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.Proposal;
import dev.nexa.slurm.records.notices.Notice;
import dev.nexa.slurm.records.notices.Outbox;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Builds the error for a run that needs an approval and has none. */
record ApprovalRefusal(Context context, Policy policy, Asked whole) {
  private static final int MISMATCHES_SHOWN = 3;
  private static final int DIGITS_SHOWN = 8;

  /**
   * Writes the estimate to {@code estimates/} and returns the error, whose advice names the file
   * and the approvers.
   */
  NexaException of(Decision.Refused refused) {
    Optional<PolicyApprovals> approvals = refused.approvals();
    boolean over = !refused.overBudgets().isEmpty();
    ErrorCode code = over ? ErrorCode.OVER_BUDGET : ErrorCode.NEEDS_APPROVAL;
    Workspace workspace = context.workspace();
    Path file = workspace.estimate(asked().digest()).toAbsolutePath().normalize();
    workspace.files().directories(workspace.estimates());
    workspace.files().replace(file, Json.pretty(whole.document()));
    Optional<String> unrecorded =
        new Outbox(workspace).recordIfAsked(policy.channels(), notice(refused, over));
    String shortName = shortName(workspace.estimates());
    List<Advice> advice = new ArrayList<>();
    if (exceedsLimit()) {
      advice.add(Advice.step("the limit is approval_over in " + policy.name()));
    }
    addNearest(refused.mismatches(), advice);
    // Where somebody can approve it, their command names the estimate.
    boolean named = approvals.isPresent() && !others(approvals.get()).isEmpty();
    advice.add(
        Advice.step(
            named
                ? "nothing was submitted; the estimate is written"
                : "nothing was submitted; the estimate is in estimates/" + shortName + "….json"));
    whole.warnings().forEach(warning -> advice.add(Advice.note(warning)));
    unrecorded.ifPresent(why -> advice.add(Advice.note(why)));
    if (over) {
      advice.add(
          Advice.command(
              "shows each budget: spent, reserved, left", "nexa-slurm", "costs", "budget"));
      advice.add(
          Advice.command("releases what ended runs had reserved", "nexa-slurm", "reconcile"));
    }
    advice.add(
        Advice.step(
            (over ? "or " : "") + "ask for less: a shorter time, fewer tasks, fewer requeues"));
    if (approvals.isEmpty()) {
      advice.add(
          Advice.step(
              "or ask the policy's owner: it names nobody who may approve (`nexa-slurm explain docs/approvals.md`)"));
    } else {
      ask(approvals.get(), file.resolveSibling(shortName), over, advice);
      approvals.get().note().ifPresent(note -> advice.add(Advice.note(note)));
    }
    return code.error(why(refused), advice);
  }

  /**
   * Returns the notification; the same estimate gives the same notification, however often it is
   * tried.
   */
  private Notice notice(Decision.Refused refused, boolean over) {
    List<String> lines = new ArrayList<>(refused.overBudgets());
    lines.add("asked for by " + asked().submitter().user());
    lines.add("most it can cost: " + asked().total());
    lines.add("nexa-slurm approve " + asked().digest() + (over ? " --over-budget" : ""));
    Notice notice =
        Notice.of(
            over ? NoticeKind.OVER_BUDGET : NoticeKind.APPROVAL_NEEDED,
            asked().digest(),
            Optional.empty(),
            asked().config() + (over ? " does not fit into a budget" : " needs an approval"),
            lines);
    boolean both = over && exceedsLimit();
    return (both ? notice.with(Notice.ALSO, NoticeKind.APPROVAL_NEEDED.text()) : notice)
        .with("digest", asked().digest())
        .with("config", asked().config())
        .with("cost", asked().total().amount().toPlainString())
        .with("currency", asked().total().currency());
  }

  /** Adds why the approvals that are most like the run do not cover it. */
  private static void addNearest(List<Decision.Mismatch> mismatches, List<Advice> advice) {
    mismatches.stream()
        .sorted(Comparator.comparingInt(Decision.Mismatch::distance))
        .limit(MISMATCHES_SHOWN)
        .forEach(mismatch -> advice.add(Advice.step(mismatch.text())));
    if (mismatches.size() > MISMATCHES_SHOWN) {
      advice.add(
          Advice.command(
              "shows " + (mismatches.size() - MISMATCHES_SHOWN) + " more that do not cover it",
              "nexa-slurm",
              "approvals",
              "list"));
    }
  }

  /**
   * Returns the beginning of the estimate's name: so many digits that {@code approve} finds only
   * this estimate.
   */
  private String shortName(Path estimates) {
    String digest = asked().digest();
    int length = DIGITS_SHOWN;
    try (DirectoryStream<Path> files = Files.newDirectoryStream(estimates)) {
      for (Path file : files) {
        String name = file.getFileName().toString();
        while (length < digest.length()
            && !name.startsWith(digest)
            && name.startsWith(digest.substring(0, length))) {
          length++;
        }
      }
    } catch (IOException failed) {
      return digest;
    }
    return digest.substring(0, length);
  }

  /**
   * Adds what the user does next, with the folder where submit looks, then the approver's command.
   *
   * @param file the path of the estimate with the beginning of its name
   */
  private void ask(PolicyApprovals approvals, Path file, boolean over, List<Advice> advice) {
    List<String> broken = approvals.signers().problems();
    List<String> principals = others(approvals);
    if (!broken.isEmpty()) {
      advice.add(
          Advice.step("nobody can approve until this is fixed: " + String.join("; ", broken)));
      return;
    }
    if (principals.isEmpty()) {
      advice.add(
          Advice.step(
              ("nobody may approve it now: %s, who owns %s, can add a line with an approver's"
                      + " name and a key that is not revoked (`nexa-slurm explain docs/approvals.md`)")
                  .formatted(
                      Workspace.ownerOf(Path.of(approvals.signers().allowed().file())),
                      approvals.signers().allowed().file())));
      return;
    }
    List<String> command = new ArrayList<>(List.of("nexa-slurm", "approve", file.toString()));
    if (over) {
      command.add("--over-budget");
    }
    String approvers = either(principals);
    advice.add(Advice.step("or ask " + approvers + " to approve it, then type this again"));
    advice.add(Advice.step(approvers + " types: " + Script.shellLine(command)));
    advice.add(
        Advice.note(
            "submit looks for approvals in %s; elsewhere: --approval FILE"
                .formatted(approvals.directory().path())));
  }

  /**
   * Returns the possible approvers, without the submitter unless the policy allows self-approval.
   */
  private List<String> others(PolicyApprovals approvals) {
    boolean self = approvals.policy().selfApproval();
    return approvals.signers().principals(Approval.NAMESPACE, Instant.now(), self).stream()
        .filter(principal -> self || !asked().submitter().mayBe(principal))
        .toList();
  }

  private String why(Decision.Refused refused) {
    List<String> why = new ArrayList<>();
    if (exceedsLimit()) {
      why.add(
          "%s can cost %s; the limit without an approval is %s"
              .formatted(what(), asked().total(), policy.approvalOver()));
    }
    why.addAll(refused.overBudgets());
    return why.isEmpty() ? "the named approval does not cover " + what() : String.join("\n", why);
  }

  private Approvable asked() {
    return whole.proposal();
  }

  private boolean exceedsLimit() {
    Money total = asked().total();
    return total.currency().equals(policy.approvalOver().currency())
        && total.compareTo(policy.approvalOver()) > 0;
  }

  private String what() {
    return asked() instanceof Proposal ? "this run" : "this pipeline";
  }

  private static String either(List<String> names) {
    return names.size() == 1
        ? names.get(0)
        : String.join(", ", names.subList(0, names.size() - 1))
            + " or "
            + names.get(names.size() - 1);
  }
}
