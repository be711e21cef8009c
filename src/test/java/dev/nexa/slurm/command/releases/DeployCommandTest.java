package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.job.config.SchemaCheck;
import dev.nexa.slurm.records.approvals.Keys;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.releases.ReleaseHistory.LineSigner;
import dev.nexa.slurm.storage.releases.SwitchRelease.Smoke;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Deployments as people type them; ada trained, boss approves and deploys. */
class DeployCommandTest {
  @TempDir Path folder;
  private Path durable;
  private Path boss;
  private Path mallory;
  private Terminal terminal;

  @BeforeEach
  void site() throws IOException {
    durable = folder.resolve("durable");
    boss = Keys.make(folder, "boss");
    mallory = Keys.make(folder, "mallory");
    Path allowed = folder.resolve("allowed_signers");
    Files.writeString(
        allowed,
        "boss@site namespaces=\"nexa-slurm,nexa-slurm-release\" "
            + Keys.line(boss)
            + "\nmallory@site namespaces=\"nexa-slurm\" "
            + Keys.line(mallory)
            + "\n");
    terminal = new Terminal(folder);
    terminal.program("ssh-keygen", "exec /usr/bin/ssh-keygen \"$@\"");
    policy("");
    terminal.file(
        "configs/clusters/default.yaml",
        "storage: {scratch: /scratch, durable: " + durable + ", shared: /shared}\n");
    for (String name : List.of("a", "b", "c")) {
      MadeRelease.sign(MadeRelease.write(durable, name, "pass", List.of()), boss, "boss@site");
    }
  }

