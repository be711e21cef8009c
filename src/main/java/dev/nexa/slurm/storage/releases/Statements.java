package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.records.approvals.SignedText;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.approvals.SshSignature;
import java.time.Instant;
import java.util.Optional;

/** Checks signatures of lines and files that say by themselves when they were signed. */
final class Statements {
  private Statements() {}

  /**
   * Returns why a signature does not count; empty if it does. An old statement stays valid after
   * its key has expired.
   *
   * @param principal the signer's name
   * @param at when the text was signed, as the text says: the key must have been valid then
   */
  static Optional<String> refusal(
      Signers signers, String principal, String text, String armored, Instant at) {
    SignedText signed;
    try {
      signed =
          new SignedText(
              principal, at, SignOff.NAMESPACE, text, armored, SshSignature.parse(armored));
    } catch (IllegalArgumentException broken) {
      return Optional.of("it " + broken.getMessage());
    }
    return signers.refusal(signed, at);
  }
}
