package dev.nexa.slurm.records.approvals;

import static dev.nexa.slurm.base.error.Arguments.require;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.signatures.SshSignature;
import java.time.Instant;
import java.util.Optional;

/**
 * A file that holds a statement of a person and their SSH signature over it: {@code {"statement":
 * {…}, "signature": "…"}}. The statement names its own type, so that no statement can stand for
 * another one.
 *
 * @param statement what is signed, in the bytes in which we write it as a file of its own
 * @param armored the SSH signature; whether it is valid is not checked here
 */
public record SignedStatement(JsonObject statement, String armored) {
  /** The component of a record that holds its signature. */
  private static final String ARMORED = "armored";

  /**
   * Returns the statement that a record makes.
   *
   * @param said the record; its component {@code armored} is the signature
   */
  public static SignedStatement of(String type, Record said) {
    JsonObject statement = JsonObject.ofVersion(1).with("type", type);
    JsonObject members = Codec.write(said);
    members.without(ARMORED).members().forEach(statement::with);
    return new SignedStatement(statement, members.text(ARMORED));
  }

  /**
   * Reads the record that {@link #of} was given from a file's text.
   *
   * @param otherwise says that the text differs from what nexa-slurm writes
   * @throws IllegalArgumentException if the text has another form or type, or differs in a byte
   */
  public static <R extends Record> R read(
      String text, String type, Class<R> record, String otherwise) {
    SignedStatement file = parse(text, type);
    R said = Codec.read(file.statement().with(ARMORED, file.armored()), record);
    require(of(type, said).text().equals(text), otherwise);
    return said;
  }

  /** Returns the text that is signed. */
  public String signedText() {
    return Json.pretty(statement);
  }

  /** Returns the file's text. */
  public String text() {
    return Json.pretty(new JsonObject().with("statement", statement).with("signature", armored));
  }

  /**
   * Reads a file's text.
   *
   * @param type the type that the statement must have
   * @throws IllegalArgumentException if it has another form or type
   */
  public static SignedStatement parse(String text, String type) {
    JsonObject json = Json.parseObject(text);
    JsonObject statement = json.object("statement");
    require(statement.text("type").equals(type), "is a statement of another type");
    return new SignedStatement(statement, json.text("signature"));
  }

  /**
   * Returns why a signature does not count; empty if it does. An old statement stays valid after
   * its key has expired.
   *
   * @param principal the signer's name
   * @param namespace the namespace that the signature must have
   * @param text the signed text
   * @param at when the text was signed, as the text says: the key must have been valid then
   */
  public static Optional<String> refusal(
      Signers signers,
      String principal,
      String namespace,
      String text,
      String armored,
      Instant at) {
    SignedText signed;
    try {
      signed = new SignedText(principal, at, namespace, text, armored, SshSignature.parse(armored));
    } catch (IllegalArgumentException broken) {
      return Optional.of("it " + broken.getMessage());
    }
    return signers.refusal(signed, at);
  }
}
