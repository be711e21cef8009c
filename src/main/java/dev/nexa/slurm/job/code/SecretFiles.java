package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.text.Secrets;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Recognizes files that hold secrets, by their names and their content. Pure. */
public final class SecretFiles {
  private static final Set<String> NAMES =
      Set.of(
          (".env .netrc .pgpass .git-credentials .htpasswd .vault-token"
                  + " id_rsa id_dsa id_ecdsa id_ecdsa_sk id_ed25519 id_ed25519_sk")
              .split(" ", -1));

  private static final List<String> ENDINGS =
      List.of(".p12", ".pfx", ".ppk", ".keytab", ".jks", ".kdbx");

  /** Copies of {@code .env} that hold no values, such as {@code .env.example}. */
  private static final Set<String> HARMLESS =
      Set.of(".env.example", ".env.sample", ".env.template", ".env.dist");

  /** Larger files are not read for secrets; configs and keys are small. */
  static final int MOST_BYTES = 1 << 20;

  private SecretFiles() {}

  /** Returns what a file probably holds, by its path; empty for an ordinary file. */
  static Optional<String> byName(String path) {
    String name = path.substring(path.lastIndexOf('/') + 1).toLowerCase(Locale.ROOT);
    boolean variables = name.startsWith(".env.") && !HARMLESS.contains(name);
    if (variables || NAMES.contains(name) || path.endsWith(".aws/credentials")) {
      return Optional.of("a file of secrets, by its name");
    }
    return ENDINGS.stream().anyMatch(name::endsWith)
        ? Optional.of("a file of private keys, by its name")
        : Optional.empty();
  }

  /**
   * Returns the kind of secret that a file holds; empty for an ordinary file, and for a file that
   * is not UTF-8 text.
   */
  public static Optional<String> byContent(byte[] content, int length) {
    try {
      ByteBuffer text = ByteBuffer.wrap(content, 0, length);
      return Secrets.inSource(StandardCharsets.UTF_8.newDecoder().decode(text).toString());
    } catch (CharacterCodingException binary) {
      return Optional.empty();
    }
  }
}
