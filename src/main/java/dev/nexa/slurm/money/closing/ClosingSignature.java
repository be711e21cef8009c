package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.records.approvals.SignedStatement;
import dev.nexa.slurm.records.approvals.Signers;
import java.time.Instant;
import java.time.YearMonth;
import java.util.Optional;

/**
 * {@code runs/statements/YYYY-MM.signature.json}: the signature that closes a month.
 *
 * @param sha256 the SHA-256 of the statement
 * @param at when the month was closed
 * @param user the login name of the person who closed it
 * @param signer their name in allowed_signers
 * @param armored the SSH signature over {@link #signedText}
 */
public record ClosingSignature(
    YearMonth month,
    @Key("statement_sha256") String sha256,
    Instant at,
    @Key("by") String user,
    String signer,
    String host,
    String armored) {
  /** The namespace of the SSH signature. Approvals and releases have others. */
  public static final String NAMESPACE = "nexa-slurm-statement";

  private static final String TYPE = "nexa-slurm closing of a month";

  /** Returns the text that is signed. */
  public String signedText() {
    return file().signedText();
  }

  private SignedStatement file() {
    return SignedStatement.of(TYPE, this);
  }

  /** Returns a copy with the signature. */
  public ClosingSignature signed(String signature) {
    return new ClosingSignature(month, sha256, at, user, signer, host, signature);
  }

  /** Returns the file's text. */
  String text() {
    return file().text();
  }

  /**
   * Reads a file's text.
   *
   * @throws IllegalArgumentException if the text is not as {@link #text} returns it
   */
  static ClosingSignature parse(String text) {
    return SignedStatement.read(
        text, TYPE, ClosingSignature.class, "is not written as nexa-slurm writes it");
  }

  /** Returns why the signature does not count; empty if it does. */
  public Optional<String> refusal(Signers signers) {
    return SignedStatement.refusal(signers, signer, NAMESPACE, signedText(), armored, at);
  }
}
