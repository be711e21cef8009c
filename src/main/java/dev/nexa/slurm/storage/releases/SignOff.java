package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.records.approvals.SignedStatement;
import dev.nexa.slurm.records.approvals.SignedText;
import dev.nexa.slurm.records.signatures.SshSignature;
import java.nio.charset.StandardCharsets;
import java.time.Instant;

/**
 * A person's signature on a release: {@code signatures/SIGNER.json}. The signed bytes are the bytes
 * of {@link #statement}.
 *
 * @param release the release's name
 * @param digest the release's digest
 * @param signer the principal
 * @param at when it was signed
 * @param armored the SSH signature; whether it is valid is not checked here
 */
public record SignOff(
    String release, String digest, String signer, @Key("signed_at") Instant at, String armored) {
  /** The namespace of the SSH signature. Approvals have another one. */
  public static final String NAMESPACE = "nexa-slurm-release";

  private static final String TYPE = "nexa-slurm release";

  /** Returns the text that is signed. It names what is signed, so that it fits nothing else. */
  public String statement() {
    return file().signedText();
  }

  private SignedStatement file() {
    return SignedStatement.of(TYPE, this);
  }

  /** Returns the file's text. */
  public String text() {
    return file().text();
  }

  /**
   * Reads the text of a file.
   *
   * @throws IllegalArgumentException if the text is not as {@link #text} returns it
   */
  public static SignOff parse(String text) {
    return SignedStatement.read(
        text, TYPE, SignOff.class, "is not written as nexa-slurm writes a signature");
  }

  /**
   * Returns the signature for a check.
   *
   * @throws IllegalArgumentException if it is no SSH signature
   */
  public SignedText signed() {
    return new SignedText(signer, at, NAMESPACE, statement(), armored, SshSignature.parse(armored));
  }

  /** Returns the name of the signer's file. */
  public String fileName() {
    StringBuilder name = new StringBuilder();
    for (byte b : signer.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      boolean plain =
          (c >= 'a' && c <= 'z')
              || (c >= 'A' && c <= 'Z')
              || (c >= '0' && c <= '9')
              || (name.length() > 0 && "@._+-".indexOf(c) >= 0);
      name.append(plain ? String.valueOf(c) : String.format("%%%02x", (int) c));
    }
    return name + ".json";
  }
}
