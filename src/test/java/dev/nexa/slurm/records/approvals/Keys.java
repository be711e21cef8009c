package dev.nexa.slurm.records.approvals;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.nexa.slurm.records.signatures.SshPublicKey;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Keys and signatures of the real ssh-keygen. */
public final class Keys {
  private Keys() {}

  /** Makes a key without a passphrase; its public half lies beside it. */
  public static Path make(Path folder, String name, String type, int bits) {
    Path key = folder.resolve(name);
    run(
        folder,
        "ssh-keygen",
        "-q",
        "-N",
        "",
        "-C",
        name,
        "-t",
        type,
        "-b",
        "" + bits,
        "-f",
        "" + key);
    return key;
  }

  /** An ed25519 key. */
  public static Path make(Path folder, String name) {
    return make(folder, name, "ed25519", 256);
  }

  /** The public half as a line of allowed_signers holds it, without the comment. */
  public static String line(Path key) {
    return SshPublicKey.parse(read(Path.of(key + ".pub"))).line();
  }

  public static String sign(Path key, String namespace, byte[] message) {
    Path file = write(key.resolveSibling("message"), message);
    Path signature = key.resolveSibling("message.sig");
    try {
      Files.deleteIfExists(signature);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    run(
        key.getParent(),
        "ssh-keygen",
        "-q",
        "-Y",
        "sign",
        "-n",
        namespace,
        "-f",
        "" + key,
        "" + file);
    return read(signature);
  }

  /** Whether ssh-keygen takes the signature as the principal's. */
  public static boolean opensshTakes(
      Path folder,
      String allowed,
      String principal,
      String namespace,
      String armored,
      byte[] message) {
    Path signers = write(folder.resolve("allowed"), allowed.getBytes(UTF_8));
    Path signature = write(folder.resolve("sig"), armored.getBytes(UTF_8));
    Path file = write(folder.resolve("text"), message);
    return status(
            file,
            folder,
            List.of(
                "ssh-keygen",
                "-Y",
                "verify",
                "-n",
                namespace,
                "-f",
                "" + signers,
                "-I",
                principal,
                "-s",
                "" + signature))
        == 0;
  }

  /** Runs a program, which must go well. */
  public static void run(Path folder, String... argv) {
    int status = status(null, folder, List.of(argv));
    if (status != 0) {
      throw new IllegalStateException(String.join(" ", argv) + ": " + status);
    }
  }

  private static int status(Path input, Path folder, List<String> argv) {
    try {
      ProcessBuilder builder =
          new ProcessBuilder(new ArrayList<>(argv))
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD);
      if (input != null) {
        builder.redirectInput(input.toFile());
      }
      return builder.directory(folder.toFile()).start().waitFor();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  public static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  public static Path write(Path file, byte[] content) {
    try {
      return Files.write(file, content);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
