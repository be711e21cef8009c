package dev.nexa.slurm.approve;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.process.Command;
import dev.nexa.slurm.process.CommandResult;
import dev.nexa.slurm.process.CommandRunner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * ssh-keygen: signs with whatever key a person has (in a file, an agent, a token), and checks what
 * Java's own classes do not: hardware keys' signatures and binary revocation lists.
 *
 * @param environment the person's own: it finds the agent, and asks for the passphrase
 */
public record SshKeygen(Map<String, String> environment) {
  /** A person may have to look for a token, and to touch it. */
  private static final Duration PATIENCE = Duration.ofMinutes(5);

  /** What is checked is not up to the submitter's PATH. */
  private static final Map<String, String> FIXED =
      Map.of("PATH", "/usr/bin:/bin:/usr/local/bin", "LC_ALL", "C");

  /** What ssh-keygen -Y verify reads it reads from standard input. */
  private static final String VERIFY =
      "exec ssh-keygen -Y verify -n \"$1\" -f \"$2\" -I signer -s \"$3\" <\"$4\"";

  /**
   * The signature of these bytes, armored.
   *
   * @param key the private key's file, or the public one's where an agent or a token has the other
   */
  public String sign(Path key, String namespace, byte[] message) {
    return inFolder(
        folder -> {
          Path statement = write(folder, "statement", message);
          List<String> argv =
              List.of("ssh-keygen", "-Y", "sign", "-n", namespace, "-f", "" + key, "" + statement);
          CommandResult result = run(argv, environment, folder);
          if (!result.succeeded()) {
            throw new NexaException(
                ExitCode.USAGE,
                "ssh-keygen did not sign with " + key + ": " + result.err().strip(),
                "`ssh-add -l` shows the agent's keys; --key names another");
          }
          return DurableFiles.read(folder.resolve("statement.sig"));
        });
  }

  /** Whether ssh-keygen says that the key signed these bytes. */
  public boolean verifies(SshPublicKey key, String namespace, String armored, byte[] message) {
    return inFolder(
        folder -> {
          Path allowed = write(folder, "allowed", bytes("signer " + key.line() + "\n"));
          Path signature = write(folder, "sig", bytes(armored));
          Path statement = write(folder, "statement", message);
          List<String> argv =
              List.of(
                  "/bin/sh",
                  "-c",
                  VERIFY,
                  "sh",
                  namespace,
                  "" + allowed,
                  "" + signature,
                  "" + statement);
          return run(argv, FIXED, folder).succeeded();
        });
  }

  /** Whether a binary list revokes the key; one that can't be read revokes every key. */
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
      throw new NexaException(
          ExitCode.USAGE,
          "ssh-keygen can't be started: " + missing.getMessage(),
          missing,
          "it comes with OpenSSH's client, 8.2 or newer");
    }
  }

  private static Path write(Path folder, String name, byte[] content) throws IOException {
    return Files.write(folder.resolve(name), content);
  }

  private interface Work<T> {
    T in(Path folder) throws IOException;
  }

  /** In a folder that nobody else can look into. */
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
