package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.approvals.Approval;
import dev.nexa.slurm.records.approvals.ApprovalEnvelope;
import dev.nexa.slurm.records.approvals.ApprovalFile;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.approvals.Signers;
import dev.nexa.slurm.records.signatures.AllowedSigners;
import dev.nexa.slurm.records.signatures.RevokedKeys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Whose signature on a release counts. Nothing that was signed for another purpose does. */
class ReleaseSignaturesTest {
  private static final Instant NOW = Instant.parse("2025-11-10T12:00:00Z");

  @TempDir Path folder;
  private Path key = Path.of("");
  private ReleaseFolder release = new ReleaseFolder(Path.of(""));

  @BeforeEach
  void makeRelease() throws IOException {
    folder = folder.toRealPath();
    key = Keys.make(folder, "boss");
    Path model = Models.llama(folder.resolve("checkpoints/final"));
    release =
        new PackageRelease(folder.toString(), DurableFiles.onDisk())
            .run(Models.draft("demo", model), Progress.NONE)
            .folder();
  }

  private Signers signers(String options, RevokedKeys revoked) {
    String line = "boss@site " + options + " " + Keys.line(key) + "\n";
    return new Signers(
        AllowedSigners.parse("allowed_signers", line, ZoneOffset.UTC),
        revoked,
        Optional.empty(),
        new SshKeygen(Map.of("PATH", "/usr/bin:/bin")));
  }

  private String armored(String namespace, String text) {
    return new SshKeygen(Map.of("PATH", "/usr/bin:/bin"))
        .sign(key, namespace, text.getBytes(StandardCharsets.UTF_8));
  }

  private SignOff signOff(String name, String digest, String namespace) {
    SignOff unsigned = new SignOff(name, digest, "boss@site", NOW, "");
    return new SignOff(name, digest, "boss@site", NOW, armored(namespace, unsigned.statement()));
  }

  /** The reason why the signature does not count; empty if it does. */
  private String judged(String text, Signers signers, boolean selfApproval, Instant now)
      throws IOException {
    Files.writeString(release.signatures().resolve("boss@site.json"), text);
    ReleaseSignatures all =
        ReleaseSignatures.of(ReleaseContent.signed(release), signers, selfApproval, now);
    assertThat(all.all()).hasSize(1);
    assertThat(all.valid()).hasSize(all.all().get(0).refusal().isEmpty() ? 1 : 0);
    return all.all().get(0).refusal().orElse("");
  }

  private String judged(String text, Signers signers) throws IOException {
    return judged(text, signers, false, NOW);
  }

  @Test
  void aSignatureCountsForThisReleaseOnly() throws IOException {
    Signers any = signers("", RevokedKeys.NONE);
    SignOff right = signOff("demo", release.digest(), SignOff.NAMESPACE);

    assertThat(judged(right.text(), any)).isEmpty();
    assertThat(judged(right.text(), signers("namespaces=\"nexa-slurm\"", RevokedKeys.NONE)))
        .contains("may not sign for nexa-slurm-release");
    assertThat(judged(signOff("other", release.digest(), SignOff.NAMESPACE).text(), any))
        .contains("it is for the release other");
    assertThat(judged(signOff("demo", "0".repeat(64), SignOff.NAMESPACE).text(), any))
        .contains("another content");
    assertThat(judged(right.text().replace("12:00:00Z", "12:00:01Z"), any))
        .contains("it was edited, or is forged");
    assertThat(judged(right.text() + "\n", any)).contains("not written as nexa-slurm writes");
    assertThat(judged("{}", any)).isNotEmpty();
    assertThat(judged(right.text(), signers("valid-before=\"20251109\"", RevokedKeys.NONE)))
        .contains("is not valid at");
    assertThat(
            judged(
                right.text(),
                signers("valid-before=\"20251111\"", RevokedKeys.NONE),
                false,
                NOW.plusSeconds(900_000)))
        .contains("is not valid at");
    RevokedKeys revoked =
        RevokedKeys.parse("revoked", Keys.line(key).getBytes(StandardCharsets.UTF_8));
    assertThat(judged(right.text(), signers("", revoked))).contains("is revoked");
  }

