package dev.nexa.slurm.storage.oms;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Keys as openssl and ssh-keygen write them. */
class EcKeysTest {
  private static final byte[] MESSAGE = "a message".getBytes(StandardCharsets.UTF_8);

  @TempDir Path folder;

  static void run(Path folder, String... words) throws Exception {
    Process process =
        new ProcessBuilder(words)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("said").toFile())
            .start();
    assertThat(process.waitFor()).as(Files.readString(folder.resolve("said"))).isZero();
  }

  private String read(String name) throws Exception {
    return Files.readString(folder.resolve(name));
  }

  @ParameterizedTest
  @CsvSource({"prime256v1, 256", "secp384r1, 384", "secp521r1, 521"})
  void keysOfAllFormsSign(String curve, String bits) throws Exception {
    run(folder, "openssl", "ecparam", "-name", curve, "-genkey", "-noout", "-out", "sec1");
    run(folder, "openssl", "pkcs8", "-topk8", "-nocrypt", "-in", "sec1", "-out", "pkcs8");
    run(folder, "openssl", "ec", "-in", "sec1", "-pubout", "-out", "public");
    run(folder, "ssh-keygen", "-q", "-t", "ecdsa", "-b", bits, "-N", "", "-f", "ssh");
    for (List<String> pair :
        List.of(List.of("sec1", "public"), List.of("pkcs8", "public"), List.of("ssh", "ssh.pub"))) {
      KeyPair key = EcKeys.pair(read(pair.get(0)));
      byte[] signature = EcKeys.sign(key, MESSAGE);
      assertThat(EcKeys.verifies(EcKeys.publicKey(read(pair.get(1))), MESSAGE, signature))
          .as("%s", pair)
          .isTrue();
      assertThat(EcKeys.hint(key.getPublic()))
          .isEqualTo(EcKeys.hint(EcKeys.publicKey(read(pair.get(1)))));
    }
  }

  @Test
  void otherKeysAreRefusedInWords() throws Exception {
    run(folder, "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "ed");
    run(folder, "ssh-keygen", "-q", "-t", "ecdsa", "-N", "secret", "-f", "locked");
    run(folder, "openssl", "ecparam", "-name", "secp256k1", "-genkey", "-noout", "-out", "koblitz");
    run(folder, "openssl", "genpkey", "-algorithm", "RSA", "-out", "rsa");

    refused("ed", "of type ssh-ed25519");
    refused("locked", "needs a passphrase");
    refused("koblitz", "not of the curve P-256, P-384 or P-521");
    refused("rsa", "is no ECDSA key");
    refused("said", "no private key");
    assertThatThrownBy(() -> EcKeys.publicKey(read("ed.pub"))).isInstanceOf(OmsException.class);
  }

  private void refused(String file, String words) {
    assertThatThrownBy(() -> EcKeys.pair(read(file)))
        .isInstanceOf(OmsException.class)
        .hasMessageContaining(words);
  }

  /** Each cut and each flipped byte of a key's block is an error in words, or another key. */
  @Test
  void aBrokenKeyIsRefused() throws Exception {
    run(folder, "ssh-keygen", "-q", "-t", "ecdsa", "-N", "", "-f", "ssh");
    String text = read("ssh");
    for (int cut = 40; cut < text.length() - 40; cut += 7) {
      String broken = text.substring(0, cut) + text.substring(cut + 5);
      try {
        EcKeys.sign(EcKeys.pair(broken), MESSAGE);
      } catch (OmsException refused) {
        assertThat(refused.getMessage()).isNotBlank();
      }
    }
  }
}
