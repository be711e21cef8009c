package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.records.signatures.SshSignature;
import java.time.Instant;

/**
 * A text, its SSH signature, and what both claim.
 *
 * @param signer the principal who claims to have signed
 * @param at when it claims to have been signed
 * @param namespace the namespace that the signature must have
 * @param text the signed text
 * @param armored the signature as ssh-keygen wrote it
 * @param signature the same signature, read
 */
public record SignedText(
    String signer,
    Instant at,
    String namespace,
    String text,
    String armored,
    SshSignature signature) {}
