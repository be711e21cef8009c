package dev.nexa.slurm.records.signatures;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Calls ssh-keygen. It signs with any key that the user has (in a file, an agent or a hardware
 * token). It also makes the checks that Java cannot make: signatures of hardware keys and binary
 * revocation lists.
 *
 * @param environment the user's variables; ssh-keygen needs them to find the agent and to ask for a
 *     passphrase
 */
public record SshKeygen(Map<String, String> environment) {
  /** The user may have to fetch a hardware token and touch it. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** Checks run with a fixed PATH, so that the submitter cannot substitute another ssh-keygen. */
  private static final Map<String, String> FIXED =
      Map.of("PATH", "/usr/bin:/bin:/usr/local/bin", "LC_ALL", "C");

  /** ssh-keygen -Y verify reads the message from standard input. */
  private static final String VERIFY =
      "exec ssh-keygen -Y verify -n \"$1\" -f \"$2\" -I signer -s \"$3\" <\"$4\"";

  /**
   * Returns the armored signature of the message.
   *
   * @param key the file of the private key, or of the public key if an agent or token holds the
   *     private key
   * @throws NexaException if ssh-keygen does not sign
   */
  public String sign(Path key, String namespace, byte[] message) {
    return inFolder(
        folder -> {
          Path statement = write(folder, "statement", message);
          List<String> argv =
              List.of("ssh-keygen", "-Y", "sign", "-n", namespace, "-f", "" + key, "" + statement);
          CommandResult result = run(argv, environment, folder);
          if (!result.succeeded()) {
            throw SigningFailure.of(key, result.err().strip(), environment);
          }
          return DurableFiles.read(folder.resolve("statement.sig"));
        });
  }

  /** Returns whether ssh-keygen confirms that the key signed the message. */
  public boolean verifies(SshPublicKey key, String namespace, String armored, byte[] message) {
    return inFolder(
        folder -> {
          Path allowed = write(folder, "allowed", bytes("signer " + key.line() + "\n"));
          Path signature = write(folder, "sig", bytes(armored));
          Path statement = write(folder, "statement", message);
          List<String> argv = new ArrayList<>(List.of("/bin/sh", "-c", VERIFY, "sh", namespace));
          List.of(allowed, signature, statement).forEach(file -> argv.add(file.toString()));
          return run(argv, FIXED, folder).succeeded();
        });
  }

  /**
   * Returns whether a binary list revokes the key; true for every key if the list cannot be read.
   */
  public boolean isRevoked(Path list, SshPublicKey key) {
    return inFolder(
        folder -> {
          Path file = write(folder, "key.pub", bytes(key.line() + "\n"));
          List<String> argv =
              List.of("ssh-keygen", "-Q", "-f", "" + list.toAbsolutePath(), "" + file);
          return !run(argv, FIXED, folder).succeeded();
        });
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static CommandResult run(List<String> argv, Map<String, String> environment, Path folder)
      throws IOException {
    try {
      return new CommandRunner().run(new Command(argv, environment, folder, PATIENCE));
    } catch (IOException missing) {
      throw ErrorCode.SIGNING_FAILED.error(
          "ssh-keygen can't be started: " + missing.getMessage(),
          missing,
          Advice.step("it comes with OpenSSH's client, 8.2 or newer"));
    }
  }

  private static Path write(Path folder, String name, byte[] content) throws IOException {
    return Files.write(folder.resolve(name), content);
  }

  private interface Work<T> {
    T in(Path folder) throws IOException;
  }

  /** Runs the work in a temporary folder that no other user can read, then deletes the folder. */
  private static <T> T inFolder(Work<T> work) {
    try {
      Path folder = Files.createTempDirectory("nexa-approve");
      try {
        return work.in(folder);
      } finally {
        try (Stream<Path> files = Files.list(folder)) {
          for (Path file : files.toList()) {
            Files.delete(file);
          }
        }
        Files.delete(folder);
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("write", Path.of(System.getProperty("java.io.tmpdir")), failed);
    }
  }
}
