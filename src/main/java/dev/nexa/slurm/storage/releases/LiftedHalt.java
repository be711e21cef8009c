package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.approvals.SignedStatement;
import java.time.Instant;

/**
 * {@code deploy/halts/ID.lifted.json}: an approver's signature that lifts a halt.
 *
 * @param halt the halt's id
 * @param digest the SHA-256 of the halt's file, so that the signature fits no other halt
 * @param signer the approver's name in allowed_signers
 * @param signature the armored SSH signature over {@link #statement}
 */
public record LiftedHalt(
    String halt,
    String digest,
    Instant at,
    HistoryLine.Author signer,
    String reason,
    String signature) {
  private static final String TYPE = "nexa-slurm unhalt";

  /** Returns the text that is signed. */
  public String statement() {
    return file().signedText();
  }

  private SignedStatement file() {
    return new SignedStatement(json(), signature);
  }

  private JsonObject json() {
    return new JsonObject()
        .with("schema_version", 1)
        .with("type", TYPE)
        .with("halt_id", halt)
        .with("halt_sha256", digest)
        .with("at", at)
        .with("by", signer.user())
        .with("signer", signer.signer())
        .with("host", signer.host())
        .with("reason", reason);
  }

  /** Returns the same with its signature. */
  public LiftedHalt signed(String armored) {
    return new LiftedHalt(halt, digest, at, signer, reason, armored);
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
  static LiftedHalt parse(String text) {
    SignedStatement file = SignedStatement.parse(text, TYPE);
    JsonObject said = file.statement();
    LiftedHalt lifted =
        new LiftedHalt(
            said.text("halt_id"),
            said.text("halt_sha256"),
            said.instant("at"),
            new HistoryLine.Author(said.text("by"), said.text("signer"), said.text("host")),
            said.text("reason"),
            file.armored());
    if (!lifted.text().equals(text)) {
      throw new IllegalArgumentException("it is not written as nexa-slurm writes it");
    }
    return lifted;
  }
}
