package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.approvals.AllowedSigners;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.SigningFailure;
import dev.nexa.slurm.records.approvals.SshKeygen;
import dev.nexa.slurm.records.approvals.SshPublicKey;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
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
 * @param file the file that ssh-keygen gets
 */
record SigningKey(KeyFile file, Map<String, String> environment) {
  private static final List<String> SSHS_OWN =
      List.of("id_ed25519", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "id_rsa");

  /**
   * Returns the named key, or the first of ssh's default keys.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such key, or if ssh-keygen
   *     cannot use the file
   */
  static SigningKey of(Map<String, String> environment, Optional<String> named) {
    String home = environment.getOrDefault("HOME", "");
    if (named.isPresent()) {
      String typed = named.get();
      Path path = Path.of(typed.startsWith("~/") ? home + typed.substring(1) : typed);
      return of(path, environment);
    }
    Path folder = Path.of(home, ".ssh");
    for (String name : SSHS_OWN) {
      Path path = folder.resolve(name);
      if (Files.isRegularFile(path)) {
        return of(path, environment);
      }
    }
    throw failed(
        "there is no SSH key in " + folder + ": approve looks for " + String.join(", ", SSHS_OWN),
        Advice.step("name a key: --key PATH; for a key in an agent or on a token, name its .pub"),
        Advice.command("makes a new key", "ssh-keygen", "-t", "ed25519"));
  }

  private static SigningKey of(Path path, Map<String, String> environment) {
    KeyFile file = new KeyFile(path.toAbsolutePath().normalize(), environment);
    file.requireUsable();
    return new SigningKey(file, environment);
  }

  private static NexaException failed(String message, Advice... advice) {
    return new NexaException(ErrorCode.SIGNING_FAILED, message, advice);
  }

  /**
   * Returns the name that allowed_signers gives for the key.
   *
   * @throws NexaException if allowed_signers has no name for the key, or several
   */
  String principal(PolicyApprovals approvals) {
    Optional<SshPublicKey> half = file.publicHalf();
    if (half.isEmpty()) {
      throw failed(
          "there is no "
              + file.publicFile()
              + ": approve needs the public half of the key to find your name in "
              + approvals.signers().allowed().file(),
          SigningFailure.makesPublicHalf(file.path()),
          Advice.step("or give your name in allowed_signers: --as PRINCIPAL"));
    }
    List<String> listed = approvals.signers().allowed().holders(half.get());
    if (listed.isEmpty()) {
      throw new NexaException(
          ErrorCode.SIGNING_FAILED,
          "your key " + text() + " is not in " + approvals.signers().allowed().file(),
          listing(approvals.signers().allowed(), UnixUser.me().user(), half.get()));
    }
    List<String> holders = new ArrayList<>();
    for (String holder : listed) {
      boolean plain = holder.indexOf('*') < 0 && holder.indexOf('?') < 0;
      if (plain && !holder.startsWith("!") && !holders.contains(holder)) {
        holders.add(holder);
      }
    }
    if (holders.size() == 1) {
      return holders.get(0);
    }
    if (holders.isEmpty()) {
      throw failed(
          approvals.signers().allowed().file()
              + " has only a pattern for your key "
              + text()
              + ": "
              + String.join(", ", listed),
          Advice.step("give your own name, which the pattern matches: --as PRINCIPAL"));
    }
    throw failed(
        approvals.signers().allowed().file()
            + " has several names for your key "
            + text()
            + ": "
            + String.join(", ", holders),
        Advice.step("say under which name you sign: --as " + holders.get(0)));
  }

  /**
   * Returns the advice to add a key to allowed_signers: the line, and who may add it.
   *
   * @param principal the name for the key
   */
  static List<Advice> listing(AllowedSigners allowed, String principal, SshPublicKey key) {
    Path file = Path.of(allowed.file());
    String owner = Workspace.ownerOf(file);
    return List.of(
        Advice.step(
            owner
                + (owner.equals("root") ? "" : " or root")
                + " can add this line to "
                + file
                + ":"),
        Advice.step(principal + " namespaces=\"" + Approval.NAMESPACE + "\" " + key.line()));
  }

  /** Returns the public half; empty if no file of it is beside the key. */
  Optional<SshPublicKey> publicKey() {
    return file.publicHalf();
  }

  /** Returns the key's path, and its fingerprint if the public half is beside it. */
  String text() {
    return file.path() + file.publicHalf().map(half -> " (" + half.fingerprint() + ")").orElse("");
  }

  /** Signs an approval. ssh-keygen may ask for a passphrase or for a touch of a hardware token. */
  ApprovalFile sign(Approval approval) {
    byte[] statement = approval.statement().getBytes(StandardCharsets.UTF_8);
    String armored = new SshKeygen(environment).sign(file.path(), Approval.NAMESPACE, statement);
    return ApprovalFile.parse(approval.fileName(), approval.statement() + armored);
  }
}
