package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The keys whose signatures no longer count.
 *
 * <p>A text file holds a public key or a {@code SHA256:…} fingerprint on each line, optionally
 * after a word of ssh-keygen(1), KEY REVOCATION LISTS ({@code key:}, {@code sha256:}, {@code
 * hash:}). ssh-keygen reads binary lists for us.
 *
 * @param fingerprints fingerprints of the revoked keys
 * @param problems lines that cannot be read. With such a line, we trust no signature
 * @param binary whether the file is a binary list of {@code ssh-keygen -k}
 */
public record RevokedKeys(Set<String> fingerprints, List<String> problems, boolean binary) {
  /** No key is revoked. */
  public static final RevokedKeys NONE = new RevokedKeys(Set.of(), List.of(), false);

  private static final byte[] BINARY = "SSHKRL\n\0".getBytes(StandardCharsets.US_ASCII);

  /**
   * Reads the file's bytes. It never throws: bad lines become problems.
   *
   * @param file the file's name for messages
   */
  public static RevokedKeys parse(String file, byte[] bytes) {
    if (bytes.length >= BINARY.length && Arrays.equals(bytes, 0, BINARY.length, BINARY, 0, 8)) {
      return new RevokedKeys(Set.of(), List.of(), true);
    }
    Set<String> fingerprints = new HashSet<>();
    List<String> problems = new ArrayList<>();
    String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i].strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      try {
        fingerprints.add(fingerprint(line));
      } catch (IllegalArgumentException broken) {
        problems.add(file + ":" + (i + 1) + ": " + broken.getMessage());
      }
    }
    return new RevokedKeys(fingerprints, problems, false);
  }

  private static String fingerprint(String line) {
    String lower = line.toLowerCase(Locale.ROOT);
    String rest = line;
    for (String word : List.of("key:", "sha1:", "hash:", "sha256:")) {
      boolean names = lower.startsWith(word) && !line.startsWith("SHA256:");
      rest = names ? line.substring(word.length()).strip() : rest;
    }
    String[] words = rest.split("[ \t]+", 3);
    if (words[0].startsWith("SHA256:")) {
      return whole(words[0].substring("SHA256:".length()));
    }
    if (words.length == 1 && lower.startsWith("sha256:")) {
      return whole(words[0]);
    }
    require(
        words.length >= 2 && SshPublicKey.isTypeName(words[0]),
        "expected a public key or SHA256:…");
    byte[] blob = SshPublicKey.decoded(words[1]);
    requireKey(words[0], blob);
    return SshPublicKey.fingerprint(blob);
  }

  /** Rejects a fingerprint that no key can have, because it would silently revoke nothing. */
  private static String whole(String digest) {
    String bare = digest.replaceAll("=+$", "");
    byte[] bytes = SshPublicKey.decoded(bare);
    require(
        bytes.length == 32
            && Base64.getEncoder().withoutPadding().encodeToString(bytes).equals(bare),
        "expected SHA256: and the 43 letters that ssh-keygen -l prints, got '" + digest + "'");
    return "SHA256:" + bare;
  }

  /** Rejects a key that is cut short, because it would silently revoke nothing. */
  private static void requireKey(String type, byte[] blob) {
    SshWire wire = new SshWire(blob);
    String held = wire.name();
    require(held.equals(type), "says " + type + " and holds a key " + held);
    require(!type.contains("-cert-v0"), "is a certificate: write the public key that it certifies");
    do {
      wire.string();
    } while (!wire.isAtEnd());
  }

  /** Returns whether the text list names the key. A binary list names none here. */
  public boolean names(SshPublicKey key) {
    return fingerprints.contains(key.fingerprint());
  }
}
