package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import dev.nexa.slurm.job.plan.AttemptSize;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalEnvelope;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovalUse;
import dev.nexa.slurm.records.approvals.ApprovalUseLog;
import dev.nexa.slurm.records.approvals.ApprovedPipeline;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Formats an approval for a user, before and after it is signed. */
public final class ApprovalText {
  private static final Pattern NOT_DRAWN = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}\\p{Cs}]");
  private static final Columns<ShowApprovals.Row> COLUMNS =
      new Columns<ShowApprovals.Row>()
          .text("id", row -> approval(row).map(Approval::id))
          .text("state", row -> row.state().text())
          .text(
              "uses",
              row -> approval(row).map(it -> ApprovalUseLog.taken(row.uses()) + "/" + it.uses()))
          .money("up_to", row -> approval(row).map(Approval::maxCost))
          .text("expires", row -> approval(row).map(it -> PlainTime.utc(it.expires())))
          .text("by", row -> approval(row).map(Approval::approver))
          .text("user", row -> approval(row).map(ApprovalText::users))
          .text(
              "for",
              row -> approval(row).map(ApprovalText::scope).orElseGet(() -> row.reasons().get(0)));

  private ApprovalText() {}

  /** Returns a table of approvals. */
  static String table(List<ShowApprovals.Row> rows, TableStyle style) {
    return COLUMNS.of(rows).table(style);
  }

  private static Optional<Approval> approval(ShowApprovals.Row row) {
    return row.file().map(ApprovalFile::approval);
  }

  private static String scope(Approval approval) {
    return approval.scope() instanceof ApprovedRun run
        ? run.config()
        : approval.scope() instanceof ApprovedPipeline pipeline
            ? "pipeline " + pipeline.config()
            : "envelope " + ((ApprovalEnvelope) approval.scope()).name();
  }

  /** Returns the content of an approval, in a few lines. */
  public static String of(Approval approval) {
    StringBuilder text = new StringBuilder();
    if (approval.scope() instanceof ApprovedRun run) {
      text.append("one run of " + plain(run.config()) + ": can cost " + run.reservation() + "\n");
      line(text, "runs", hardware(run.limits()));
      tokens(text, run.limits());
      line(text, "charged to", charged(run.limits()));
      line(text, "prices", prices(run.rates(), run.limits().optionalText("gpu_type").orElse("")));
      line(text, "script", run.whatRuns().text("script_sha256"));
      run.whatRuns().optionalText("code_sha256").ifPresent(code -> line(text, "code", code));
      run.whatRuns().optionalText("program_sha256").ifPresent(own -> line(text, "program", own));
      String files = String.join(", ", run.whatRuns().object("files").members().keySet());
      line(text, "files", files.isEmpty() ? "none, or too many to name" : files);
      line(text, "submitter", run.submitter().map(Object::toString).orElse("anybody"));
    } else if (approval.scope() instanceof ApprovedPipeline pipeline) {
      pipeline(text, pipeline);
    } else {
      envelope(text, (ApprovalEnvelope) approval.scope());
    }
    String each = approval.scope() instanceof ApprovedPipeline ? " for all stages, " : " a run, ";
    String uses = approval.uses() == 1 ? "once" : approval.uses() + " times";
    String over = approval.overBudget() ? ", also over a budget" : "";
    line(text, "allows", "at most " + approval.maxCost() + each + uses + over + reruns(approval));
    line(text, "expires", PlainTime.utc(approval.expires()));
    line(text, "signed by", approval.approver());
    approval.note().ifPresent(note -> line(text, "note", note));
    return text.toString();
  }

  /** Returns the content of an approval that is not signed yet, and what else is known of it. */
  static String of(ApproveEstimate.Draft draft) {
    StringBuilder text = new StringBuilder(of(draft.approval()));
    draft.facts().forEach(fact -> line(text, fact.word(), fact.value()));
    draft.notes().forEach(note -> text.append("note: ").append(plain(note)).append('\n'));
    return text.toString();
  }

  /** Returns lines about a valid approval that made another signature needless. */
  static String already(ShowApprovals.Row row) {
    Approval approval = row.file().orElseThrow().approval();
    int left = approval.uses() - ApprovalUseLog.taken(row.uses());
    return """
        already approved: %s
          approval %s of %s by %s
          valid until %s for %s of at most %s%s
        nothing was signed; add --again to sign one more approval
        """
        .formatted(
            row.path(),
            approval.id(),
            PlainTime.utc(approval.created()),
            plain(approval.approver()),
            PlainTime.utc(approval.expires()),
            Plural.of(left, "more run"),
            approval.maxCost(),
            left == 1 ? "" : " each");
  }

  /**
   * Returns a hint if the approval's limit exceeds the run's reservation: the rest is for reruns.
   */
  private static String reruns(Approval approval) {
    return approval.scope() instanceof ApprovedRun run
            && approval.maxCost().currency().equals(run.reservation().currency())
            && approval.maxCost().compareTo(run.reservation()) > 0
        ? "; " + approval.maxCost().minus(run.reservation()) + " of it only for `rerun --failed`"
        : "";
  }

  /** Returns the login names that may submit with the approval, or {@code any}. */
  public static String users(Approval approval) {
    return plain(
        approval.scope() instanceof ApprovalEnvelope envelope
            ? any(envelope.users())
            : approval.scope().submitter().map(UnixUser::user).orElse("any"));
  }

  /** Returns a line with the revoker, the time and the reason. */
  public static String revocation(JsonObject revocation) {
    String by = "by " + word(revocation, "revoked_by") + " at " + word(revocation, "revoked_at");
    Object reason = revocation.members().get("reason");
    StringBuilder line = new StringBuilder();
    line(line, "revoked", reason == null ? by : by + ": " + reason);
    return line.toString();
  }

  /**
   * Returns a member's text. The file may be written by hand, so the member may have any type or be
   * missing.
   */
  private static String word(JsonObject json, String name) {
    Object value = json.members().get(name);
    return value == null ? "unknown" : value.toString();
  }

  private static void pipeline(StringBuilder text, ApprovedPipeline pipeline) {
    text.append("one run of the pipeline " + plain(pipeline.config()));
    text.append(": can cost " + pipeline.reservation() + "\n");
    for (ApprovedPipeline.Stage stage : pipeline.stages()) {
      ApprovedRun run = stage.run();
      String costs = plain(run.config()) + ": " + run.reservation() + ", ";
      line(text, plain(stage.name()), costs + hardware(run.limits()));
      tokens(text, run.limits());
      line(text, "script", run.whatRuns().text("script_sha256"));
    }
    line(text, "submitter", pipeline.submitter().map(Object::toString).orElse("anybody"));
  }

  private static void envelope(StringBuilder text, ApprovalEnvelope envelope) {
    text.append("any run of the family '").append(plain(envelope.name())).append("'\n");
    line(text, "configs", any(envelope.configs()));
    line(text, "stages", any(envelope.stages()));
    line(text, "clusters", any(envelope.clusters()));
    line(text, "accounts", any(envelope.accounts()));
    line(text, "users", any(envelope.users()));
    line(text, "projects", any(envelope.projects()));
    envelope.maxMonth().ifPresent(most -> line(text, "a month", "at most " + most));
  }

  private static String any(List<String> names) {
    return names.isEmpty() ? "any" : String.join(", ", names);
  }

  private static void line(StringBuilder text, String what, String value) {
    text.append("  ").append(String.format("%-11s", what)).append(plain(value)).append('\n');
  }

  /**
   * Escapes control characters: the submitter writes the estimate, and must not draw lines in this
   * text.
   */
  private static String plain(String text) {
    return NOT_DRAWN
        .matcher(text)
        .replaceAll(letter -> "\\\\u%04x".formatted(letter.group().codePointAt(0)));
  }

  private static String hardware(JsonObject limits) {
    long gpus = limits.number("gpus");
    long tasks = limits.number("tasks");
    long attempts = limits.number("attempts");
    long nodes = limits.number("nodes");
    String gpu =
        gpus == 0 ? "" : gpus + "x " + limits.optionalText("gpu_type").orElse("gpu") + ", ";
    long cpus = limits.number("cpus");
    String memory = Memory.words(limits.number("memory_bytes")) + "iB, ";
    String time = TimeLimit.words(Duration.ofSeconds(limits.number("time_limit_seconds")));
    return Plural.of(tasks, "task")
        + (attempts == 1 ? "" : " x " + attempts + " attempts")
        + " of %s, %s%s, %s%s each"
            .formatted(Plural.of(nodes, "node"), gpu, Plural.of(cpus, "CPU"), memory, time)
        + grown(limits);
  }

  private static String grown(JsonObject limits) {
    if (!limits.members().containsKey(AttemptSize.KEY)) {
      return "";
    }
    List<AttemptSize> sizes = AttemptSize.of(limits);
    AttemptSize last = sizes.get(sizes.size() - 1);
    return "; the last attempt up to %siB, %s"
        .formatted(
            Memory.words(last.memoryBytes()),
            TimeLimit.words(Duration.ofSeconds(last.timeLimitSeconds())));
  }

  private static void tokens(StringBuilder text, JsonObject limits) {
    ApiTokens.ofApproved(limits).ifPresent(tokens -> line(text, "API tokens", tokens.words()));
  }

  private static String charged(JsonObject limits) {
    StringBuilder text = new StringBuilder("cluster " + limits.text("cluster"));
    for (ResourceOption option : ResourceOption.values()) {
      String key = option.approvalKey();
      limits.optionalText(key).ifPresent(value -> text.append(", " + key + " " + value));
    }
    return text.append(limits.flag("exclusive") ? ", whole nodes" : "").toString();
  }

  /** Returns the rates that apply to the run; of the GPU types only its own. */
  private static String prices(JsonObject rates, String gpuType) {
    StringBuilder text = new StringBuilder();
    price(text, "", rates, gpuType);
    return text + " (" + rates.text("book") + " as of " + rates.text("as_of") + ")";
  }

  private static void price(StringBuilder text, String name, JsonObject value, String gpuType) {
    for (Map.Entry<String, @Nullable Object> entry : value.members().entrySet()) {
      if (entry.getValue() instanceof JsonObject below) {
        if (!name.equals("gpu_hour") || entry.getKey().equals(gpuType)) {
          // A model's prices are one level deeper: its name alone would not say what they are.
          boolean direction = entry.getKey().equals("input") || entry.getKey().equals("output");
          price(text, direction ? name + " " + entry.getKey() : entry.getKey(), below, gpuType);
        }
      } else if (entry.getKey().equals("price")) {
        text.append(text.length() == 0 ? "" : ", ").append(name + " " + entry.getValue());
      }
    }
  }

  /** Returns the uses of an approval, one per line. */
  public static String uses(List<ApprovalUse> uses) {
    StringBuilder text = new StringBuilder();
    for (ApprovalUse use : uses) {
      text.append("  use " + use.number() + "  " + use.reservation() + ", " + use);
      if (use.released()) {
        text.append(
            use.run().isPresent()
                ? "; ran again, a later use counts"
                : "; given back, no run came of it");
      } else if (use.run().isEmpty()) {
        text.append("; no run holds it: it is used all the same");
      }
      text.append('\n');
    }
    return text.toString();
  }
}
