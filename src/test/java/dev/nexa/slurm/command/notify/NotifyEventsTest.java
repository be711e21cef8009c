package dev.nexa.slurm.command.notify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Site;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.notify.SendNotices;
import dev.nexa.slurm.run.reconcile.ReconcileRuns;
import dev.nexa.slurm.run.submit.CrashPoint;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Events, caused by the commands that people type; runs are on this machine's own scheduler. */
class NotifyEventsTest {
  private static final String RESOURCES = "resources: {time: 2m, memory: 50M}\n";

  @TempDir Path workspace;
  private Path got;
  private String channel;

  private record Typed(int exit, String out, String err) {}

  @BeforeEach
  void site() throws IOException {
    got = workspace.resolve("got");
    StandIn.sh(
        workspace.resolve("hook"),
        "echo \"$NEXA_EVENT_ID: $NEXA_TITLE\" >>" + got + "; cat >>" + got + ".json");
    channel = "hook: {kind: command, command: [" + workspace.resolve("hook") + "]}\n";
    policy("");
  }

  private void policy(String more) throws IOException {
    write(
        "configs/policy.yaml",
        "approval_over: {amount: 10000000, currency: USD}\nnotify:\n  " + channel + more);
  }

  private Map<String, String> environment() {
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    return environment;
  }

