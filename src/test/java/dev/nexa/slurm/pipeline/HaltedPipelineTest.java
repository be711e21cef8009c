package dev.nexa.slurm.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A halt while a pipeline is in flight, on this machine's own scheduler. */
class HaltedPipelineTest {
  @TempDir Path workspace;

  private record Typed(int exit, String out, String err) {}

  private Typed type(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    int exit =
        Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }

  private void write(String name, String text) throws IOException {
    Files.createDirectories(workspace.resolve(name).getParent());
    Files.writeString(workspace.resolve(name), text);
  }

  private String state(String pipeline, String stage) {
    JsonObject status = Json.parseObject(type("pipeline", "status", pipeline, "--json").out());
    for (JsonObject one : status.objects("stages")) {
      if (one.text("stage").equals(stage)) {
        return one.text("state");
      }
    }
    return "";
  }

  private void until(String pipeline, String stage, String state) throws InterruptedException {
    for (int i = 0; !state(pipeline, stage).equals(state); i++) {
      assertThat(i).as("%s is %s", stage, state(pipeline, stage)).isLessThan(120);
      type("reconcile");
      Thread.sleep(500);
    }
  }

  @Test
  void theWaitingStageIsCancelledAndResumeGoesOnAfterUnhalt() throws Exception {
    Path boss = Keys.make(workspace, "boss");
    write("allowed_signers", "boss@site " + Keys.line(boss) + "\n");
    write(
        "configs/policy.yaml",
        """
        approval_over: {amount: 10, currency: USD}
        gate_before: [publish]
        approvals: {directory: approvals, allowed_signers: allowed_signers}
        """);
    String resources = "resources: {time: 2m, memory: 50M}\n";
    write(
        "gate.yaml",
        "stage: gate\nbackend: data\ndata:\n  gate:\n    candidate: "
            + workspace.resolve("rows.jsonl")
            + "\n    rules:\n    - {metric: dss, at_least: 3}\n"
            + "resources: {time: 2m, memory: 1500M, cpus_per_task: 1}\n");
    StringBuilder rows = new StringBuilder();
    for (int n = 0; n < 40; n++) {
      rows.append("{\"custom_id\":\"q")
          .append(n)
          .append("\",\"dss\":4.")
          .append(n % 2)
          .append("}\n");
    }
    write("rows.jsonl", rows.toString());
    write(
        "train.yaml",
        "stage: train\nbackend: shell\nrun: while [ ! -e "
            + workspace.resolve("go")
            + " ]; do sleep 0.2; done\n"
            + resources);
    write("publish.yaml", "stage: publish\nbackend: shell\nrun: echo out\n" + resources);
    write(
        "life.yaml",
        """
        stages:
          train: {config: train.yaml}
          gate: {config: gate.yaml, after: [train]}
          publish: {config: publish.yaml, after: [gate]}
        """);
    String file = workspace.resolve("life.yaml").toString();
    Typed made = type("pipeline", "run", file, "--local", "--json");
    assertThat(made.exit()).as(made.out() + made.err()).isZero();
    String id = Json.parseObject(made.out()).text("pipeline_id");
    until(id, "train", "running");

    // A halt of another pipeline stops nothing here. Its file was never run.
    write("configs/pipelines/other.yaml", "stages:\n  train: {config: train.yaml}\n");
    type("halt", "--pipeline", "other", "--cluster", "local");
    String halt =
        Json.parseObject(
                type("halt", "--pipeline", id, "--cluster", "local", "--reason", "bad", "--json")
                    .out())
            .text("halt_id");
    Typed pass = type("reconcile");
    assertThat(pass.out() + pass.err())
        .contains(id + ": publish was cancelled, because the halt " + halt + " is in force")
        .contains("nexa-slurm pipeline resume " + id);
    until(id, "publish", "cancelled");
    write("go", "");
    until(id, "gate", "completed");

    Typed resumed = type("pipeline", "resume", id);
    assertThat(resumed.exit()).isEqualTo(3);
    assertThat(resumed.err()).contains("publish may not start while the halt " + halt);
    assertThat(type("pipeline", "run", file, "--local").exit()).isEqualTo(3);
    String publish = Json.parseObject(made.out()).objects("stages").get(2).text("run_id");
    assertThat(type("rerun", publish).err()).contains("halted");
    assertThat(type("rerun", "--failed", "--tasks", "0", publish).exit()).isNotZero();

    Typed lifted = type("unhalt", halt, "--key", "" + boss, "--yes", "--cluster", "local");
    assertThat(lifted.exit()).as(lifted.err()).isZero();
    Typed on = type("pipeline", "resume", id);
    assertThat(on.exit()).as(on.err()).isZero();
    until(id, "publish", "completed");
  }
}
