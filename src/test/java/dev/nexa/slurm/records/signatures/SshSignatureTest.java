package dev.nexa.slurm.records.signatures;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.util.Arrays;
import java.util.Base64;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Ours against the real ssh-keygen. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class SshSignatureTest {
  private static final byte[] MESSAGE = "{\"max_cost\": \"500.00\"}\n".getBytes(UTF_8);

  /** Every n-th bit is flipped, from a random one; {@code -Dsignature.each=1} for every bit. */
  private static final int EACH = SuiteSize.of("signature.each", 11, 1);

  @TempDir Path folder;

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"ed25519, 256", "rsa, 3072", "ecdsa, 256", "ecdsa, 384", "ecdsa, 521"})
  void whatSshKeygenSignsIsTakenAndNoBitOfItMayFlip(String type, int bits) {
    Path key = Keys.make(folder, "key", type, bits);
    String armored = Keys.sign(key, "nexa-slurm", MESSAGE);
    SshSignature signature = SshSignature.parse(armored);

    assertThat(signature.verifies(MESSAGE)).isTrue();
    assertThat(signature.namespace()).isEqualTo("nexa-slurm");
    assertThat(signature.key().line()).isEqualTo(Keys.line(key));
    int begin = new Random().nextInt(EACH);
    for (int i = begin; i < MESSAGE.length * 8; i += EACH) {
      assertThat(signature.verifies(flipped(MESSAGE, i))).as("bit %d of the message", i).isFalse();
    }
    byte[] blob = blob(armored);
    for (int i = begin; i < blob.length * 8; i += EACH) {
      assertThat(isTaken(flipped(blob, i), key)).as("bit %d of the signature", i).isFalse();
    }
  }

  @ParameterizedTest(name = "{0} {1}")
  @CsvSource({"ed25519, 256", "rsa, 3072", "ecdsa, 256", "ecdsa, 384", "ecdsa, 521"})
  void ofWhatIsBrokenAtRandomOursTakesWhatSshKeygenTakes(String type, int bits) {
    Path key = Keys.make(folder, "key", type, bits);
    byte[] blob = blob(Keys.sign(key, "nexa-slurm", MESSAGE));
    String allowed = "boss@site " + Keys.line(key) + "\n";
    SplittableRandom random = new SplittableRandom(20261122);
    for (int i = 0; i < 40; i++) {
      byte[] broken = broken(blob, random, i);
      assertThat(isTaken(broken, key))
          .as("mutation %d", i)
          .isEqualTo(
              Keys.opensshTakes(
                  folder, allowed, "boss@site", "nexa-slurm", armored(broken), MESSAGE));
    }
  }

  /** The first is whole: the two agree on that too. */
  private static byte[] broken(byte[] blob, SplittableRandom random, int i) {
    int at = random.nextInt(blob.length);
    return switch (i % 5) {
      case 0 -> i == 0 ? blob : Arrays.copyOf(blob, at);
      case 1 -> flipped(blob, random.nextInt(blob.length * 8));
      case 2 -> Arrays.copyOf(blob, blob.length + 1 + random.nextInt(4));
      case 3 -> inserted(blob, at, (byte) random.nextInt(256));
      default -> {
        byte[] other = blob.clone();
        other[at] = 0;
        other[random.nextInt(blob.length)] = (byte) 0xff;
        yield other;
      }
    };
  }

  private static byte[] inserted(byte[] blob, int at, byte value) {
    byte[] longer = new byte[blob.length + 1];
    System.arraycopy(blob, 0, longer, 0, at);
    longer[at] = value;
    System.arraycopy(blob, at, longer, at + 1, blob.length - at);
    return longer;
  }

  @Test
  void theArmorHasOneForm() {
    String armored = Keys.sign(Keys.make(folder, "key"), "nexa-slurm", MESSAGE);

    for (Map.Entry<String, String> change :
        Map.of(
                armored + "\n",
                "has no whole SSH signature",
                armored.stripTrailing(),
                "has no whole SSH signature",
                "x" + armored,
                "has no whole SSH signature",
                armored.replace("\n", "\r\n"),
                "",
                armored.replaceFirst("U1NIU0lH", "U1NIU0lH="),
                "is not Base64",
                armored.replaceFirst("U1NIU0lH", "U1NI U0lH"),
                "is not Base64",
                armored.replace("\n-----END", "\n\n-----END"),
                "in a form that is not ssh-keygen's",
                armored.substring(0, armored.length() / 2),
                "has no whole SSH signature")
            .entrySet()) {
      assertThatThrownBy(() -> SshSignature.parse(change.getKey()))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(change.getValue());
    }
  }

  @Test
  void anOldOrForeignFormIsNamed() {
    Path key = Keys.make(folder, "key", "rsa", 2048);
    byte[] blob = blob(Keys.sign(key, "nexa-slurm", MESSAGE));

    byte[] version = blob.clone();
    version[9] = 2;
    assertThatThrownBy(() -> SshSignature.of(version)).hasMessageContaining("version 2, not 1");
    assertThatThrownBy(() -> SshSignature.of(replaced(blob, "rsa-sha2-512", "ecdsa-sha2-x")))
        .hasMessageContaining("they do not fit");
    assertThatThrownBy(() -> SshSignature.of(replaced(blob, "sha512", "sha1  ")))
        .hasMessageContaining("no plain text");
    assertThatThrownBy(() -> SshSignature.of(replaced(blob, "sha512", "sha384")))
        .hasMessageContaining("by hash sha384");
  }

  @Test
  void sha256AndRsaSha256AreTakenToo() {
    Path key = Keys.make(folder, "key");
    Path file = Keys.write(folder.resolve("m"), MESSAGE);
    Keys.run(
        folder,
        "ssh-keygen",
        "-q",
        "-Y",
        "sign",
        "-O",
        "hashalg=sha256",
        "-n",
        "nexa-slurm",
        "-f",
        "" + key,
        "" + file);

    assertThat(SshSignature.parse(Keys.read(folder.resolve("m.sig"))).verifies(MESSAGE)).isTrue();
  }

  @Test
  void aHardwareKeysSignatureIsSshKeygensToVerify() throws Exception {
    KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
    byte[] encoded = pair.getPublic().getEncoded();
    byte[] raw = Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length);
    String type = "sk-ssh-ed25519@openssh.com";
    byte[] blob = joined(string(type), string(raw), string("ssh:"));
    byte[] hash = SshPublicKey.digest("SHA-512", MESSAGE);
    byte[] toSign =
        joined(
            "SSHSIG".getBytes(UTF_8),
            string("nexa-slurm"),
            string(""),
            string("sha512"),
            string(hash));
    byte[] flagsAndCounter = {1, 0, 0, 0, 7};
    Signature signer = Signature.getInstance("Ed25519");
    signer.initSign(pair.getPrivate());
    signer.update(
        joined(
            SshPublicKey.digest("SHA-256", "ssh:".getBytes(UTF_8)),
            flagsAndCounter,
            SshPublicKey.digest("SHA-256", toSign)));
    byte[] value = joined(string(type), string(signer.sign()), flagsAndCounter);
    byte[] whole =
        joined(
            "SSHSIG".getBytes(UTF_8),
            new byte[] {0, 0, 0, 1},
            string(blob),
            string("nexa-slurm"),
            string(""),
            string("sha512"),
            string(value));
    SshKeygen keygen = new SshKeygen(Map.of());
    SshPublicKey key = SshPublicKey.of(blob);

    assertThat(SshSignature.parse(armored(whole)).key()).isEqualTo(key);
    assertThat(key.isSecurityKey()).isTrue();
    assertThat(keygen.verifies(key, "nexa-slurm", armored(whole), MESSAGE)).isTrue();
    assertThat(keygen.verifies(key, "nexa-slurm", armored(whole), flipped(MESSAGE, 3))).isFalse();
    assertThat(keygen.verifies(key, "git", armored(whole), MESSAGE)).isFalse();
  }

  private boolean isTaken(byte[] blob, Path key) {
    try {
      SshSignature signature = SshSignature.parse(armored(blob));
      return signature.namespace().equals("nexa-slurm")
          && signature.key().line().equals(Keys.line(key))
          && signature.verifies(MESSAGE);
    } catch (IllegalArgumentException broken) {
      return false;
    }
  }

  private static byte[] replaced(byte[] blob, String old, String other) {
    String text = new String(blob, java.nio.charset.StandardCharsets.ISO_8859_1);
    return text.replace(old, other).getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
  }

  private static byte[] flipped(byte[] bytes, int bit) {
    byte[] other = bytes.clone();
    other[bit / 8] ^= (byte) (1 << bit % 8);
    return other;
  }

  private static byte[] blob(String armored) {
    return Base64.getMimeDecoder()
        .decode(armored.replaceAll("-----[A-Z ]+-----", "").replace("\n", ""));
  }

  private static String armored(byte[] blob) {
    StringBuilder text = new StringBuilder(SshSignature.BEGIN);
    String base64 = Base64.getEncoder().encodeToString(blob);
    for (int i = 0; i < base64.length(); i += 70) {
      text.append(base64, i, Math.min(base64.length(), i + 70)).append('\n');
    }
    return text.append("-----END SSH SIGNATURE-----\n").toString();
  }

  private static byte[] string(String text) {
    return string(text.getBytes(UTF_8));
  }

  private static byte[] string(byte[] bytes) {
    return joined(new byte[] {0, 0, (byte) (bytes.length >> 8), (byte) bytes.length}, bytes);
  }

  private static byte[] joined(byte[]... parts) {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      all.writeBytes(part);
    }
    return all.toByteArray();
  }
}
