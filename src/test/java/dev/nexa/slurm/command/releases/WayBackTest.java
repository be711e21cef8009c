package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A rollback is for incidents: keys that are gone, a damaged history and a halt do not stop it. */
class WayBackTest {
  @TempDir Path folder;
  private Path durable = Path.of("");
  private Path boss = Path.of("");
  private Path operator = Path.of("");
  private Path history = Path.of("");
  private Terminal terminal = new Terminal(Path.of("/tmp"));

  @BeforeEach
  void site() throws IOException {
    durable = folder.resolve("durable");
    history = durable.resolve("deploy/history.jsonl");
    boss = Keys.make(folder, "boss");
    operator = Keys.make(folder, "operator");
    terminal = new Terminal(folder);
    terminal.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1.00, currency: USD}\napprovals: {directory: approvals,"
            + " allowed_signers: %s/allowed_signers, revoked_keys: %s/revoked}\n"
                .formatted(folder, folder));
    terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: /scratch, durable: " + durable + ", shared: /shared}\n");
    Files.writeString(folder.resolve("revoked"), "");
    allow(line("boss", boss, ""), line("operator", operator, ""));
    for (String name : List.of("a", "b", "c")) {
      MadeRelease.sign(MadeRelease.write(durable, name, "pass", List.of()), boss, "boss@site");
    }
  }

  private static String line(String who, Path key, String options) throws IOException {
    return who + "@site namespaces=\"nexa-slurm-release\"" + options + " " + Keys.line(key) + "\n";
  }

  private void allow(String... lines) throws IOException {
    Files.writeString(folder.resolve("allowed_signers"), String.join("", lines));
  }

  private Screen deploy(String name) {
    return terminal.type("release", "deploy", name, "--yes", "--key", "" + operator);
  }

  private Screen rollback() {
    return terminal.type("release", "rollback", "--yes", "--key", "" + operator);
  }

  private String current() throws IOException {
    return Files.readString(durable.resolve("deploy/current_model/weights"));
  }

  private void back(byte[] lines, String release) throws IOException {
    Files.write(history, lines);
    Path link = durable.resolve("deploy/current_model");
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("releases", release, "model"));
  }

  @Test
  void aDamagedByteAnywhereLeavesAWayBack() throws IOException {
    for (String name : List.of("a", "b", "c")) {
      assertThat(deploy(name).exit()).isZero();
    }
    assertThat(terminal.type("halt", "--reason", "answers leak names").exit()).isZero();
    byte[] whole = Files.readAllBytes(history);
    int number = 1;
    int begin = 0;
    for (int end = 0; end < whole.length; end++) {
      if (whole[end] != '\n') {
        continue;
      }
      for (int at = begin; at < end; at += 149) {
        byte[] damaged = whole.clone();
        damaged[at] ^= 1;
        back(damaged, "c");
        Screen screen = rollback();
        String where = "line " + number + ", byte " + (at - begin) + ": " + screen.err();
        assertThat(screen.exit()).as(where).isZero();
        assertThat(screen.err())
            .as(where)
            .containsAnyOf("history.jsonl:" + number + ": ", "does not follow line " + number)
            .contains("the history is damaged; ");
        assertThat(current()).as(where).isIn("weights of a", "weights of b");
        assertThat(deploy("c").err()).contains("[halted]");
      }
      begin = end + 1;
      number++;
    }
    assertThat(number).isEqualTo(7);
    back(whole, "c");
    assertThat(rollback().exit()).isZero();
    assertThat(current()).isEqualTo("weights of b");
    assertThat(terminal.type("release", "history", "--verify").exit()).isZero();
  }

  /** A line that somebody wrote, and nobody of allowed_signers signed, proves nothing. */
  @Test
  void aForgedLineLeadsNowhere() throws IOException {
    deploy("a");
    deploy("b");
    byte[] whole = Files.readAllBytes(history);
    String text = new String(whole, StandardCharsets.UTF_8);
    String digest =
        new dev.nexa.slurm.storage.releases.ReleaseFolder(durable.resolve("deploy/releases/c"))
            .digest();
    int last = text.lastIndexOf("\"release\":\"b\",\"release_digest\":\"") + 32;
    back(
        (text.substring(0, last) + digest + text.substring(last + 64))
            .replaceFirst("(?s)(.*)\"release\":\"b\"", "$1\"release\":\"c\"")
            .getBytes(StandardCharsets.UTF_8),
        "b");

    Screen named = terminal.type("release", "rollback", "c", "--yes", "--key", "" + operator);

    assertThat(named.exit()).isNotZero();
    assertThat(named.err()).contains("history.jsonl:4: its signature is not of this text");
    assertThat(rollback().exit()).isZero();
    assertThat(current()).isEqualTo("weights of a");
  }

  @Test
  void aKeyThatExpiredOrWasRemovedStaysGoodForWhatWasDeployed() throws IOException {
    deploy("a");
    deploy("b");
    byte[] whole = Files.readAllBytes(history);
    List<String> ends =
        List.of(line("boss", boss, ",valid-before=\"20251102\""), line("other", boss, ""), "");
    for (String end : ends) {
      allow(end, line("operator", operator, ""));
      back(whole, "b");
      Screen screen = rollback();
      assertThat(screen.exit()).as(screen.err()).isZero();
      assertThat(current()).isEqualTo("weights of a");
      assertThat(deploy("c").err()).contains("no approver has signed it");
    }
    back(whole, "b");
    Files.writeString(durable.resolve("deploy/releases/a/model/weights"), "worse");
    assertThat(rollback().err()).contains("changed: model/weights");
    Files.writeString(durable.resolve("deploy/releases/a/model/weights"), "weights of a");
    Files.writeString(folder.resolve("revoked"), Keys.line(boss) + "\n");
    assertThat(rollback().err()).contains("no approver has signed it", "is revoked");
    Files.writeString(folder.resolve("revoked"), "");
    // Nobody whose key is known says that it was deployed.
    allow(line("boss", Keys.make(folder, "third"), ""));
    Screen unknown =
        terminal.type("release", "rollback", "--yes", "--key", "" + folder.resolve("third"));
    assertThat(unknown.exit()).isEqualTo(3);
    assertThat(unknown.err()).contains("no approver has signed it", "nexa-slurm release sign a");
  }

  @Test
  void theNextDeployNamesALineWithAWrongSignature() throws IOException {
    deploy("a");
    String text = Files.readString(history);
    int last = text.lastIndexOf("\"smoke\":\"none\"");
    Files.writeString(
        history, text.substring(0, last) + "\"smoke\":\"good\"" + text.substring(last + 14));

    Screen screen = deploy("b");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.err()).contains("note: " + history + ":2: its signature is not of this text");
  }

  @Test
  void aClockThatWasSetBackDeploysNothing() throws IOException {
    deploy("a");
    deploy("b");
    String text = Files.readString(history);
    int last = text.lastIndexOf("\"at\":\"20") + 6;
    Files.writeString(history, text.substring(0, last) + "2099" + text.substring(last + 4));
    Screen screen = deploy("c");
    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains(
            "the clock of this host says ", ", and line 4 of the history was written at 2099");
    assertThat(rollback().exit()).isZero();
    assertThat(current()).isEqualTo("weights of a");
    Files.writeString(history, text);

    Path late = durable.resolve("deploy/releases/c/release.json");
    Files.writeString(late, Files.readString(late).replace("2025-11-01T10", "2099-11-01T10"));
    MadeRelease.sign(durable.resolve("deploy/releases/c"), boss, "boss@site");
    assertThat(deploy("c").err())
        .contains("and its run ended at 2099-11-01T10:00:00Z")
        .contains("it says that it was signed at 2099-11-01T10:00:00Z, and it is only 20");
    Screen signed = terminal.type("release", "sign", "c", "--yes", "--key", "" + boss);
    assertThat(signed.exit()).isEqualTo(3);
    assertThat(signed.err()).contains("before the run ended at 2099-11-01T10:00:00Z");
  }
}