  /** The draft's run ended on 2025-11-01 at 15:00. Hosts' clocks may differ by five minutes. */
  @ParameterizedTest
  @CsvSource({
    "2025-01-01T00:00:00Z, before the run ended at 2025-11-01T15:00:00Z",
    "2025-11-01T14:54:59Z, before the run ended at 2025-11-01T15:00:00Z",
    "2025-11-01T14:55:00Z, ''",
    "2025-11-01T15:00:00Z, ''",
    "2025-11-10T12:05:00Z, ''",
    "2025-11-10T12:05:01Z, and it is only 2025-11-10T12:00:00Z",
    "2030-01-01T00:00:00Z, and it is only 2025-11-10T12:00:00Z"
  })
  void aSignatureIsMadeAfterTheRunAndBeforeNow(Instant at, String refusal) throws IOException {
    SignOff unsigned = new SignOff("demo", release.digest(), "boss@site", at, "");
    SignOff signed =
        new SignOff(
            "demo",
            release.digest(),
            "boss@site",
            at,
            armored(SignOff.NAMESPACE, unsigned.statement()));
    String judged = judged(signed.text(), signers("", RevokedKeys.NONE));
    if (refusal.isEmpty()) {
      assertThat(judged).isEmpty();
    } else {
      assertThat(judged).contains(refusal);
    }
  }

  /** The model's run was submitted by ada; the draft says so. */
  @Test
  void submittersDoNotSignTheirOwn() throws IOException {
    Signers both =
        new Signers(
            AllowedSigners.parse(
                "allowed_signers",
                "boss@site " + Keys.line(key) + "\nada@site " + Keys.line(key) + "\n",
                ZoneOffset.UTC),
            RevokedKeys.NONE,
            Optional.empty(),
            new SshKeygen(Map.of()));
    String text = signOff("demo", release.digest(), SignOff.NAMESPACE).text();

    assertThat(judged(text, both)).contains("submitters cannot sign releases of their own runs");
    assertThat(judged(text, both, true, NOW)).isEmpty();
  }

  /** A signature on an approval, or for git, is none on a release. */
  @Test
  void anApprovalIsNoSignOff() throws IOException {
    Signers any = signers("", RevokedKeys.NONE);
    for (String namespace : List.of(Approval.NAMESPACE, "git", "file")) {
      assertThat(judged(signOff("demo", release.digest(), namespace).text(), any))
          .contains("was made for '" + namespace + "', not for 'nexa-slurm-release'");
    }
    Approval approval = envelope();
    SignOff replayed =
        new SignOff(
            "demo",
            release.digest(),
            "boss@site",
            NOW,
            armored(SignOff.NAMESPACE, approval.statement()));
    assertThat(judged(replayed.text(), any)).contains("it was edited, or is forged");
  }

  /** And the other way round. */
  @Test
  void aSignOffIsNoApproval() {
    Signers any = signers("", RevokedKeys.NONE);
    Approval approval = envelope();
    ApprovalFile right =
        ApprovalFile.parse(
            "x", approval.statement() + armored(Approval.NAMESPACE, approval.statement()));
    assertThat(any.refusal(right, NOW)).isEmpty();
    ApprovalFile replayed =
        ApprovalFile.parse(
            "x", approval.statement() + armored(SignOff.NAMESPACE, approval.statement()));
    assertThat(any.refusal(replayed, NOW).orElseThrow())
        .contains("was made for 'nexa-slurm-release', not for 'nexa-slurm'");
    SignOff signOff = signOff("demo", release.digest(), SignOff.NAMESPACE);
    assertThatThrownBy(() -> ApprovalFile.parse("x", signOff.statement() + signOff.armored()))
        .isInstanceOf(NexaException.class);
  }

  private static Approval envelope() {
    return new Approval(
        "0123456789abcdef",
        "boss@site",
        NOW,
        NOW.plusSeconds(86_400),
        1,
        new Money(BigDecimal.TEN, "USD"),
        false,
        Optional.empty(),
        new ApprovalEnvelope(
            "all",
            List.of("**"),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            Optional.empty()));
  }
}
