package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.RevokedKeys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.records.signatures.SshPublicKey;
import dev.nexa.slurm.records.signatures.SshSignature;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Decides whose signature on an approval or a release counts.
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
    return refusal(file.signedText(), now);
  }

  /**
   * Returns why a signature does not count; empty if it does. The key must be valid both now and
   * when the text was signed.
   */
  public Optional<String> refusal(SignedText text, Instant now) {
    // Without the check of now, an expired key could sign a text with an earlier date.
    return forgery(text)
        .or(() -> allowedAt(text, now))
        .or(() -> allowedAt(text, text.at().isAfter(now) ? now : text.at()))
        .or(() -> revocation(text.signature().key()));
  }

  /** Returns why a signature with this key would not count at that time; empty if it would. */
  public Optional<String> refusal(String signer, SshPublicKey key, String namespace, Instant time) {
    return allowed.refusal(signer, key, namespace, time).or(() -> revocation(key));
  }

  /**
   * Returns why a signature that counted once cannot count any more: it is not of this text, or its
   * key is revoked. A key may have expired, or may have been removed from allowed_signers.
   */
  public Optional<String> refusalOfEarlier(SignedText text) {
    return forgery(text).or(() -> revocation(text.signature().key()));
  }

  private Optional<String> revocation(SshPublicKey key) {
    return isRevoked(key)
        ? Optional.of("the key " + key.fingerprint() + " is revoked")
        : Optional.empty();
  }

  private Optional<String> forgery(SignedText text) {
    if (!problems().isEmpty()) {
      return Optional.of("nobody's signature counts: " + String.join("; ", problems()));
    }
    SshSignature signature = text.signature();
    if (!signature.namespace().equals(text.namespace())) {
      return Optional.of(
          "its signature was made for '%s', not for '%s'"
              .formatted(signature.namespace(), text.namespace()));
    }
    return verifies(text)
        ? Optional.empty()
        : Optional.of("its signature is not of this text: it was edited, or is forged");
  }

  private boolean verifies(SignedText text) {
    SshSignature signature = text.signature();
    byte[] bytes = text.text().getBytes(StandardCharsets.UTF_8);
    return signature.key().isSecurityKey()
        ? keygen.verifies(signature.key(), text.namespace(), text.armored(), bytes)
        : signature.verifies(bytes);
  }

  private Optional<String> allowedAt(SignedText text, Instant time) {
    return allowed.refusal(text.signer(), text.signature().key(), text.namespace(), time);
  }

  /**
   * Returns the lines of both files that cannot be read. Signing is impossible until they are
   * fixed.
   */
  public List<String> problems() {
    return Stream.concat(allowed.problems().stream(), revoked.problems().stream()).toList();
  }

  /**
   * Returns the principals that can sign for the namespace now, without duplicates, in file order.
   * Users ask one of them for an approval. A revoked key signs nothing.
   *
   * @param patterns whether to return patterns too; a pattern names nobody
   */
  public List<String> principals(String namespace, Instant now, boolean patterns) {
    Predicate<String> usable = patterns ? name -> !name.startsWith("!") : AllowedSigners::isName;
    return usable(namespace, now).stream()
        .flatMap(entry -> Stream.of(entry.principals().split(",", -1)))
        .filter(usable)
        .distinct()
        .toList();
  }

  /** Returns the lines whose keys can sign for the namespace now. */
  public List<AllowedSigners.Entry> usable(String namespace, Instant now) {
    return allowed.entries().stream()
        .filter(entry -> entry.isFor(namespace) && entry.isValidAt(now) && !isRevoked(entry.key()))
        .toList();
  }

  /** Returns whether the key is in the list of revoked keys. */
  public boolean isRevoked(SshPublicKey key) {
    return revoked.binary()
        ? revokedList.isEmpty() || keygen.isRevoked(revokedList.get(), key)
        : revoked.names(key);
  }

  /**
   * Returns why the submitter may not use the approval because it may be their own: the approver,
   * or a holder of the signing key, may be the submitter. Empty if they may use it.
   */
  public Optional<String> selfApproval(ApprovalFile file, UnixUser submitter) {
    return ownName(file.approval().approver(), file.signature().key(), submitter)
        .map(
            name ->
                ("it was signed by %s with a key of '%s', which may be you, %s:"
                        + " submitters cannot approve their own runs")
                    .formatted(file.approval().approver(), name, submitter.user()));
  }

  /**
   * Returns why a signature does not count because it may be the submitter's own: the signer, or a
   * holder of the key, may be the submitter. Empty if it counts.
   */
  public Optional<String> selfApproval(SignedText text, UnixUser submitter) {
    return ownName(text.signer(), text.signature().key(), submitter)
        .map(
            name ->
                ("it was signed by %s with a key of '%s', which may be %s, who submitted"
                        + " the run: submitters cannot sign releases of their own runs")
                    .formatted(text.signer(), name, submitter.user()));
  }

  private Optional<String> ownName(String signer, SshPublicKey key, UnixUser submitter) {
    return submitter.mayBe(signer) ? Optional.of(signer) : nameOf(key, Optional.of(submitter));
  }

  /**
   * Returns the principal of the key that may be the submitter: a name, or a pattern; empty if
   * there is none.
   *
   * @param submitter empty for any submitter, whom only a pattern such as {@code *@site} may be
   */
  public Optional<String> nameOf(SshPublicKey key, Optional<UnixUser> submitter) {
    Predicate<String> may =
        submitter.isPresent() ? submitter.get()::mayBe : name -> name.matches("\\*+(@.*)?");
    return allowed.holders(key).stream().filter(may).findFirst();
  }
}