  private Typed type(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int exit =
        Main.run(command, environment(), new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }

  private void write(String name, String text) throws IOException {
    Files.createDirectories(workspace.resolve(name).getParent());
    Files.writeString(workspace.resolve(name), text);
  }

  private List<String> got() throws IOException {
    return Files.exists(got) ? Files.readAllLines(got) : List.of();
  }

  private String submit(String config) throws IOException {
    write("run.yaml", config);
    Typed made = type("submit", workspace.resolve("run.yaml").toString(), "--local", "--json");
    assertThat(made.exit()).as(made.err()).isZero();
    return Json.parseObject(made.out()).text("run_id");
  }

  /** Makes passes until this many notifications have arrived. */
  private void passUntil(int notifications) throws Exception {
    for (int i = 0; got().size() < notifications; i++) {
      assertThat(i).as("%s", got()).isLessThan(240);
      Typed pass = type("reconcile");
      assertThat(pass.exit()).as(pass.err()).isZero();
      Thread.sleep(250);
    }
  }

  @Test
  void aRunThatFailsSaysWhyAndOneThatEndsWellSaysSo() throws Exception {
    String failed =
        submit(
            "stage: train\nbackend: shell\nrun: |\n  echo \"ModuleNotFoundError: No module named"
                + " 'torchh'\" >&2; exit 1\n"
                + RESOURCES);
    passUntil(1);
    String ended = submit("stage: train\nbackend: shell\nrun: echo fine\n" + RESOURCES);
    passUntil(2);
    type("reconcile");

    assertThat(got())
        .containsExactly(
            "failed." + failed + ": " + failed + " failed",
            "ended." + ended + ": " + ended + " completed");
    String why = type("why", failed).out().lines().findFirst().orElseThrow();
    assertThat(why).startsWith(failed + ": ");
    assertThat(Files.readString(workspace.resolve("got.json")))
        .contains("\"lines\": [\"" + why.substring(failed.length() + 2));
    JsonObject list = Json.parseObject(type("notify", "list", "--json").out());
    assertThat(list.objects("notifications")).hasSize(2);
    assertThat(list.objects("notifications").get(0).objects("deliveries").get(0).text("state"))
        .isEqualTo("sent");
    assertThat(type("notify", "list").out())
        .contains("ended." + ended, "hook", "sent", ended + " completed");
    assertThat(type("notify", "resend", "ended." + ended).out()).isEqualTo("hook: sent\n");
    assertThat(got()).hasSize(3);
    Typed unknown = type("notify", "resend", "ended." + failed);
    assertThat(unknown.exit()).isEqualTo(2);
    assertThat(unknown.err())
        .contains("there is no notification 'ended.", "nexa-slurm notify resend", "notify list");
  }

  @Test
  void aRunNamesChannelsOfItsOwnAndACancelIsNoFailure() throws Exception {
    channel = "hook: {kind: command, command: [/bin/false], events: [halted]}\n";
    policy("");
    String run =
        submit(
            "stage: train\nbackend: shell\nrun: sleep 100\nnotify:\n  mine: {kind: command, command: ["
                + workspace.resolve("hook")
                + "], events: [ended]}\n"
                + RESOURCES);
    type("cancel", run);
    passUntil(1);
    assertThat(got()).containsExactly("ended." + run + ": " + run + " cancelled");
    assertThat(type("notify", "list").out()).contains("mine (run)");
  }

  /** A process that dies between the record and the journal's last line records it again. */
  @Test
  void aPassThatDiesAtTheEndOfARunNotifiesOnce() throws Exception {
    String run = submit("stage: train\nbackend: shell\nrun: echo fine\n" + RESOURCES);
    for (CrashPoint point : List.of(CrashPoint.FINAL_MANIFEST_WRITTEN, CrashPoint.LEDGER_WRITTEN)) {
      boolean[] died = {false};
      for (int i = 0; !died[0]; i++) {
        assertThat(i).isLessThan(240);
        Context context =
            new Context(
                workspace,
                environment(),
                passed -> {
                  if (passed == point) {
                    died[0] = true;
                    throw new OutOfMemoryError("killed");
                  }
                });
        new ReconcileRuns(context).reconcile();
        Thread.sleep(250);
      }
      new SendNotices(new Context(workspace, environment())).pass(new ArrayList<>());
    }
    passUntil(1);
    type("reconcile");
    type("reconcile");
    assertThat(got()).containsExactly("ended." + run + ": " + run + " completed");
  }

  @Test
  void aPipelineWhoseGateFailsSaysSoAndIsHalted() throws Exception {
    policy("halt_on_gate_failure: true\n");
    StringBuilder rows = new StringBuilder();
    for (int n = 0; n < 40; n++) {
      rows.append("{\"custom_id\":\"q")
          .append(n)
          .append("\",\"dss\":1.")
          .append(n % 2)
          .append("}\n");
    }
    write("rows.jsonl", rows.toString());
    write(
        "gate.yaml",
        "stage: gate\nbackend: data\ndata:\n  gate:\n    candidate: "
            + workspace.resolve("rows.jsonl")
            + "\n    rules:\n    - {metric: dss, at_least: 3}\n"
            + "resources: {time: 2m, memory: 1500M, cpus_per_task: 1}\n");
    write("train.yaml", "stage: train\nbackend: shell\nrun: echo fine\n" + RESOURCES);
    write(
        "life.yaml",
        "stages:\n  train: {config: train.yaml}\n  gate: {config: gate.yaml, after: [train]}\n");
    Typed made =
        type("pipeline", "run", workspace.resolve("life.yaml").toString(), "--local", "--json");
    assertThat(made.exit()).as(made.err()).isZero();
    String id = Json.parseObject(made.out()).text("pipeline_id");

    passUntil(3);

    assertThat(got())
        .anySatisfy(
            line -> assertThat(line).startsWith("gate_failed.gate_").endsWith("the gate failed"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("halted.halt_gate_")
                    .contains("stops the pipeline life"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .startsWith("failed." + id)
                    .contains("pipeline life (" + id + ") failed"))
        .as("the stage that ended well is a part of the pipeline's end")
        .hasSize(3);
  }

  @Test
  void aBudgetIsExceededOnceInItsPeriod() throws Exception {
    write(
        "configs/prices/default.yaml",
        "currency: USD\nas_of: 2025-11-01\ncpu_hour: {price: 1000000, source: test}\n"
            + "memory_gib_hour: {price: 0, source: test}\n");
    submit("stage: train\nbackend: shell\nrun: sleep 2\n" + RESOURCES);
    policy("budgets:\n  - {scope: all, amount: 0.01, currency: USD, period: year}\n");
    passUntil(2);
    type("reconcile");
    assertThat(got())
        .hasSize(2)
        .anySatisfy(
            line -> assertThat(line).startsWith("over_budget.all.").endsWith("is exceeded"));
  }

  @Test
  void aRunThatNeedsAnApprovalOrDoesNotFitIntoABudgetSaysSoOnce() throws Exception {
    Site site =
        new Site(Files.createDirectories(workspace.resolve("site")))
            .policy("notify:\n  " + channel);
    Terminal ada = site.workspace("ada");
    assertThat(ada.type("submit", "run.yaml").exit()).isEqualTo(3);
    assertThat(ada.type("submit", "run.yaml").exit()).isEqualTo(3);
    assertThat(got()).as("a submit sends nothing").isEmpty();
    ada.type("reconcile");
    assertThat(got())
        .hasSize(1)
        .first()
        .asString()
        .startsWith("approval_needed.")
        .endsWith("run.yaml needs an approval");

    Terminal bob =
        site.policy(
                "budgets:\n  - {scope: all, amount: 1, currency: USD, period: month}\nnotify:\n  "
                    + channel)
            .workspace("bob");
    Screen refused = bob.type("submit", "run.yaml");
    assertThat(refused.exit()).isEqualTo(3);
    bob.type("reconcile");
    assertThat(got())
        .hasSize(2)
        .last()
        .asString()
        .startsWith("over_budget.")
        .endsWith("does not fit into a budget");

    Terminal eve =
        site.policy(
                "budgets:\n  - {scope: all, amount: 1, currency: USD, period: month}\nnotify:\n  "
                    + channel.replace("]}", "], events: [approval_needed]}"))
            .workspace("eve");
    eve.type("submit", "run.yaml");
    eve.type("reconcile");
    assertThat(got()).as("who asked for approvals only").hasSize(3);
  }
}
