package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Money;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Compares a run with an approval and names every difference. Pure. */
public final class ApprovalMatcher {
  /** Tolerance for clocks of different hosts, which usually differ by much less. */
  private static final Duration SKEW = Duration.ofMinutes(5);

  private ApprovalMatcher() {}

  /**
   * Returns why the approval does not allow the run, one sentence a difference; empty if it allows
   * the run. Signature, revocation and uses are not checked here.
   *
   * @param asked the run or pipeline, with estimates at the rates at which it would be charged
   * @param longest the policy's limit for how long an approval may last
   */
  public static List<String> differences(
      Approval approval, Approvable asked, Instant now, Duration longest) {
    List<String> differences = times(approval, now, longest);
    differences.addAll(
        asked instanceof Proposal run
            ? run(approval.scope(), run)
            : pipeline(approval.scope(), (PipelineProposal) asked));
    Money total = asked.total();
    if (!total.currency().equals(approval.maxCost().currency())) {
      differences.add(
          "the currency: " + approval.maxCost().currency() + " was approved, this is " + total);
    } else if (total.compareTo(approval.maxCost()) > 0) {
      differences.add(
          "the reservation: at most " + approval.maxCost() + " was approved, this is " + total);
    }
    return differences;
  }

  /**
   * Returns why the approval is not in force at this time; empty if it is. It must have begun, not
   * have expired, and not last longer than the policy allows.
   */
  public static List<String> times(Approval approval, Instant now, Duration longest) {
    List<String> wrong = new ArrayList<>();
    if (approval.created().isAfter(now.plus(SKEW))) {
      wrong.add(
          "it is not valid yet: your clock says %s, the approval was made at %s"
              .formatted(seconds(now), approval.created()));
    }
    if (!now.isBefore(approval.expires())) {
      wrong.add("it expired at " + approval.expires() + "; now it is " + seconds(now));
    }
    Duration lasts = Duration.between(approval.created(), approval.expires());
    if (lasts.compareTo(longest) > 0) {
      wrong.add(
          "it lasts %s hours; the policy lets an approval last %s"
              .formatted(lasts.toHours(), longest.toHours()));
    }
    return wrong;
  }

  private static Instant seconds(Instant time) {
    return Instant.ofEpochSecond(time.getEpochSecond());
  }

  private static List<String> run(Approval.Scope scope, Proposal proposal) {
    if (scope instanceof ApprovedRun run) {
      return run(run, proposal);
    }
    if (scope instanceof ApprovalEnvelope envelope) {
      return envelope(envelope, proposal);
    }
    // A stage that is run again has the approval of its pipeline.
    ApprovedPipeline pipeline = (ApprovedPipeline) scope;
    Optional<ApprovedRun> stage = pipeline.ofPlan(proposal.digest());
    return stage.isPresent()
        ? run(stage.get(), proposal)
        : List.of("the run: it is no stage of " + pipeline.config() + ", which was approved");
  }

  private static List<String> pipeline(Approval.Scope scope, PipelineProposal asked) {
    if (!(scope instanceof ApprovedPipeline approved)) {
      return List.of("the pipeline: the approval is for single runs");
    }
    List<String> differences = new ArrayList<>();
    Map<String, ApprovedRun> left = new LinkedHashMap<>();
    approved.stages().forEach(stage -> left.put(stage.name(), stage.run()));
    for (PipelineProposal.Stage stage : asked.stages()) {
      ApprovedRun run = left.remove(stage.name());
      if (run == null) {
        differences.add("the stage " + stage.name() + " was not approved");
      } else {
        run(run, stage.proposal())
            .forEach(line -> differences.add("the stage " + stage.name() + ": " + line));
      }
    }
    left.keySet()
        .forEach(name -> differences.add("the stage " + name + ": approved, and missing now"));
    if (differences.isEmpty() && !approved.digest().equals(asked.digest())) {
      differences.add("the order of the stages is not what was approved");
    }
    return differences;
  }