  private void policy(String more) {
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 1.00, currency: USD}\napprovals:\n  directory: approvals\n"
            + "  allowed_signers: "
            + folder.resolve("allowed_signers")
            + "\n"
            + more);
  }

  private Screen deploy(String name, String... more) {
    List<String> words =
        new ArrayList<>(List.of("release", "deploy", name, "--yes", "--key", "" + boss));
    words.addAll(List.of(more));
    return terminal.type(words.toArray(String[]::new));
  }

  private Screen rollback(String... more) {
    List<String> words =
        new ArrayList<>(List.of("release", "rollback", "--yes", "--key", "" + boss));
    words.addAll(List.of(more));
    return terminal.type(words.toArray(String[]::new));
  }

  private String current() throws IOException {
    return Files.readString(durable.resolve("deploy/current_model/weights"));
  }

  @Test
  void deployShowsAllAndSwitches() throws IOException {
    Screen screen = deploy("a");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .contains("replaces   nothing: no release is in production")
        .contains("smoke test none: nobody asks the model anything before users do")
        .contains("gate       passed: f1 is 0.91, at least 0.9 (gate_1)")
        .contains("signed by  boss@site at 2025-11-01T10:00:00Z")
        .contains(
            "a is in production; no smoke test was made: nobody has asked the model anything");
    assertThat(current()).isEqualTo("weights of a");
    assertThat(Files.readSymbolicLink(durable.resolve("deploy/current_model")))
        .isEqualTo(Path.of("releases/a/model"));
    assertThat(deploy("b").out()).contains("replaces   a");
    assertThat(deploy("b").err()).contains("b is already in production");
  }

  @Test
  void deployRollbackAndHaltNotify() throws IOException {
    Path got = folder.resolve("got");
    StandIn.sh(folder.resolve("hook"), "echo \"$NEXA_EVENT_ID: $NEXA_TITLE\" >>" + got);
    policy("notify:\n  hook: {kind: command, command: [" + folder.resolve("hook") + "]}\n");
    deploy("a");
    deploy("b");
    rollback();
    terminal.type("halt", "--reason", "bad answers");
    assertThat(got).as("commands send nothing").doesNotExist();

    Screen pass = terminal.type("reconcile");

    assertThat(pass.err()).isEmpty();
    assertThat(Files.readAllLines(got))
        .hasSize(4)
        .anySatisfy(
            line -> assertThat(line).matches("deployed[.]a[.]\\d+: a is in production .deployed."))
        .anySatisfy(
            line -> assertThat(line).matches("deployed[.]b[.]\\d+: b is in production .deployed."))
        .anySatisfy(
            line ->
                assertThat(line).matches("deployed[.]a[.]\\d+: a is in production .rolled_back."))
        .anySatisfy(line -> assertThat(line).matches("halted[.]halt_.* stops every release"));
  }

  @Test
  void aPersonIsAskedAndAScriptMustSayYes() throws IOException {
    Screen script = terminal.type("release", "deploy", "a", "--key", "" + boss);
    assertThat(script.exit()).isEqualTo(2);
    assertThat(script.err()).contains("nobody can be asked here whether to deploy a");
    Screen no = terminal.answering("n\n").type("release", "deploy", "a", "--key", "" + boss);
    assertThat(no.exit()).isEqualTo(3);
    assertThat(durable.resolve("deploy/current_model")).doesNotExist();
    Screen yes = terminal.answering("y\n").type("release", "deploy", "a", "--key", "" + boss);
    assertThat(yes.exit()).as(yes.err()).isZero();
    assertThat(current()).isEqualTo("weights of a");
  }

  @Test
  void whatIsWrongIsSaidAllAtOnce() throws IOException {
    Path release = MadeRelease.write(durable, "d", "fail", List.of("model/weights"));
    MadeRelease.sign(release, mallory, "mallory@site");
    Files.writeString(release.resolve("model/weights"), "other weights");
    policy("release_pickles: refuse\n");
    terminal.type("halt", "--reason", "bad answers");

    Screen screen = deploy("d");

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("changed: model/weights")
        .contains("no approver has signed it; mallory@site.json does not count")
        .contains("its gate gate_1 failed: f1 is 0.91")
        .contains("nexa-slurm release verify d ", "nexa-slurm release sign d ")
        .contains("nexa-slurm why gate_1 ")
        .contains("a pickled file, which the policy refuses (release_pickles): model/weights")
        .contains("is in force, set by ")
        .contains("release-not-deployable");
    assertThat(durable.resolve("deploy/current_model")).doesNotExist();
    assertThat(durable.resolve("deploy/history.jsonl")).doesNotExist();
  }

  @Test
  void aReleaseWithoutAGateIsNotDeployed() throws IOException {
    MadeRelease.sign(MadeRelease.write(durable, "d", "", List.of()), boss, "boss@site");
    assertThat(deploy("d").err())
        .contains("it was packaged without a gate")
        .contains("nexa-slurm submit configs/distill/gate.yaml --from score=RUN")
        .contains("nexa-slurm release package train_20261101_090000 --name d-2")
        .doesNotContain("release verify");
  }

  /** gate.json was replaced, and release.json with it, but not the signature. */
  @Test
  void aGateThatSaysSomethingElseIsFound() throws IOException {
    Path release = MadeRelease.write(durable, "d", "pass", List.of());
    MadeRelease.sign(release, boss, "boss@site");
    String document = Files.readString(release.resolve("release.json"));
    Files.writeString(
        release.resolve("release.json"), document.replace("f1 is 0.91, at", "f1 is 0.99, at"));
    MadeRelease.sign(release, boss, "boss@site");

    assertThat(deploy("d").err())
        .contains("eval/gate.json says something else than release.json about the gate");
  }

  @Test
  void aCostApprovalsSignatureIsNoSignOff() throws IOException {
    Path release = MadeRelease.write(durable, "d", "pass", List.of());
    MadeRelease.sign(release, boss, "boss@site", "nexa-slurm");
    assertThat(deploy("d").err()).contains("no approver has signed it");
  }

  @Test
  void rollbackLeadsToTheReleaseBefore() throws IOException {
    deploy("a");
    deploy("b");
    Screen screen = rollback("--reason", "empty answers");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("a is in production again, in place of b");
    assertThat(current()).isEqualTo("weights of a");
    Screen none = rollback();
    assertThat(none.exit()).isEqualTo(2);
    assertThat(none.err()).contains("no release was deployed before a");
    assertThat(rollback("c").err()).contains("the release c was never in production");
    Screen mistyped = rollback("bb");
    assertThat(mistyped.exit()).isEqualTo(2);
    assertThat(mistyped.err())
        .contains("there is no release 'bb' (did you mean 'b'?)", "release rollback b ");
    assertThat(rollback("b").exit()).isZero();
    assertThat(current()).isEqualTo("weights of b");
  }

  @Test
  void aSecondRollbackDoesNotLeadToTheReleaseThatTheFirstRemoved() throws IOException {
    deploy("b");
    deploy("a");
    deploy("b");
    assertThat(rollback().exit()).isZero();

    Screen second = rollback();

    assertThat(second.exit()).isEqualTo(2);
    assertThat(second.err())
        .contains("no release was deployed before a that nobody has rolled back")
        .contains("nexa-slurm release rollback NAME");
    assertThat(current()).isEqualTo("weights of a");
  }

  @Test
  void aChangedReleaseIsNotRolledBackTo() throws IOException {
    deploy("c");
    deploy("a");
    deploy("b");
    Files.writeString(durable.resolve("deploy/releases/a/model/weights"), "worse");

    Screen screen = rollback();

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("the release a cannot be in production again")
        .contains("nexa-slurm release rollback c  # goes back further");
    assertThat(current()).isEqualTo("weights of b");
  }

  @Test
  void historyShowsAndVerifiesEachLine() throws IOException {
    assertThat(terminal.type("release", "history").out()).contains("nothing was ever deployed");
    deploy("a", "--reason", "first");
    deploy("b");
    Screen screen = terminal.type("release", "history", "--verify");
    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .contains("deploying", "deployed", "boss@site", "first")
        .contains("4 lines: the chain is whole, and each signature counts");
    JsonObject json = terminal.type("release", "history", "--json").json();
    assertThat(json.text("in_production")).isEqualTo("b");
    assertThat(json.objects("lines")).hasSize(4);

    Path file = durable.resolve("deploy/history.jsonl");
    Files.writeString(file, Files.readString(file).replaceFirst("first", "other"));
    Screen changed = terminal.type("release", "history", "--verify");
    assertThat(changed.exit()).isEqualTo(1);
    assertThat(changed.err()).contains("history.jsonl:1: its signature is not of this text");
    assertThat(deploy("c").err()).contains("release-history-damaged");
    assertThat(current()).isEqualTo("weights of b");
  }

  @Test
  void aCutHistoryIsComparedWithTheLink() throws IOException {
    deploy("a");
    deploy("b");
    Path file = durable.resolve("deploy/history.jsonl");
    List<String> lines = Files.readAllLines(file);
    Files.writeString(file, String.join("\n", lines.subList(0, 2)) + "\n");

    Screen screen = terminal.type("release", "history");

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.err()).contains("current_model leads to b, and the history ends with a");
  }

  @Test
  void showSaysWhatWasInProduction() throws IOException {
    assertThat(terminal.type("release", "show").out()).contains("no release is in production");
    deploy("a");
    deploy("b");
    Screen now = terminal.type("release", "show");
    assertThat(now.exit()).as(now.err()).isZero();
    assertThat(now.out()).startsWith("b").contains("still (UTC)").contains("signed by  boss@site");
    Screen then = terminal.type("release", "show", "--at", "2020-01-01");
    assertThat(then.out())
        .contains("no release was in production then (2020-01-01T00:00:00Z UTC)")
        .contains("the first deployment began at");
    String today = java.time.LocalDate.now(java.time.ZoneOffset.UTC).toString();
    JsonObject both = terminal.type("release", "show", "--at", today, "--json").json();
    assertThat(both.objects("releases"))
        .extracting(one -> one.text("release"))
        .containsExactly("a", "b");
    assertThat(terminal.type("release", "show", "--at", "2099-01-01").out())
        .contains("that time has not come yet");
    assertThat(terminal.type("release", "show", "a").out()).contains("from ").contains(" to ");
    assertThat(terminal.type("release", "show", "c").out()).contains("was never in production");
  }

  /** As `docker inspect`: facts of the record, at once. `release verify` reads 100 GB. */
  @Test
  void showReadsNoModel() throws IOException {
    deploy("a");
    Path weights = durable.resolve("deploy/releases/a/model/weights");
    try (RandomAccessFile sparse = new RandomAccessFile(weights.toFile(), "rw")) {
      sparse.setLength(1L << 42);
    }

    Screen now =
        assertTimeoutPreemptively(
            Duration.ofMinutes(1), () -> terminal.type("release", "show", "--json"));
    assertThat(now.exit()).as(now.err()).isZero();
    assertThat(now.json().objects("releases"))
        .extracting(one -> one.texts("signed_by"))
        .containsExactly(List.of("boss@site"));

    Files.writeString(weights, "other weights");
    assertThat(terminal.type("release", "show").out()).contains("signed by  boss@site");
    assertThat(terminal.type("release", "verify", "a").exit()).isEqualTo(1);
    assertThat(deploy("b").exit()).isZero();
    assertThat(deploy("a").exit()).isEqualTo(3);
  }

  @Test
  void aHaltStopsDeployAndNotRollback() throws IOException {
    deploy("a");
    deploy("b");
    Screen halt = terminal.type("halt", "--reason", "answers leak names", "--json");
    String id = halt.json().text("halt_id");

    Screen screen = deploy("c");
    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.err())
        .contains("the release c is not deployed while the halt " + id + " is in force")
        .contains("answers leak names")
        .contains("nexa-slurm unhalt " + id)
        .contains("halted");
    assertThat(rollback().exit()).isZero();
    assertThat(terminal.type("halt", "list").out()).contains(id, "in force");

    Screen notMine = terminal.type("unhalt", id, "--yes", "--key", "" + mallory);
    assertThat(notMine.exit()).isEqualTo(3);
    assertThat(notMine.err())
        .contains(id + " is still in force", "nothing was written", "nexa-slurm unhalt " + id);
    assertThat(durable.resolve("deploy/halts/" + id + ".lifted.json")).doesNotExist();
    Screen lifted = terminal.type("unhalt", id, "--yes", "--key", "" + boss);
    assertThat(lifted.exit()).as(lifted.err()).isZero();
    assertThat(terminal.type("halt", "list").out()).contains("no halt is in force");
    assertThat(terminal.type("halt", "list", "--all").out()).contains("lifted by boss@site");
    assertThat(deploy("c").exit()).isZero();
  }

  /** Deploys or rolls back; the person does something before the answer. */
  private DeployRelease.Outcome answered(@Nullable String deployed, ThrowingCallable meanwhile) {
    Context context =
        new Context(terminal.workspace, Map.of("PATH", terminal.bin.toString(), "USER", "ada"));
    DeployPlace place = DeployPlace.of(context, Optional.empty());
    DeployRelease releases = new DeployRelease(place, note -> {});
    Predicate<DeployRelease.Checked> answer =
        release -> {
          try {
            meanwhile.call();
          } catch (Throwable failed) {
            throw new IllegalStateException(failed);
          }
          return true;
        };
    LineSigner signer = place.signer(Optional.of(boss.toString()), "release deploy");
    return deployed == null
        ? releases.rollback(Optional.empty(), signer, "", true, answer)
        : releases.deploy(
            releases.check(deployed),
            signer,
            "",
            new DeployRelease.Test("none", false, () -> Smoke.NONE),
            true,
            answer);
  }

  @Test
  void whatHappensBeforeTheAnswerCounts() throws IOException {
    deploy("a");

    assertThatThrownBy(
            () -> answered("b", () -> terminal.type("halt", "--reason", "answers leak names")))
        .hasMessageContaining("the release b ")
        .hasMessageContaining("answers leak names");
    String id =
        terminal.type("halt", "list", "--json").json().objects("halts").get(0).text("halt_id");
    terminal.type("unhalt", id, "--yes", "--key", "" + boss);
    Path weights = durable.resolve("deploy/releases/b/model/weights");
    assertThatThrownBy(() -> answered("b", () -> Files.writeString(weights, "evil")))
        .hasMessageContaining("changed: model/weights");
    assertThat(current()).isEqualTo("weights of a");
  }

  @Test
  void aQuestionLocksNobodyOut() throws IOException {
    deploy("a");
    deploy("b");

    assertThatThrownBy(() -> answered("c", () -> assertThat(rollback().exit()).isZero()))
        .hasMessageContaining("it was b, and is a; nothing was changed");
    assertThatThrownBy(
            () -> {
              deploy("b");
              answered(null, () -> assertThat(deploy("c").exit()).isZero());
            })
        .hasMessageContaining("it was b, and is c; nothing was changed");
    assertThat(current()).isEqualTo("weights of c");
  }

  @Test
  void aHaltThatIsSetDuringTheSmokeTestBringsTheReleaseBeforeBack() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0), 0);
    answer(server, "/health", 200, "");
    server.createContext(
        "/v1/models",
        exchange -> {
          terminal.type("halt", "--reason", "answers leak names");
          byte[] body = "{\"data\":[{\"id\":\"science\"}]}".getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      deploy("a");
      Screen screen =
          deploy("b", "--endpoint", "http://127.0.0.1:" + server.getAddress().getPort() + "/v1");

      assertThat(screen.exit()).isEqualTo(5);
      assertThat(screen.err()).contains("was set meanwhile", "answers leak names");
      assertThat(current()).isEqualTo("weights of a");
    } finally {
      server.stop(0);
    }
  }

  /** A name that is used again is another release; a link that was set by hand proves nothing. */
  @Test
  void rollbackLeadsOnlyToWhatWasDeployed() throws IOException {
    deploy("a");
    deploy("b");
    Files.move(durable.resolve("deploy/releases/a"), folder.resolve("moved"));
    Path again = MadeRelease.write(durable, "a", "fail", List.of());
    MadeRelease.sign(again, boss, "boss@site");
    for (Screen screen : List.of(rollback(), rollback("a"))) {
      assertThat(screen.exit()).isEqualTo(3);
      assertThat(screen.err()).contains("a is not the one that was deployed under this name");
    }
    assertThat(current()).isEqualTo("weights of b");

    MadeRelease.sign(MadeRelease.write(durable, "d", "fail", List.of()), boss, "boss@site");
    Path link = durable.resolve("deploy/current_model");
    Files.delete(link);
    Files.createSymbolicLink(link, Path.of("releases/d/model"));
    deploy("c");
    assertThat(rollback().exit()).isZero();
    assertThat(current()).isEqualTo("weights of b");
  }

  @Test
  void aHaltOfAPipelineNeedsAPipelineThatExists() throws IOException {
    terminal.file("configs/pipelines/nightly.yaml", "stages:\n  train: {config: train.yaml}\n");
    terminal.file("other/weekly.yaml", "name: week\nstages:\n  train: {config: train.yaml}\n");

    for (String typed : List.of("", " ", "nightli", "nightly_", "configs/pipelines/nightli.yaml")) {
      Screen refused = terminal.type("halt", "--pipeline", typed);
      assertThat(refused.exit()).as(typed).isEqualTo(2);
      assertThat(refused.err()).contains("no halt was set", "got '" + typed + "'");
      if (!typed.isBlank()) {
        assertThat(refused.err())
            .contains("did you mean 'nightly'?", "nexa-slurm halt --pipeline nightly ");
      }
    }
    assertThat(terminal.type("halt", "list").out()).contains("no halt is in force");

    for (String typed : List.of("nightly", "configs/pipelines/nightly.yaml")) {
      assertThat(terminal.type("halt", "--pipeline", typed).out())
          .contains("is in force: nothing of the pipeline nightly is released");
    }
    assertThat(terminal.type("halt", "--pipeline", "other/weekly.yaml", "--json").json())
        .satisfies(halt -> assertThat(halt.text("pipeline")).isEqualTo("week"));
  }

  @Test
  void aHaltThatCannotBeReadIsNotLifted() throws IOException {
    Path halts = Files.createDirectories(durable.resolve("deploy/halts"));
    Path broken = halts.resolve("halt_x.json");
    Files.writeString(broken, "{");

    Screen refused = deploy("a");
    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err())
        .contains("while the halt halt_x is in force, because " + broken + " cannot be read")
        .contains("→ rm " + broken)
        .doesNotContain("unhalt");
    Screen unhalt = terminal.type("unhalt", "halt_x", "--yes", "--key", "" + boss);
    assertThat(unhalt.exit()).isEqualTo(1);
    assertThat(unhalt.err())
        .contains("halt_x stays in force, and no signature can lift it: " + broken)
        .contains("→ rm " + broken, "restore the file from a backup");
    assertThat(unhalt.out()).isEmpty();
    assertThat(halts.resolve("halt_x.lifted.json")).doesNotExist();

    Files.delete(broken);
    assertThat(deploy("a").exit()).isZero();
  }

  @Test
  void aLiftingOfAnApproverWhoIsNoneAnyMoreIsExplained() throws IOException {
    String id = terminal.type("halt", "--reason", "leak", "--json").json().text("halt_id");
    assertThat(terminal.type("unhalt", id, "--yes", "--key", "" + boss).exit()).isZero();
    Path second = Keys.make(folder, "second");
    Files.writeString(
        folder.resolve("allowed_signers"),
        "second@site namespaces=\"nexa-slurm,nexa-slurm-release\" " + Keys.line(second) + "\n");
    MadeRelease.sign(durable.resolve("deploy/releases/a"), second, "second@site");

    Screen refused = terminal.type("release", "deploy", "a", "--yes", "--key", "" + second);

    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err())
        .contains("while the halt " + id + " is in force, set by ")
        .contains("; boss@site lifted it, and that does not count any more: ")
        .contains("is not in " + folder.resolve("allowed_signers"))
        .contains("nexa-slurm unhalt " + id);
  }

  /** Anybody who can write to the tier can write the reason that an approver reads. */
  @Test
  void controlCharactersInAReasonAreVisibleBeforeItIsSigned() {
    String id =
        terminal
            .type("halt", "--reason", "leak\u001b[2K\nLift it? [y/N] y", "--json")
            .json()
            .text("halt_id");

    Screen asked = terminal.answering("n\n").type("unhalt", id, "--key", "" + boss);

    assertThat(asked.out()).contains(": leak^[[2K^JLift it? [y/N] y\n").doesNotContain("\u001b");
    assertThat(deploy("a").err()).contains(": leak^[[2K^JLift it?").doesNotContain("\u001b");
  }

  /** A file that nobody can run still has a name, which somebody may want to stop. */
  @Test
  void aHaltDoesNotNeedAPipelineFileWithoutErrors() throws IOException {
    terminal.file("configs/pipelines/nightly.yaml", "stages: [\n");
    Screen halt = terminal.type("halt", "--pipeline", "nightly");
    assertThat(halt.out()).contains("nothing of the pipeline nightly is released");
  }

  /** docs/schemas is for other people's programs: what is written and printed must fit it. */
  @Test
  void whatIsWrittenAndPrintedFitsThePublishedSchemas() throws IOException {
    deploy("a");
    deploy("b", "--reason", "better");
    rollback();
    Path file = durable.resolve("deploy/history.jsonl");
    Files.writeString(file, Files.readString(file) + "{\"torn");
    String id = terminal.type("halt", "--pipeline", "distill", "--json").json().text("halt_id");
    assertThat(deploy("b").exit()).isZero();
    terminal.type("unhalt", id, "--yes", "--key", "" + boss);

    List<String> lines = Files.readAllLines(file);
    assertThat(lines).hasSize(9);
    assertThat(lines).allSatisfy(line -> assertFits("release-history", line));
    List<JsonObject> shown = terminal.type("release", "history", "--json").json().objects("lines");
    assertThat(shown).hasSize(9);
    assertThat(shown).allSatisfy(line -> assertFits("release-history", Json.compact(line)));
    Path release = durable.resolve("deploy/releases/a");
    assertFits("release", Files.readString(release.resolve("release.json")));
    assertFits("release-signature", Files.readString(release.resolve("signatures/boss@site.json")));
    Path halts = durable.resolve("deploy/halts");
    assertFits("halt", Files.readString(halts.resolve(id + ".json")));
    assertFits("unhalt", Files.readString(halts.resolve(id + ".lifted.json")));
    assertFits("halt", terminal.type("halt", "--reason", "more", "--json").out());
    List<JsonObject> listed =
        terminal.type("halt", "list", "--all", "--json").json().objects("halts");
    assertThat(listed).hasSize(2);
    assertThat(listed).allSatisfy(halt -> assertFits("halt", Json.compact(halt)));

    assertThat(SchemaCheck.published("release-history", lines.get(0).replace("deploying", "x")))
        .containsExactly(
            "$.action: 'x' is none of [deploying, deployed, rolling_back, rolled_back, abandoned,"
                + " found, torn_tail]");
    assertThat(SchemaCheck.published("halt", "{\"more\": 1}"))
        .contains("$: knows no more", "$: lacks halt_id");
  }

  private static void assertFits(String schema, String document) {
    assertThat(SchemaCheck.published(schema, document)).as(document).isEmpty();
  }

  @Test
  void aHaltHoldsOnTheDurableTiersOfAllProfiles() throws IOException {
    Path other = Files.createDirectory(folder.resolve("other")).toRealPath();
    terminal.file(
        "configs/clusters/two.yaml",
        "storage: {scratch: /scratch, durable: " + other + ", shared: /shared}\n");
    terminal.file(
        "configs/clusters/away.yaml",
        "storage: {scratch: /scratch, durable: " + folder + "/unmounted, shared: /shared}\n");
    MadeRelease.sign(MadeRelease.write(other, "a", "pass", List.of()), boss, "boss@site");

    Screen halt = terminal.type("halt", "--reason", "leak");

    assertThat(halt.exit()).isZero();
    assertThat(halt.out())
        .contains("is in force: nothing is released\n")
        .contains("it holds on " + durable.toRealPath() + " (profile default)")
        .contains("it holds on " + other + " (profile two)");
    assertThat(halt.err())
        .contains("not in force on " + folder + "/unmounted (profile away): the folder does not");
    assertThat(folder.resolve("unmounted")).doesNotExist();
    for (String cluster : List.of("default", "two")) {
      assertThat(deploy("a", "--cluster", cluster).err()).contains("while the halt halt_");
      assertThat(terminal.type("halt", "list", "--cluster", cluster).out()).contains("in force");
    }
    String id =
        terminal.type("halt", "list", "--json").json().objects("halts").get(0).text("halt_id");
    terminal.program(
        "ssh-keygen",
        "echo \"$*\" >>" + folder.resolve("calls") + "; exec /usr/bin/ssh-keygen \"$@\"");
    assertThat(terminal.type("unhalt", id, "--yes", "--key", "" + boss).exit()).isZero();
    assertThat(Files.readAllLines(folder.resolve("calls")))
        .as("ssh-keygen asks for the passphrase once")
        .filteredOn(call -> call.startsWith("-Y sign "))
        .hasSize(1);
    assertThat(deploy("a", "--cluster", "two").exit()).isZero();

    Screen one = terminal.type("halt", "--cluster", "two");
    assertThat(one.out())
        .contains("nothing is released from " + other)
        .contains("releases from " + durable.toRealPath() + " (profile default) go on");
    assertThat(terminal.type("halt", "list").out()).contains("is only on " + other);
    assertThat(deploy("a").exit()).isZero();
  }

  @Test
  void aTierThatCannotBeWrittenDoesNotKeepTheOthersFromTheHalt() throws IOException {
    Path other = Files.createDirectory(folder.resolve("other")).toRealPath();
    Files.writeString(other.resolve("deploy"), "a file");
    terminal.file(
        "configs/clusters/two.yaml",
        "storage: {scratch: /scratch, durable: " + other + ", shared: /shared}\n");

    Screen halt = terminal.type("halt");

    assertThat(halt.exit()).isEqualTo(1);
    assertThat(halt.out())
        .contains("is in force: nothing is released from the tiers that it holds on")
        .contains("it holds on " + durable.toRealPath());
    assertThat(halt.err())
        .contains("the halt is not in force on " + other + " (profile two): ")
        .contains("releases go on there");
  }

  @Test
  void aRunningServerIsAskedAndAFailureRollsBack() throws IOException {
    HttpServer server =
        HttpServer.create(new InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0), 0);
    List<String> keys = new ArrayList<>();
    answer(server, "/health", 200, "");
    answer(server, "/v1/models", 200, "{\"data\":[{\"id\":\"science\"}]}");
    server.createContext(
        "/v1/chat/completions",
        exchange -> {
          keys.add(exchange.getRequestHeaders().getFirst("Authorization"));
          byte[] body =
              "{\"choices\":[{\"message\":{\"content\":\"Paris.\"}}]}"
                  .getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
    try {
      Files.writeString(folder.resolve("key"), "s3cret-t0ken\n");
      String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
      serveConfig("Paris");
      String config = terminal.workspace.resolve("serve.yaml").toString();
      Screen passed =
          deploy(
              "a",
              "--smoke",
              config,
              "--endpoint",
              url,
              "--api-key-file",
              "" + folder.resolve("key"));
      assertThat(passed.exit()).as(passed.err()).isZero();
      assertThat(passed.out()).contains("smoke test passed: 1 prompt, asked of " + url);
      assertThat(keys).containsExactly("Bearer s3cret-t0ken");

      serveConfig("Rome");
      Screen failed = deploy("b", "--smoke", config, "--endpoint", url);
      assertThat(failed.exit()).isEqualTo(5);
      assertThat(failed.err())
          .contains("the smoke test of b failed")
          .contains("was answered with 'Paris.', which has no match of Rome")
          .contains("a is in production again, in place of b");
      assertThat(current()).isEqualTo("weights of a");
      assertThat(Files.readString(durable.resolve("deploy/history.jsonl")))
          .contains("rolled_back")
          .doesNotContain("s3cret");
    } finally {
      server.stop(0);
    }
    Screen gone = deploy("b", "--endpoint", "http://127.0.0.1:9");
    assertThat(gone.exit()).isEqualTo(5);
    assertThat(gone.err()).contains("does not answer");
    assertThat(current()).isEqualTo("weights of a");
  }

  /** Whoever reads current_model while the candidate is asked has the earlier release. */
  @Test
  void theCandidateIsAskedBeforeTheSwitch() throws IOException {
    assertThat(deploy("a").exit()).isZero();
    HttpServer server =
        HttpServer.create(new InetSocketAddress(java.net.InetAddress.getLoopbackAddress(), 0), 0);
    List<String> readers = new ArrayList<>();
    answer(server, "/v1/models", 200, "{\"data\":[{\"id\":\"science\"}]}");
    int[] health = {500};
    server.createContext(
        "/health",
        exchange -> {
          readers.add(current());
          exchange.sendResponseHeaders(health[0], -1);
          exchange.close();
        });
    server.start();
    try {
      String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
      String history = Files.readString(durable.resolve("deploy/history.jsonl"));

      Screen failed = deploy("b", "--candidate", "--endpoint", url);
      assertThat(failed.exit()).isEqualTo(5);
      assertThat(failed.err()).contains("the smoke test of b failed", "nothing was changed");
      assertThat(durable.resolve("deploy/history.jsonl")).hasContent(history.stripTrailing());

      health[0] = 200;
      Screen passed = deploy("b", "--candidate", "--endpoint", url);
      assertThat(passed.exit()).as(passed.err()).isZero();
      assertThat(passed.out()).contains("smoke test passed: readiness only, before the switch");
      assertThat(readers).isNotEmpty().allMatch("weights of a"::equals);
      assertThat(current()).isEqualTo("weights of b");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void theServerOfACandidateHasTheReleasesOwnFolder() throws IOException {
    serveConfig("Paris");
    Path policy = terminal.workspace.resolve("configs/policy.yaml");
    Files.writeString(policy, Files.readString(policy).replace("amount: 1.00", "amount: 1000.00"));
    terminal.withSlurm();
    terminal.program(
        "sbatch", "echo 'sbatch: error: Invalid partition name specified' >&2; exit 1");
    String config = terminal.workspace.resolve("serve.yaml").toString();

    Screen screen = deploy("a", "--smoke", config, "--candidate", "--cluster", "default");

    assertThat(screen.exit()).as(screen.out() + screen.err()).isEqualTo(5);
    try (Stream<Path> runs = Files.list(terminal.workspace.resolve("runs"))) {
      Path run =
          runs.filter(one -> one.getFileName().toString().startsWith("serve_"))
              .findFirst()
              .orElseThrow();
      assertThat(Files.readString(run.resolve("plan.json")))
          .contains(durable.resolve("deploy/releases/a/model").toString())
          .doesNotContain("current_model");
    }
    assertThat(durable.resolve("deploy/history.jsonl")).doesNotExist();
    assertThat(deploy("a", "--candidate").err()).contains("--candidate works only with");
  }

  @Test
  void anEndpointThatIsNoUrlIsRefusedBeforeAnythingChanges() throws IOException {
    for (String url :
        List.of("notaurl", "", "localhost:80", "ftp://n1/v1", "http://", "http:// x")) {
      Screen refused = deploy("a", "--endpoint", url);
      assertThat(refused.exit()).as(url).isEqualTo(2);
      assertThat(refused.err()).contains("--endpoint: expected a URL", "got '" + url + "'");
    }
    assertThat(durable.resolve("deploy/history.jsonl")).doesNotExist();
  }

  @Test
  void anApprovalThatNothingUsesIsRefused() throws IOException {
    for (List<String> more :
        List.of(
            List.<String>of(),
            List.of("--endpoint", "http://n1/v1"),
            List.of("--endpoint", "http://n1/v1", "--smoke", "serve.yaml"))) {
      List<String> words = new ArrayList<>(List.of("--approval", "x"));
      words.addAll(more);
      Screen refused = deploy("a", words.toArray(String[]::new));
      assertThat(refused.exit()).isEqualTo(2);
      assertThat(refused.err())
          .contains("--approval covers the server that --smoke CONFIG starts")
          .contains("leave --approval out");
    }
    assertThat(durable.resolve("deploy/current_model")).doesNotExist();
  }

  @Test
  void aMessageAboutAKeyNamesTheCommand() throws IOException {
    String id = terminal.type("halt", "--json").json().text("halt_id");
    terminal.with("HOME", folder.toString());
    assertThat(terminal.type("unhalt", id, "--yes").err())
        .contains("there is no SSH key in " + folder + "/.ssh: unhalt looks for id_ed25519");
    deploy("a");
    assertThat(terminal.type("release", "rollback", "--yes").err())
        .contains(": release rollback looks for id_ed25519");

    Files.writeString(
        folder.resolve("allowed_signers"),
        "*@site namespaces=\"nexa-slurm-release\" " + Keys.line(boss) + "\n");
    assertThat(terminal.type("unhalt", id, "--yes", "--key", "" + boss).err())
        .contains("has only a pattern for your key")
        .contains("can add this line to ")
        .doesNotContain("--as");
  }

  @Test
  void theListAsJsonHasTheSignersAsAList() throws IOException {
    MadeRelease.write(durable, "d", "pass", List.of());
    List<JsonObject> listed = terminal.type("release", "list", "--json").json().objects("releases");

    assertThat(listed.get(0).texts("signed_by")).containsExactly("boss@site");
    assertThat(listed.get(3).texts("signed_by")).isEmpty();
    assertThat(listed.get(0).text("digest")).hasSize(64);
    assertThat(listed.get(0).members()).doesNotContainKey("signed by");
  }

  /** The run of the release is not in this workspace. */
  @Test
  void lineageShowsAReleaseOfAnotherWorkspace() throws IOException {
    String name = "train-demo_20251101_143200";
    MadeRelease.write(durable, name, "pass", List.of());

    Screen shown = terminal.type("lineage", name);

    assertThat(shown.exit()).as(shown.err()).isZero();
    assertThat(shown.out()).contains("release " + name);
    assertThat(terminal.type("lineage", "train-demo_20251101_143201").err())
        .contains("run-unknown");
  }

  private static void answer(HttpServer server, String path, int status, String body) {
    server.createContext(
        path,
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  private void serveConfig(String expect) {
    terminal.file(
        "serve.yaml",
        """
        stage: serve
        backend: vllm
        model_name: ${durable}/deploy/current_model
        resources: {gpus_per_node: 1, gpu_type: h100, memory: 1G, time: 1h}
        smoke_prompts:
        - {prompt: "The capital of France is", expect: "%s", max_tokens: 8}
        """
            .formatted(expect));
  }

  @Test
  void aServerOfAnotherModelIsNoTest() {
    serveConfig("Paris");
    terminal.file(
        "other.yaml",
        "stage: serve\nbackend: vllm\nmodel_name: /models/x\n"
            + "resources: {gpus_per_node: 1, gpu_type: h100, memory: 1G, time: 1h}\n");
    Screen screen = deploy("a", "--smoke", terminal.workspace.resolve("other.yaml").toString());
    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("model_name is /models/x");
    assertThat(durable.resolve("deploy/current_model")).doesNotExist();
  }

  @Test
  void dryRunChangesNothing() {
    Screen screen = deploy("a", "--dry-run");
    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("deploy a");
    assertThat(durable.resolve("deploy/history.jsonl")).doesNotExist();
  }
}
