package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.UnixUser;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.SigningFailure;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.records.signatures.SshPublicKey;
import dev.nexa.slurm.run.decision.PolicyApprovals;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The SSH key that an approver signs with. Only ssh-keygen reads the private key.
 *
 * @param file the file that ssh-keygen gets
 * @param use the command that signs, for its messages
 */
public record SigningKey(KeyFile file, Map<String, String> environment, Use use) {
  private static final List<String> SSHS_OWN =
      List.of("id_ed25519", "id_ecdsa", "id_ed25519_sk", "id_ecdsa_sk", "id_rsa");

  /**
   * A command that signs.
   *
   * @param command its words, such as {@code release rollback}
   * @param takesName whether it has the option {@code --as PRINCIPAL}
   */
  public record Use(String command, boolean takesName) {}

  /**
   * Returns the named key, or the first of ssh's default keys.
   *
   * @throws NexaException with {@link ExitCode#USAGE} if there is no such key, or if ssh-keygen
   *     cannot use the file
   */
  public static SigningKey of(Map<String, String> environment, Optional<String> named, Use use) {
    String home = environment.getOrDefault("HOME", "");
    Path folder = Path.of(home, ".ssh");
    Path path =
        named
            .map(typed -> Path.of(typed.startsWith("~/") ? home + typed.substring(1) : typed))
            .or(
                () ->
                    SSHS_OWN.stream().map(folder::resolve).filter(Files::isRegularFile).findFirst())
            .orElseThrow(
                () ->
                    ErrorCode.SIGNING_FAILED.error(
                        "there is no SSH key in %s: %s looks for %s"
                            .formatted(folder, use.command(), String.join(", ", SSHS_OWN)),
                        Advice.step(
                            "name a key: --key PATH; for a key in an agent or on a token, name its .pub"),
                        Advice.command("makes a new key", "ssh-keygen", "-t", "ed25519")));
    KeyFile file = new KeyFile(path.toAbsolutePath().normalize(), environment);
    file.requireUsable();
    return new SigningKey(file, environment, use);
  }

  /**
   * Returns the name that allowed_signers gives for the key.
   *
   * @param submitter the person who will submit the run, if the approval is for one person
   * @param namespaces what the key should sign for, as allowed_signers has it
   * @throws NexaException if allowed_signers has no name for the key, or several
   */
  public String principal(
      PolicyApprovals approvals, Optional<UnixUser> submitter, String namespaces) {
    Optional<SshPublicKey> half = file.publicHalf();
    if (half.isEmpty()) {
      List<Advice> advice = new ArrayList<>();
      advice.add(SigningFailure.makesPublicHalf(file.path()));
      if (use.takesName()) {
        advice.add(Advice.step("or give your name in allowed_signers: --as PRINCIPAL"));
      }
      throw ErrorCode.SIGNING_FAILED.error(
          "there is no %s: %s needs the public half of the key to find your name in %s"
              .formatted(file.publicFile(), use.command(), approvals.signers().allowed().file()),
          advice);
    }
    List<String> listed = approvals.signers().allowed().holders(half.get());
    if (listed.isEmpty()) {
      throw ErrorCode.SIGNING_FAILED.error(
          "your key " + text() + " is not in " + approvals.signers().allowed().file(),
          listing(approvals, UnixUser.me().user(), half.get(), submitter, namespaces));
    }
    List<String> holders = listed.stream().filter(AllowedSigners::isName).distinct().toList();
    if (holders.size() == 1) {
      return holders.get(0);
    }
    if (holders.isEmpty()) {
      throw ErrorCode.SIGNING_FAILED.error(
          "%s has only a pattern for your key %s: %s"
              .formatted(approvals.signers().allowed().file(), text(), String.join(", ", listed)),
          use.takesName()
              ? List.of(
                  Advice.step("give your own name, which the pattern matches: --as PRINCIPAL"))
              : listing(approvals, UnixUser.me().user(), half.get(), submitter, namespaces));
    }
    throw ErrorCode.SIGNING_FAILED.error(
        "%s has several names for your key %s: %s"
            .formatted(approvals.signers().allowed().file(), text(), String.join(", ", holders)),
        use.takesName()
            ? "say under which name you sign: --as " + holders.get(0)
            : "name a key that has one name: --key FILE");
  }

  /**
   * Returns the advice to add a key to allowed_signers: the line, and who may add it. A line for
   * the submitter would not help, so another person is named instead.
   *
   * @param principal the name for the key
   */
  public static List<Advice> listing(
      PolicyApprovals approvals,
      String principal,
      SshPublicKey key,
      Optional<UnixUser> submitter,
      String namespaces) {
    boolean own = submitter.isPresent() && submitter.get().mayBe(principal);
    if (own && !approvals.policy().selfApproval()) {
      List<String> others =
          approvals.signers().principals(Approval.NAMESPACE, Instant.now(), false).stream()
              .filter(name -> !submitter.get().mayBe(name))
              .toList();
      return List.of(
          Advice.step(
              ("%s submits this run, and submitters cannot approve their own runs: a line for %s"
                      + " would not help")
                  .formatted(principal, principal)),
          Advice.step(
              others.isEmpty()
                  ? "ask another person to make a key, and %s to add its line to %s"
                      .formatted(owners(approvals), approvals.signers().allowed().file())
                  : "ask " + String.join(" or ", others) + " to type this command"));
    }
    return List.of(
        Advice.step(
            "%s can add this line to %s:"
                .formatted(owners(approvals), approvals.signers().allowed().file())),
        Advice.step(line(principal, key, namespaces)));
  }

  /** Returns the line of allowed_signers for a key. */
  public static String line(String principal, SshPublicKey key, String namespaces) {
    return principal + " namespaces=\"" + namespaces + "\" " + key.line();
  }

  /** Returns the people who may change allowed_signers: its owner, and root. */
  public static String owners(PolicyApprovals approvals) {
    String owner = Workspace.ownerOf(Path.of(approvals.signers().allowed().file()));
    return owner + (owner.equals("root") ? "" : " or root");
  }

  /** Returns the public half; empty if no file of it is beside the key. */
  public Optional<SshPublicKey> publicKey() {
    return file.publicHalf();
  }

  /** Returns the key's path, and its fingerprint if the public half is beside it. */
  public String text() {
    return file.path() + file.publicHalf().map(half -> " (" + half.fingerprint() + ")").orElse("");
  }

  /** Signs an approval. ssh-keygen may ask for a passphrase or for a touch of a hardware token. */
  public ApprovalFile sign(Approval approval) {
    String armored = sign(approval.statement(), Approval.NAMESPACE);
    return ApprovalFile.parse(approval.fileName(), approval.statement() + armored);
  }

  /** Returns the armored signature of a text. */
  public String sign(String statement, String namespace) {
    return new SshKeygen(environment)
        .sign(file.path(), namespace, statement.getBytes(StandardCharsets.UTF_8));
  }
}
