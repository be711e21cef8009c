package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Approval;
import dev.nexa.slurm.approve.ApprovalFile;
import dev.nexa.slurm.approve.SshKeygen;
import dev.nexa.slurm.approve.SshPublicKey;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The key that an approver signs with; the private half is ssh-keygen's to read.
 *
 * @param path as ssh-keygen takes it
 */
record SigningKey(Path path, Map<String, String> environment) {
  private static final List<String> SSHS_OWN =
      List.of("id_ed25519", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "id_rsa");

  /** The one that was named, or the first of ssh's own. */
  static SigningKey of(Map<String, String> environment, Optional<String> named) {
    String home = environment.getOrDefault("HOME", "");
    if (named.isPresent()) {
      String typed = named.get();
      Path path = Path.of(typed.startsWith("~/") ? home + typed.substring(1) : typed);
      if (!Files.isRegularFile(path)) {
        throw new NexaException(ExitCode.USAGE, "there is no key " + path, "ls ~/.ssh");
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
        ExitCode.USAGE,
        "there is no SSH key in " + Path.of(home, ".ssh"),
        "--key PATH names one; of an agent's or a token's key, the .pub file");
  }

  /** Who signs with it, as allowed_signers says. */
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
        ExitCode.USAGE,
        holders.isEmpty()
            ? "who signs? allowed_signers names nobody for " + path
            : "who signs? allowed_signers names several for "
                + path
                + ": "
                + String.join(", ", holders),
        "--as PRINCIPAL says it, such as ada@site");
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
          ExitCode.USAGE, file + " " + broken.getMessage(), broken, "--key PATH names another");
    }
  }

  /** Signs; may ask for a passphrase, or to touch a token. */
  ApprovalFile sign(Approval approval) {
    byte[] statement = approval.statement().getBytes(StandardCharsets.UTF_8);
    String armored = new SshKeygen(environment).sign(path, Approval.NAMESPACE, statement);
    return ApprovalFile.parse(approval.fileName(), approval.statement() + armored);
  }
}
