package dev.nexa.slurm.records.approvals;

import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Decides whose signature on an approval counts.
 *
 * @param allowed the keys that may sign
 * @param revoked the revoked keys
 * @param revokedList the file of {@code revoked}, for ssh-keygen; empty if there is none
 * @param keygen checks hardware keys' signatures and binary lists
 */
public record Signers(
    AllowedSigners allowed, RevokedKeys revoked, Optional<Path> revokedList, SshKeygen keygen) {

  /**
   * Returns why the approval's signature does not count; empty if it does. The key must be valid
   * both now and when the approval was created.
   */
  public Optional<String> refusal(ApprovalFile file, Instant now) {
    List<String> unreadable = new ArrayList<>(allowed.problems());
    unreadable.addAll(revoked.problems());
    if (!unreadable.isEmpty()) {
      return Optional.of("nobody's signature counts: " + String.join("; ", unreadable));
    }
    SshSignature signature = file.signature();
    Approval approval = file.approval();
    if (!signature.namespace().equals(Approval.NAMESPACE)) {
      return Optional.of(
          "its signature was made for '"
              + signature.namespace()
              + "', not for '"
              + Approval.NAMESPACE
              + "'");
    }
    if (!verifies(file)) {
      return Optional.of("its signature is not of this text: it was edited, or is forged");
    }
    Optional<String> refusal = allowedAt(file, now);
    if (refusal.isEmpty()) {
      // Without this check, an expired key could sign an approval with an earlier date.
      refusal = allowedAt(file, approval.created().isAfter(now) ? now : approval.created());
    }
    if (refusal.isEmpty() && isRevoked(signature.key())) {
      refusal = Optional.of("the key " + signature.key().fingerprint() + " is revoked");
    }
    return refusal;
  }

  private boolean verifies(ApprovalFile file) {
    SshSignature signature = file.signature();
    if (!signature.key().isSecurityKey()) {
      return signature.verifies(file.signed());
    }
    String armored = file.text().substring(file.approval().statement().length());
    return keygen.verifies(signature.key(), Approval.NAMESPACE, armored, file.signed());
  }

  private Optional<String> allowedAt(ApprovalFile file, Instant time) {
    return allowed.refusal(
        file.approval().approver(), file.signature().key(), Approval.NAMESPACE, time);
  }

  private boolean isRevoked(SshPublicKey key) {
    if (revoked.binary()) {
      return revokedList.isEmpty() || keygen.isRevoked(revokedList.get(), key);
    }
    return revoked.names(key);
  }

  /**
   * Returns why the submitter may not use the approval because it may be their own: the approver,
   * or a holder of the signing key, may be the submitter. Empty if they may use it.
   */
  public Optional<String> selfApproval(ApprovalFile file, UnixUser submitter) {
    List<String> names = new ArrayList<>(allowed.holders(file.signature().key()));
    names.add(0, file.approval().approver());
    for (String name : names) {
      if (submitter.mayBe(name)) {
        return Optional.of(
            "it was signed by "
                + file.approval().approver()
                + " with a key of '"
                + name
                + "', which may be you, "
                + submitter.user()
                + ": submitters cannot approve their own runs");
      }
    }
    return Optional.empty();
  }
}
