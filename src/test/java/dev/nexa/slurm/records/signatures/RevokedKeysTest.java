package dev.nexa.slurm.records.signatures;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.approvals.Keys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RevokedKeysTest {
  @TempDir Path folder;

  @Test
  void aTextNamesKeysOrTheirFingerprints() {
    SshPublicKey lost = SshPublicKey.parse(Keys.line(Keys.make(folder, "lost")));
    SshPublicKey kept = SshPublicKey.parse(Keys.line(Keys.make(folder, "kept")));

    for (String line :
        new String[] {
          lost.line() + " ada's old laptop",
          "key: " + lost.line(),
          "sha256: " + lost.line(),
          lost.fingerprint(),
          "hash: " + lost.fingerprint(),
          "sha256:" + lost.fingerprint().substring(7),
        }) {
      RevokedKeys revoked = RevokedKeys.parse("f", ("# lost\n\n" + line + "\n").getBytes(UTF_8));
      assertThat(revoked.problems()).as(line).isEmpty();
      assertThat(revoked.names(lost)).as(line).isTrue();
      assertThat(revoked.names(kept)).as(line).isFalse();
    }
    assertThat(RevokedKeys.parse("f", "ada\n".getBytes(UTF_8)).problems())
        .containsExactly("f:1: expected a public key or SHA256:…");
  }

  @Test
  void aLineThatCanNotMatchAnyKeyIsAProblem() {
    SshPublicKey lost = SshPublicKey.parse(Keys.line(Keys.make(folder, "lost")));
    String whole = lost.fingerprint();

    assertThat(RevokedKeys.parse("f", (whole + "=\n").getBytes(UTF_8)).names(lost)).isTrue();
    for (String line :
        new String[] {
          "SHA256:tooshort",
          "SHA256:",
          "sha256:tooshort",
          "hash: SHA256:tooshort",
          whole + "A",
          whole.substring(0, whole.length() - 1) + "!",
          // Behind 32 bytes two bits are left, which are zero.
          whole.substring(0, whole.length() - 1) + "B",
          lost.line().substring(0, 40),
          lost.line().replaceFirst("AAAA.*", "AAAA"),
        }) {
      assertThat(RevokedKeys.parse("f", line.getBytes(UTF_8)).problems()).as(line).hasSize(1);
    }
  }

  @Test
  void aBinaryListIsSshKeygensToRead() throws Exception {
    Path lost = Keys.make(folder, "lost");
    Path kept = Keys.make(folder, "kept");
    Path list = folder.resolve("krl");
    Keys.run(folder, "ssh-keygen", "-q", "-k", "-f", "" + list, lost + ".pub");
    SshKeygen keygen = new SshKeygen(Map.of());

    assertThat(RevokedKeys.parse("f", Files.readAllBytes(list)).binary()).isTrue();
    assertThat(keygen.isRevoked(list, SshPublicKey.parse(Keys.line(lost)))).isTrue();
    assertThat(keygen.isRevoked(list, SshPublicKey.parse(Keys.line(kept)))).isFalse();
    assertThat(keygen.isRevoked(folder.resolve("none"), SshPublicKey.parse(Keys.line(kept))))
        .as("a list that can't be read")
        .isTrue();
  }
}
