package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.signatures.SigningFailure;
import dev.nexa.slurm.records.signatures.SshPublicKey;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The file of a signing key: a private key, or the public half of a key in an agent or a token.
 *
 * @param path the file; absolute
 * @param environment the user's variables, which name the agent
 */
public record KeyFile(Path path, Map<String, String> environment) {
  /** A private key of RSA-16384 has 13 KB; a longer file is not a key. */
  private static final int LONGEST = 1 << 16;

  private static final int OTHERS = 077;
  private static final String PRIVATE_KEY_BEGINS = "the first line `-----BEGIN … PRIVATE KEY-----`";

  /**
   * Checks that ssh-keygen can use the file, as far as this can be seen before it is called.
   *
   * @throws NexaException if it cannot
   */
  void requireUsable() {
    Optional<Path> closed = closedFolder();
    if (closed.isPresent()) {
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: you may not look into %s, which belongs to %s, so you may not read %s"
              .formatted(closed.get(), Workspace.ownerOf(closed.get()), path),
          ownKeys());
    }
    if (!Files.exists(path)) {
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: the file " + path + " does not exist",
          Files.isRegularFile(publicFile())
              ? List.of(
                  Advice.step(
                      "if an agent or a token holds the private key, name the public half: --key "
                          + publicFile()))
              : ownKeys());
    }
    if (!Files.isRegularFile(path)) {
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: " + path + " is not a file", "name a key in it: --key " + path + "/KEY");
    }
    if (!Files.isReadable(path)) {
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: you may not read " + path + ", which belongs to " + Workspace.ownerOf(path),
          ownKeys());
    }
    String text = latin(path);
    if (!isPrivateKey(text)) {
      if (path.toString().endsWith(".pub") || isPublicKey(text)) {
        return;
      }
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: " + path + " is not an SSH private key: " + PRIVATE_KEY_BEGINS + " is missing",
          ownKeys());
    }
    if (text.indexOf('\r') >= 0) {
      throw ErrorCode.SIGNING_FAILED.error(
          "--key: " + path + " has Windows line ends, which ssh-keygen can't read",
          Advice.command("removes them; then type this again", "sed", "-i", "s/\\r$//", path));
    }
    // An agent may hold the key, and then ssh-keygen does not look at the file.
    boolean agent = !environment.getOrDefault("SSH_AUTH_SOCK", "").isEmpty();
    if (!agent || !Files.exists(publicFile())) {
      tooOpen();
    }
  }

  /** ssh-keygen refuses a key of yours that others can access; root's keys of others it takes. */
  private void tooOpen() {
    try {
      int mode = (Integer) Files.getAttribute(path, "unix:mode") & 0777;
      if ((mode & OTHERS) != 0
          && Files.getOwner(path).equals(Files.getOwner(Path.of("/proc/self")))) {
        throw SigningFailure.tooOpen(path, String.format("%04o", mode));
      }
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException noModes) {
      // ssh-keygen reports what it does not accept.
    }
  }

  private static boolean isPrivateKey(String text) {
    return text.startsWith("-----BEGIN ")
        && text.lines().findFirst().orElse("").contains("PRIVATE KEY");
  }

  private static boolean isPublicKey(String text) {
    try {
      SshPublicKey.parse(text);
      return true;
    } catch (SshPublicKey.MayNotSignException weak) {
      return true;
    } catch (IllegalArgumentException no) {
      return false;
    }
  }

  /** Returns the file's text; empty for a file that is too long for a key. */
  private static String latin(Path file) {
    return file.toFile().length() > LONGEST
        ? ""
        : new String(DurableFiles.readBytes(file), StandardCharsets.ISO_8859_1);
  }

  /** Returns the folder above the file that this user may not enter; empty if there is none. */
  private Optional<Path> closedFolder() {
    Path folder = path.getRoot();
    for (Path name : path) {
      if (!Files.isDirectory(folder)) {
        break;
      }
      if (!Files.isExecutable(folder)) {
        return Optional.of(folder);
      }
      folder = folder.resolve(name);
    }
    return Optional.empty();
  }

  /** Returns the advice that leads to a key of this user: their own keys, or a new one. */
  private List<Advice> ownKeys() {
    Path folder = Path.of(environment.getOrDefault("HOME", "/"), ".ssh");
    return Files.isDirectory(folder)
        ? List.of(Advice.command("lists your keys", "ls", folder), makesKey())
        : List.of(makesKey());
  }

  private static Advice makesKey() {
    return Advice.command("makes a new key, which can sign", "ssh-keygen", "-t", "ed25519");
  }

  /**
   * Returns the public half; empty if there is no file of it.
   *
   * @throws NexaException if the file is not a public key that may sign
   */
  Optional<SshPublicKey> publicHalf() {
    Path file = publicFile();
    try {
      return Files.isRegularFile(file)
          ? Optional.of(SshPublicKey.parse(latin(file)))
          : Optional.empty();
    } catch (SshPublicKey.MayNotSignException weak) {
      throw ErrorCode.SIGNING_FAILED.error(file + " " + weak.getMessage(), weak, makesKey());
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.SIGNING_FAILED.error(
          file + " is not a public key that can sign approvals: " + broken.getMessage(),
          broken,
          file.equals(path)
              ? Advice.step("name another key: --key PATH")
              : SigningFailure.makesPublicHalf(path));
    }
  }

  /** Returns the file of the public half, which is the key itself if that is a public key. */
  Path publicFile() {
    String name = path.toString();
    boolean isPublic =
        name.endsWith(".pub") || (Files.isRegularFile(path) && isPublicKey(latin(path)));
    return isPublic ? path : Path.of(name + ".pub");
  }
}
