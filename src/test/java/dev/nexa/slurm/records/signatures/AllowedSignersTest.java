package dev.nexa.slurm.records.signatures;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.Signers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AllowedSignersTest {
  private static final byte[] MESSAGE = "text".getBytes(UTF_8);

  @TempDir static Path folder;
  private static String key;
  private static String signature;

  @BeforeAll
  static void sign() {
    Path made = Keys.make(folder, "key");
    key = Keys.line(made);
    signature = Keys.sign(made, "nexa-slurm", MESSAGE);
  }

  /** Each line with KEY for the key; ssh-keygen is asked the same. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "boss@site KEY",
        "boss@site KEY a comment",
        "  boss@site   KEY",
        "# a comment\n\nboss@site KEY",
        "ada@site,boss@site KEY",
        "*@site KEY",
        "boss@s?te KEY",
        "*@site,!boss@site KEY",
        "!boss@site,*@site KEY",
        "!ada@site,*@site KEY",
        "boss@lab KEY",
        "BOSS@site KEY",
        "\"boss@site\" KEY",
        "boss@site namespaces=\"nexa-slurm\" KEY",
        "boss@site namespaces=\"git\" KEY",
        "boss@site namespaces=\"git,nexa-*\" KEY",
        "boss@site NameSpaces=\"git,!nexa-slurm,*\" KEY",
        "boss@site valid-after=\"20200101\" KEY",
        "boss@site valid-after=\"20990101\" KEY",
        "boss@site valid-before=\"20200101\" KEY",
        "boss@site valid-before=\"209901010000Z\" KEY",
        "boss@site valid-after=\"20200101\",valid-before=\"20990101123456\" KEY",
        "boss@site namespaces=\"nexa-slurm\",valid-before=\"20990101\" KEY",
        "boss@site namespaces=\"nexa-slurm\",valid-before=\"19990101Z\" KEY",
        "ada@site valid-before=\"20200101\" KEY\nboss@site KEY",
        "boss@site valid-before=\"20200101\" KEY\nboss@site KEY",
      })
  void itIsReadAsSshKeygenReadsIt(String text) {
    String file = text.replace("KEY", key) + "\n";
    AllowedSigners signers = AllowedSigners.parse("f", file, ZoneId.systemDefault());

    assertThat(signers.problems()).isEmpty();
    assertThat(refusal(signers).isEmpty())
        .isEqualTo(Keys.opensshTakes(folder, file, "boss@site", "nexa-slurm", signature, MESSAGE));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "boss@site",
        "garbage line",
        "boss@site namespaces=nexa-slurm KEY",
        "boss@site namespaces=\"nexa-slurm KEY",
        "boss@site valid-after=\"tomorrow\" KEY",
        "boss@site valid-after=\"20261399\" KEY",
        "boss@site valid-after=\"20260101\",valid-before=\"20250101\" KEY",
        "boss@site namespaces=\"a\",namespaces=\"b\" KEY",
        "boss@site no-touch KEY",
        "boss@site ssh-ed25519 AAAA",
        "boss@site ssh-rsa nonsense!",
        "\"boss@site KEY",
      })
  void whatNobodyCanReadIsAProblemWithItsLine(String text) {
    String file = "# first\n" + text.replace("KEY", key) + "\n";
    AllowedSigners signers = AllowedSigners.parse("signers", file, ZoneOffset.UTC);

    assertThat(signers.problems()).singleElement().asString().startsWith("signers:2: ");
    assertThat(refusal(signers)).isPresent();
    assertThat(Keys.opensshTakes(folder, file, "boss@site", "nexa-slurm", signature, MESSAGE))
        .isFalse();
  }

  @Test
  void authoritiesAndWeakKeysAreLeftOutAndSaySo() {
    Path weak = Keys.make(folder, "weak", "rsa", 1024);
    String line = Keys.read(Path.of(weak + ".pub")).strip();
    AllowedSigners signers =
        AllowedSigners.parse(
            "signers",
            "*@site cert-authority " + key + "\nboss@site " + line + "\n",
            ZoneOffset.UTC);

    assertThat(signers.entries()).isEmpty();
    assertThat(signers.problems()).isEmpty();
    assertThat(signers.ignored())
        .containsExactly(
            "signers:1: cert-authority is not taken: name the signers' own keys",
            "signers:2: is an RSA key of 1024 bits, and only RSA keys of at least 2048 bits can sign");
  }

  @Test
  void itSaysWhyAKeyMayNotSign() {
    AllowedSigners signers =
        AllowedSigners.parse(
            "signers",
            "boss@site valid-after=\"20260101Z\",valid-before=\"20260201Z\" " + key + "\n",
            ZoneOffset.UTC);
    SshPublicKey mine = SshPublicKey.parse(key);
    String what = "signers:1: the key " + mine.fingerprint();

    assertThat(signers.refusal("boss@site", mine, "n", Instant.parse("2026-01-15T00:00:00Z")))
        .isEmpty();
    assertThat(signers.refusal("ada@site", mine, "n", Instant.parse("2026-01-15T00:00:00Z")))
        .contains(what + " is of boss@site, not of ada@site");
    assertThat(signers.refusal("boss@site", mine, "n", Instant.parse("2026-02-02T00:00:00Z")))
        .contains(
            what
                + " is not valid at 2026-02-02T00:00:00Z (from 2026-01-01T00:00:00Z to"
                + " 2026-02-01T00:00:00Z)");
    assertThat(signers.holders(mine)).containsExactly("boss@site");
    Signers all = new Signers(signers, RevokedKeys.NONE, Optional.empty(), new SshKeygen(Map.of()));
    assertThat(all.principals("n", Instant.parse("2026-01-15T00:00:00Z"), false))
        .isEqualTo(List.of("boss@site"));
    assertThat(all.principals("n", Instant.parse("2027-01-15T00:00:00Z"), false)).isEmpty();
  }

  @Test
  void timesWithoutZAreLocal() {
    ZoneId tokyo = ZoneId.of("Asia/Tokyo");

    assertThat(KeyValidity.parse("20260101", tokyo)).isEqualTo("2025-12-31T15:00:00Z");
    assertThat(KeyValidity.parse("202601010930", tokyo)).isEqualTo("2026-01-01T00:30:00Z");
    assertThat(KeyValidity.parse("20260101093015Z", tokyo)).isEqualTo("2026-01-01T09:30:15Z");
  }

  /** Neither TZ nor Java's own zone: both are the submitter's. */
  @Test
  void theZoneIsTheMachines(@TempDir Path folder) throws IOException {
    Path tokyo = folder.resolve("zoneinfo/Asia/Tokyo");
    Files.createDirectories(tokyo.getParent());
    Files.writeString(tokyo, "TZif");
    Path link = Files.createSymbolicLink(folder.resolve("localtime"), tokyo);

    assertThat(KeyValidity.zone(link)).isEqualTo(ZoneId.of("Asia/Tokyo"));
    assertThat(KeyValidity.zone(tokyo.resolveSibling("none"))).isEqualTo(ZoneOffset.UTC);
    assertThat(KeyValidity.zone(Files.writeString(folder.resolve("copy"), "TZif")))
        .isEqualTo(ZoneOffset.UTC);
  }

  private static java.util.Optional<String> refusal(AllowedSigners signers) {
    return signers.refusal("boss@site", SshPublicKey.parse(key), "nexa-slurm", Instant.now());
  }
}