  private static List<String> run(ApprovedRun run, Proposal proposal) {
    List<String> differences =
        new ArrayList<>(ApprovedLimits.differences(run.limits(), proposal.limits()));
    JsonObject approved = run.whatRuns();
    JsonObject now = proposal.whatRuns();
    Optional<String> code = approved.optionalText("code_sha256");
    Optional<String> codeNow = now.optionalText("code_sha256");
    if (!code.equals(codeNow)) {
      // The script holds the code's digest, so it differs too; that says nothing more.
      differences.add(
          "the code: it changed; %s was approved, this is %s"
              .formatted(
                  code.map(digest -> "SHA-256 " + digest).orElse("no code"),
                  codeNow.orElse("none")));
    } else if (!approved
        .optionalText("program_sha256")
        .equals(now.optionalText("program_sha256"))) {
      differences.add("nexa-slurm's own program, which the job runs: another version was approved");
    } else if (differs(approved, now, "script_sha256")) {
      differences.add("the script: not the bytes that were approved");
    }
    if (differs(approved, now, "files_sha256")) {
      files(approved.object("files"), now.object("files"), differences);
    }
    ApprovedValues.differences(run.rates(), proposal.estimate().rates().toJson())
        .forEach(line -> differences.add("the rates: " + line));
    if (run.submitter().isPresent() && !run.submitter().get().is(proposal.submitter())) {
      differences.add(
          "the submitter: %s was approved, this is %s"
              .formatted(run.submitter().get(), proposal.submitter()));
    }
    boolean otherPlan =
        !run.configDigest().equals(proposal.estimate().configDigest())
            || differs(approved, now, "plan_sha256")
            || differs(approved, now, "options_sha256");
    if (otherPlan && differences.isEmpty()) {
      differences.add(
          "the plan: its title, a tag, a storage tier or another key of the config is not what was"
              + " approved");
    }
    return differences;
  }

  private static boolean differs(JsonObject approved, JsonObject now, String name) {
    return !approved.text(name).equals(now.text(name));
  }

  private static void files(JsonObject approved, JsonObject now, List<String> differences) {
    TreeSet<String> names = new TreeSet<>(approved.members().keySet());
    names.addAll(now.members().keySet());
    int before = differences.size();
    for (String name : names) {
      if (!now.members().containsKey(name)) {
        differences.add("runner file " + name + ": approved, and missing now");
      } else if (!approved.members().containsKey(name)) {
        differences.add("runner file " + name + ": was not approved");
      } else if (differs(approved, now, name)) {
        differences.add("runner file " + name + ": not the bytes that were approved");
      }
    }
    if (differences.size() == before) {
      differences.add("a runner file: not the bytes that were approved");
    }
  }

  private static List<String> envelope(ApprovalEnvelope envelope, Proposal proposal) {
    List<String> differences = new ArrayList<>();
    if (!matchesAny(envelope.configs(), proposal.config())) {
      differences.add(
          "the config: %s was approved, this is %s"
              .formatted(String.join(", ", envelope.configs()), proposal.config()));
    }
    within("the stage", envelope.stages(), List.of(proposal.stage()), differences);
    within("the cluster", envelope.clusters(), text(proposal, "cluster"), differences);
    within("the account", envelope.accounts(), text(proposal, "account"), differences);
    within("the user", envelope.users(), List.of(proposal.submitter().user()), differences);
    List<String> projects =
        proposal.tags().stream()
            .filter(tag -> tag.startsWith("project:"))
            .map(tag -> tag.substring("project:".length()))
            .toList();
    within("the project", envelope.projects(), projects, differences);
    return differences;
  }

  private static List<String> text(Proposal proposal, String limit) {
    return proposal.limits().optionalText(limit).map(List::of).orElse(List.of());
  }

  private static boolean matchesAny(List<String> globs, String config) {
    return globs.isEmpty()
        || globs.stream()
            .map(ApprovalEnvelope::matcher)
            .anyMatch(glob -> glob.matches(Path.of(config)));
  }

  private static void within(
      String what, List<String> allowed, List<String> is, List<String> differences) {
    if (!allowed.isEmpty() && (is.isEmpty() || !allowed.containsAll(is))) {
      differences.add(
          "%s: %s was approved, this is %s"
              .formatted(
                  what, String.join(", ", allowed), is.isEmpty() ? "none" : String.join(", ", is)));
    }
  }
}
