package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.SshKeygen;
import dev.nexa.slurm.records.approvals.SshPublicKey;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The SSH key that an approver signs with. Only ssh-keygen reads the private key.
 *
 * @param path the key's path, as ssh-keygen accepts it
 */
record SigningKey(Path path, Map<String, String> environment) {
  private static final List<String> SSHS_OWN =
      List.of("id_ed25519", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "id_rsa");

  /**
   * Returns the named key, or the first of ssh's default keys.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such key
   */
  static SigningKey of(Map<String, String> environment, Optional<String> named) {
    String home = environment.getOrDefault("HOME", "");
    if (named.isPresent()) {
      String typed = named.get();
      Path path = Path.of(typed.startsWith("~/") ? home + typed.substring(1) : typed);
      if (!Files.isRegularFile(path)) {
        throw new NexaException(
            ErrorCode.SIGNING_FAILED, "there is no key " + path, Advice.step("ls ~/.ssh"));
      }
      return new SigningKey(path.toAbsolutePath(), environment);
    }
    for (String name : SSHS_OWN) {
      Path path = Path.of(home, ".ssh", name);
      if (Files.isRegularFile(path)) {
        return new SigningKey(path.toAbsolutePath(), environment);
      }
    }
    throw new NexaException(
        ErrorCode.SIGNING_FAILED,
        "there is no SSH key in " + Path.of(home, ".ssh"),
        Advice.step(
            "--key PATH names a key; for a key in an agent or on a token, name the .pub file"));
  }

  /**
   * Returns the name that allowed_signers gives for the key.
   *
   * @throws NexaException if allowed_signers has no name for the key, or several
   */
  String principal(PolicyApprovals approvals) {
    List<String> holders = new ArrayList<>();
    Optional<SshPublicKey> half = publicHalf();
    if (half.isPresent()) {
      for (String holder : approvals.signers().allowed().holders(half.get())) {
        boolean plain = holder.indexOf('*') < 0 && holder.indexOf('?') < 0;
        if (plain && !holder.startsWith("!") && !holders.contains(holder)) {
          holders.add(holder);
        }
      }
    }
    if (holders.size() == 1) {
      return holders.get(0);
    }
    throw new NexaException(
        ErrorCode.SIGNING_FAILED,
        holders.isEmpty()
            ? "the signer is not known: allowed_signers names nobody for " + path
            : "the signer is not known: allowed_signers names several people for "
                + path
                + ": "
                + String.join(", ", holders),
        Advice.step("--as PRINCIPAL says it, such as ada@site"));
  }

  /** Returns the key's path, and its fingerprint if the public half is beside it. */
  String text() {
    return path + publicHalf().map(half -> " (" + half.fingerprint() + ")").orElse("");
  }

  private Optional<SshPublicKey> publicHalf() {
    String name = path.toString();
    Path file = name.endsWith(".pub") ? path : Path.of(name + ".pub");
    try {
      return Files.isRegularFile(file)
          ? Optional.of(SshPublicKey.parse(DurableFiles.read(file)))
          : Optional.empty();
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          ErrorCode.SIGNING_FAILED,
          file + " " + broken.getMessage(),
          broken,
          Advice.step("--key PATH names another"));
    }
  }

  /** Signs an approval. ssh-keygen may ask for a passphrase or for a touch of a hardware token. */
  ApprovalFile sign(Approval approval) {
    byte[] statement = approval.statement().getBytes(StandardCharsets.UTF_8);
    String armored = new SshKeygen(environment).sign(path, Approval.NAMESPACE, statement);
    return ApprovalFile.parse(approval.fileName(), approval.statement() + armored);
  }
}
