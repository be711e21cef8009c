package dev.nexa.slurm.storage.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.records.signatures.SshKeygen;
import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReleaseHistoryTest {
  @TempDir Path folder;
  private DeploySite site;

  @BeforeEach
  void threeDeployments() {
    site = new DeploySite(folder);
    site.deploy("a");
    site.deploy("b");
    site.deploy("c");
  }

  @Test
  void aWholeHistoryHasNoProblems() {
    ReleaseHistory.Content content = site.history().read();

    assertThat(content.problems()).isEmpty();
    assertThat(site.history().signatureProblems(content, site.signers())).isEmpty();
    assertThat(content.lines())
        .extracting(line -> line.what().action())
        .containsExactly(
            Action.DEPLOYING,
            Action.DEPLOYED,
            Action.DEPLOYING,
            Action.DEPLOYED,
            Action.DEPLOYING,
            Action.DEPLOYED);
    assertThat(content.production()).contains("c");
  }

  private List<String> lines() throws IOException {
    return new ArrayList<>(Files.readAllLines(site.history().file()));
  }

  private List<String> problemsOf(List<String> lines) throws IOException {
    Files.writeString(site.history().file(), String.join("\n", lines) + "\n");
    ReleaseHistory.Content content = site.history().read();
    List<String> problems = new ArrayList<>(content.problems());
    problems.addAll(site.history().signatureProblems(content, site.signers()));
    return problems;
  }

  @Test
  void aChangedLineIsNamed() throws IOException {
    List<String> lines = lines();
    lines.set(1, lines.get(1).replace("\"by\":\"operator\"", "\"by\":\"somebody\""));

    assertThat(problemsOf(lines))
        .anyMatch(one -> one.contains("history.jsonl:2: its signature is not of this text"))
        .anyMatch(one -> one.contains("history.jsonl:3: it does not follow line 2"));
  }

  @Test
  void aRemovedLineIsNamed() throws IOException {
    List<String> lines = lines();
    lines.remove(2);

    assertThat(problemsOf(lines))
        .anyMatch(one -> one.contains("history.jsonl:3: the line says that it is line 4"));
  }

  @Test
  void aRemovedBeginningIsNamed() throws IOException {
    List<String> lines = lines();
    lines.subList(0, 2).clear();

    assertThat(problemsOf(lines)).anyMatch(one -> one.contains("the beginning was removed"));
  }

  @Test
  void twoLinesInAnotherOrderAreNamed() throws IOException {
    List<String> lines = lines();
    lines.add(3, lines.remove(1));

    assertThat(problemsOf(lines)).anyMatch(one -> one.contains("history.jsonl:2: the line says"));
  }

  @Test
  void anInsertedLineIsNamed() throws IOException {
    List<String> lines = lines();
    lines.add(2, lines.get(1));

    assertThat(problemsOf(lines)).anyMatch(one -> one.contains("history.jsonl:3: "));
  }

  /** Somebody who can write the file, but has no key, can make a chain that fits. */
  @Test
  void aLineOfAnotherKeyIsNamed() {
    Path forger = Keys.make(folder, "forger");
    site.history()
        .append(
            site.history().read().lines().get(1).what().because("forged"),
            DeploySite.signer(forger, DeploySite.OPERATOR));
    ReleaseHistory.Content content = site.history().read();

    assertThat(content.problems()).isEmpty();
    assertThat(site.history().signatureProblems(content, site.signers()))
        .singleElement()
        .asString()
        .contains("history.jsonl:7: ");
  }

  @Test
  void aSignatureOfACostApprovalIsNotAccepted() {
    SshKeygen ssh = new SshKeygen(Map.of("PATH", "/usr/bin:/bin"));
    LineSigner cost =
        new LineSigner(
            site.signer().author(),
            text -> ssh.sign(site.key, "nexa-slurm", text.getBytes(StandardCharsets.UTF_8)));
    site.history().append(site.history().read().lines().get(1).what(), cost);

    assertThat(site.history().signatureProblems(site.history().read(), site.signers()))
        .singleElement()
        .asString()
        .contains("its signature was made for 'nexa-slurm', not for 'nexa-slurm-release'");
  }

  /** The chain cannot show it; the link can, and the next writer writes that down. */
  @Test
  void aCutTailIsSeenByTheLink() throws IOException {
    List<String> lines = lines();
    assertThat(problemsOf(lines.subList(0, 4))).isEmpty();

    assertThat(site.history().read().production()).contains("b");
    assertThat(site.current().release()).contains("c");
    try (SwitchRelease writer = site.writer(step -> {})) {
      HistoryLine found = writer.settle().orElseThrow();
      assertThat(found.what().action()).isEqualTo(Action.FOUND);
      assertThat(found.what().reason()).contains("leads to c and the history says b");
    }
    assertThat(site.history().read().production()).contains("c");
  }

  @Test
  void aDamagedHistoryIsNotContinued() throws IOException {
    List<String> lines = lines();
    lines.remove(2);
    Files.writeString(site.history().file(), String.join("\n", lines) + "\n");

    assertThatThrownBy(() -> site.deploy("a"))
        .isInstanceOfSatisfying(
            NexaException.class,
            failed -> assertThat(failed.code()).isEqualTo(ErrorCode.RELEASE_HISTORY_DAMAGED));
    assertThat(site.current().release()).contains("c");
  }

  @Test
  void aTornLineIsNoLineAndTheNextWriterRemovesIt() throws IOException {
    Files.writeString(
        site.history().file(), "{\"schema_version\":1,\"seq\":7", StandardOpenOption.APPEND);
    assertThat(site.history().read().torn()).isPositive();
    assertThat(site.history().read().production()).contains("c");

    site.rollback("b");

    ReleaseHistory.Content content = site.history().read();
    assertThat(content.problems()).isEmpty();
    assertThat(site.history().signatureProblems(content, site.signers())).isEmpty();
    assertThat(content.lines().get(6).what().action()).isEqualTo(Action.TORN_TAIL);
    assertThat(content.production()).contains("b");
  }

  /** Each changed byte of a line is found, by the chain or by a signature. */
  @Test
  void everyChangedByteIsFound() throws IOException {
    byte[] whole = Files.readAllBytes(site.history().file());
    Random random = new Random(48);
    for (int n = 0; n < 200; n++) {
      byte[] changed = whole.clone();
      int at = random.nextInt(whole.length - 1);
      changed[at] ^= (byte) (1 + random.nextInt(255));
      Files.write(site.history().file(), changed);
      ReleaseHistory.Content content = site.history().read();

      List<String> problems = new ArrayList<>(content.problems());
      problems.addAll(site.history().signatureProblems(content, site.signers()));
      assertThat(problems).as("byte %d", at).isNotEmpty();
    }
  }

  @Test
  void rollbackLeadsToTheReleaseBeforeAndNeverToAFailedOne() {
    assertThat(before()).contains("b");
    site.rollback("b");
    assertThat(before()).contains("a");
    site.deploy("c", new SwitchRelease.Smoke("1 prompt", Optional.of("it said no")));
    assertThat(site.current().release()).contains("b");
    assertThat(before()).contains("a");
    site.rollback("c");
    assertThat(before()).as("b was rolled back").contains("a");
  }

  @Test
  void aReleaseThatWasRolledBackIsSkippedWhereverItStands() {
    site.deploy("b");
    site.deploy("a");
    site.deploy("b");
    site.rollback("a");

    assertThat(before()).as("b stands before a, but it was rolled back").contains("c");
    site.rollback("c");
    assertThat(before()).as("the first a was rolled back later").isEmpty();
    site.deploy("b");
    site.deploy("a");
    assertThat(before()).as("b was deployed again").contains("b");
  }

  @Test
  void aReleaseWhoseSmokeTestFailedIsSkippedWhereverItStands() {
    site.deploy("b", new SwitchRelease.Smoke("1 prompt", Optional.of("it said no")));

    assertThat(before()).as("a, b and c were deployed, and b failed later").contains("a");
    assertThat(Production.rolledBack(site.history().read().lines())).containsExactly("b");
  }

  private Optional<String> before() {
    return Production.before(site.history().read().lines());
  }

  @Test
  void aClockThatGoesBackHidesNoRelease() {
    Instant twentieth = Instant.parse("2026-11-20T10:00:00Z");
    Instant eighteenth = Instant.parse("2026-11-18T10:00:00Z");

    List<Production.Period> periods =
        Production.periods(List.of(deployed(1, "a", twentieth), deployed(2, "b", eighteenth)));

    Instant day = Instant.parse("2026-11-20T00:00:00Z");
    assertThat(periods.stream().filter(one -> one.touches(day, day.plusSeconds(86_400))))
        .extracting(one -> one.release().orElseThrow())
        .containsExactly("a", "b");
  }

  private static HistoryLine deployed(int number, String name, Instant at) {
    return new HistoryLine(
        number,
        at,
        new HistoryLine.What(
            HistoryLine.Action.DEPLOYED,
            Optional.of(name),
            Optional.of("0"),
            Optional.empty(),
            "",
            HistoryLine.What.NO_SMOKE),
        new HistoryLine.Author("ada", "ada@site", "login1"),
        HistoryLine.FIRST,
        "");
  }

  @Test
  void periodsFollowEachOther() {
    site.deploy("a", new SwitchRelease.Smoke("1 prompt", Optional.of("it said no")));
    List<Production.Period> periods = Production.periods(site.history().read().lines());

    assertThat(periods)
        .extracting(period -> period.release().orElse("none"))
        .containsExactly("a", "b", "c", "a", "c");
    for (int i = 1; i < periods.size(); i++) {
      assertThat(periods.get(i - 1).until()).contains(periods.get(i).from());
    }
    assertThat(periods.get(4).until()).isEmpty();
  }
}
