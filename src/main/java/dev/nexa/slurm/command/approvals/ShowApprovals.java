package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalDirectory;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.ApprovalMatcher;
import dev.nexa.slurm.records.approvals.ApprovalUse;
import dev.nexa.slurm.records.approvals.ApprovalUseLog;
import dev.nexa.slurm.records.approvals.ApprovedPipeline;
import dev.nexa.slurm.records.approvals.ApprovedRun;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Implements {@code approvals list}, {@code show}, {@code revoke} and {@code verify}. */
public record ShowApprovals(PolicyApprovals approvals) {
  public ShowApprovals(Context context) {
    this(PolicyApprovals.of(context, context.configs().policy()));
  }

  /** Whether an approval can be used today. */
  public enum State {
    VALID,
    NOT_VALID,
    USED_UP,
    EXPIRED,
    REVOKED,
    /** It cannot be read. */
    BROKEN;

    /** Returns the words in documents and for people, such as {@code used up}. */
    public String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /**
   * An approval and its state today.
   *
   * @param reasons why it is not valid; empty if it is
   */
  public record Row(
      Path path,
      Optional<ApprovalFile> file,
      State state,
      List<String> reasons,
      List<ApprovalUse> uses,
      Optional<JsonObject> revocation) {

    /** Adds the members that {@code --json} prints, and returns the object. */
    public JsonObject addTo(JsonObject json) {
      json.with("file", path.toString()).with("state", state.text()).with("reasons", reasons);
      if (file.isEmpty()) {
        return json;
      }
      return json.with("key", file.get().signature().key().fingerprint())
          .with("uses_taken", ApprovalUseLog.taken(uses))
          .with("uses", uses.stream().map(ApprovalUse::toJson).toList())
          .with("revocation", revocation.orElse(null))
          .with("statement", Json.parseObject(file.get().approval().statement()));
    }
  }

  /** Returns lines about problems with the files of the policy. */
  public List<String> notes() {
    List<String> notes = new ArrayList<>(approvals.signers().allowed().problems());
    notes.addAll(approvals.signers().allowed().ignored());
    notes.addAll(approvals.signers().revoked().problems());
    return notes;
  }

  /** Returns all approvals in the policy's folder. */
  public List<Row> list() {
    return rows(approvals.directory().all());
  }

  /** Returns the approvals of the same plan, or all envelopes. */
  List<Row> like(Approval.Scope scope) {
    ApprovalDirectory directory = approvals.directory();
    return rows(digest(scope).map(directory::of).orElseGet(directory::envelopes));
  }

  private List<Row> rows(List<ApprovalDirectory.Found> found) {
    return found.stream().map(this::row).toList();
  }

  private static Optional<String> digest(Approval.Scope scope) {
    return scope instanceof ApprovedRun run
        ? Optional.of(run.configDigest())
        : scope instanceof ApprovedPipeline pipeline
            ? Optional.of(pipeline.digest())
            : Optional.empty();
  }

  /** Returns the approval whose id begins with this text. */
  public Row show(String id) {
    return row(approvals.directory().byId(id));
  }

  /** Returns an approval in any file. */
  public Row verify(Path file) {
    try {
      return row(file, ApprovalFile.read(file));
    } catch (ApprovalFile.BrokenException broken) {
      return broken(file, String.valueOf(broken.getMessage()));
    }
  }

  /**
   * Revokes an approval for good.
   *
   * @return false if it was revoked before
   * @throws NexaException if this user may not write to the policy's folder
   */
  public boolean revoke(Row row, Optional<String> reason) {
    Approval approval = row.file().orElseThrow().approval();
    Instant now = Instant.ofEpochSecond(Instant.now().getEpochSecond());
    UnixUser me = UnixUser.me();
    try {
      return approvals.directory().revoke(approval.id(), me, now, reason);
    } catch (UncheckedIOException failed) {
      Path directory = approvals.directory().path();
      if (Files.isWritable(directory)) {
        throw failed;
      }
      throw ErrorCode.APPROVALS_UNUSABLE.error(
          me.user() + " may not revoke: " + mayWrite(directory),
          failed,
          Advice.step(
              "ask %s, who owns %s, to type: nexa-slurm approvals revoke %s"
                  .formatted(Workspace.ownerOf(directory), directory, approval.id())));
    }
  }

  private static String mayWrite(Path directory) {
    try {
      PosixFileAttributes of = Files.readAttributes(directory, PosixFileAttributes.class);
      boolean group = of.permissions().contains(PosixFilePermission.GROUP_WRITE);
      String owners =
          of.owner().getName() + "'s" + (group ? " and of the group " + of.group().getName() : "");
      return directory + " is " + owners + ", and only they write there";
    } catch (IOException | UnsupportedOperationException unknown) {
      return directory + " can't be written";
    }
  }

  private Row row(ApprovalDirectory.Found found) {
    return found.approval().isPresent()
        ? row(found.path(), found.approval().get())
        : broken(found.path(), found.problem().orElse(""));
  }

  private static Row broken(Path path, String problem) {
    return new Row(
        path, Optional.empty(), State.BROKEN, List.of(problem), List.of(), Optional.empty());
  }

  private Row row(Path path, ApprovalFile file) {
    Instant now = Instant.now();
    Approval approval = file.approval();
    Optional<JsonObject> revocation = approvals.directory().revocationOf(approval.id());
    List<String> reasons = new ArrayList<>();
    approvals.signers().refusal(file, now).ifPresent(reasons::add);
    List<String> times = ApprovalMatcher.times(approval, now, approvals.policy().longest());
    List<ApprovalUse> uses = List.of();
    try {
      uses = approvals.directory().uses(approval).all();
    } catch (NexaException notCounted) {
      reasons.add(String.valueOf(notCounted.getMessage()));
    }
    boolean counts = reasons.isEmpty();
    State state = State.VALID;
    if (ApprovalUseLog.taken(uses) >= approval.uses()) {
      state = State.USED_UP;
    }
    if (!times.isEmpty()) {
      state = now.isBefore(approval.expires()) ? State.NOT_VALID : State.EXPIRED;
      reasons.addAll(times);
    }
    if (revocation.isPresent()) {
      state = State.REVOKED;
    }
    return new Row(
        path, Optional.of(file), counts ? state : State.NOT_VALID, reasons, uses, revocation);
  }
}
