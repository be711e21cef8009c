package dev.nexa.slurm.command.releases;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.records.approvals.Keys;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/**
 * train, eval, gate, package, sign, deploy, smoke test, rollback on the real Slurm; then a gate
 * that fails, its halt, and what goes on after it. PyTorch trains the model; a stand-in plays vLLM.
 */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Tag("full")
class ReleaseLifeTest {
  private static final String TRAIN =
      """
      import json, os, struct, torch
      torch.manual_seed(int(os.environ["SEED"]))
      model = torch.nn.Linear(8, 1)
      step = torch.optim.SGD(model.parameters(), lr=0.05)
      x = torch.randn(256, 8)
      y = x.sum(dim=1, keepdim=True)
      for _ in range(50):
          loss = ((model(x) - y) ** 2).mean()
          step.zero_grad(); loss.backward(); step.step()
      tensors, header, at = [], {}, 0
      for name, value in sorted(model.state_dict().items()):
          data = struct.pack("<%df" % value.numel(), *value.flatten().tolist())
          header[name] = {"dtype": "F32", "shape": list(value.shape), "data_offsets": [at, at + len(data)]}
          at += len(data); tensors.append(data)
      folder = os.path.join(os.environ["NEXA_CHECKPOINTS"], "final")
      os.makedirs(folder)
      head = json.dumps(header).encode()
      with open(os.path.join(folder, "model.safetensors"), "wb") as out:
          out.write(struct.pack("<Q", len(head)) + head + b"".join(tensors))
      with open(os.path.join(folder, "config.json"), "w") as out:
          json.dump({"architectures": ["Linear"]}, out)
      with open(os.environ["NEXA_METRICS"], "w") as out:
          json.dump({"checkpoint": folder, "loss": loss.item()}, out)
      """;

  private static final String EVAL =
      """
      import json, os
      folder = os.environ["NEXA_OUTPUT"]
      os.makedirs(folder)
      with open(os.path.join(folder, "rows.jsonl"), "w") as out:
          for n in range(40):
              print(json.dumps({"custom_id": "q%d" % n, "dss": float(os.environ["SCORE"]) + n % 2 / 10}), file=out)
      with open(os.environ["NEXA_METRICS"], "w") as out:
          json.dump({"evaluation": {"run_id": os.environ["NEXA_RUN_ID"], "dss": float(os.environ["SCORE"])}}, out)
      """;

  @TempDir Path workspace;
  private Path boss;

  private record Typed(int exit, String out, String err) {}

  private Typed type(String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    environment.put("NEXA_CLUSTER", "test");
    int exit =
        Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }

  private Typed well(String... command) {
    Typed typed = type(command);
    assertThat(typed.exit()).as("%s%n%s%n%s", List.of(command), typed.out(), typed.err()).isZero();
    return typed;
  }

  private void write(String name, String text) throws IOException {
    Files.createDirectories(workspace.resolve(name).getParent());
    Files.writeString(workspace.resolve(name), text);
  }

  private void site() throws IOException {
    new Person(workspace)
        .slurmProfile(
            "health_check: false\nenv: {PATH: '%s:/usr/bin:/bin', STANDIN_LOG: '%s'}\n"
                .formatted(
                    Path.of("src/test/resources/pipeline").toAbsolutePath(),
                    workspace.resolve("answers.log")));
    boss = Keys.make(workspace, "boss");
    write("allowed_signers", "boss@site " + Keys.line(boss) + "\n");
    write(
        "configs/policy.yaml",
        """
        approval_over: {amount: 10000, currency: USD}
        gate_before: [publish]
        halt_on_gate_failure: true
        approvals: {directory: approvals, allowed_signers: allowed_signers}
        notify:
          none: {kind: command, command: [/bin/true]}
        """);
    write("train.py", TRAIN);
    write("eval.py", EVAL);
    String resources = "resources: {partition: cpu, memory: 600M, time: 5m}\n";
    write(
        "train.yaml",
        "stage: train\nbackend: shell\nenv: {SEED: '1'}\nrun: python3 "
            + workspace.resolve("train.py")
            + "\n"
            + resources);
    write(
        "eval.yaml",
        "stage: eval\nbackend: shell\nenv: {SCORE: '4'}\nrun: test -f"
            + " \"${stages.train.checkpoint}/model.safetensors\" && python3 "
            + workspace.resolve("eval.py")
            + "\n"
            + resources);
    write(
        "gate.yaml",
        """
        stage: gate
        backend: data
        data:
          gate:
            candidate: "${stages.eval.output}/rows.jsonl"
            rules:
            - {metric: dss, at_least: 3}
        resources: {partition: cpu, cpus_per_task: 1, memory: 1500M, time: 10m}
        """);
    write("publish.yaml", "stage: publish\nbackend: shell\nrun: echo published\n" + resources);
    write(
        "life.yaml",
        """
        stages:
          train: {config: train.yaml}
          eval: {config: eval.yaml, after: [train]}
          gate: {config: gate.yaml, after: [eval]}
          publish: {config: publish.yaml, after: [gate]}
        """);
    write(
        "serve.yaml",
        """
        stage: serve
        backend: vllm
        model_name: ${durable}/deploy/current_model
        resources: {partition: gpu, gpus_per_node: 1, gpu_type: h100, memory: 1G, time: 10m}
        smoke_prompts:
        - {prompt: "Why does ball number 1 fall as fast as ball number 3?", expect: "Because of"}
        """);
  }

  private JsonObject pipeline(int exit, String... more) {
    String[] words = new String[7 + more.length];
    List<String> first =
        List.of("pipeline", "run", workspace.resolve("life.yaml").toString(), "--cluster", "test");
    for (int i = 0; i < 5; i++) {
      words[i] = first.get(i);
    }
    words[5] = "--wait";
    words[6] = "--json";
    System.arraycopy(more, 0, words, 7, more.length);
    Typed typed = type(words);
    assertThat(typed.exit()).as(typed.out() + typed.err()).isEqualTo(exit);
    return Json.parseObject(typed.out());
  }

  private static String run(JsonObject pipeline, String stage) {
    for (JsonObject one : pipeline.objects("stages")) {
      if (one.text("stage").equals(stage)) {
        return one.text("run_id");
      }
    }
    throw new AssertionError(stage + " in " + pipeline);
  }

  private String release(JsonObject pipeline) {
    String name = run(pipeline, "train");
    well("release", "package", name);
    well("release", "sign", name, "--key", "" + boss, "--yes");
    return name;
  }

  private Typed deploy(String name, String... more) {
    String[] words = new String[6 + more.length];
    System.arraycopy(
        new String[] {"release", "deploy", name, "--yes", "--key", "" + boss}, 0, words, 0, 6);
    System.arraycopy(more, 0, words, 6, more.length);
    return type(words);
  }

  private String current() throws IOException {
    return Files.readSymbolicLink(workspace.resolve("durable/deploy/current_model")).toString();
  }

  @Test
  void fromTrainingToProductionAndBack() throws Exception {
    site();
    String first = release(pipeline(0));
    Typed served = deploy(first, "--smoke", workspace.resolve("serve.yaml").toString());
    assertThat(served.exit()).as(served.out() + served.err()).isZero();
    assertThat(served.out()).contains("smoke test passed: 1 prompt");
    assertThat(current()).isEqualTo("releases/" + first + "/model");

    JsonObject again = pipeline(0, "--set", "train.env.SEED=2");
    String second = release(again);
    write(
        "strict.yaml",
        Files.readString(workspace.resolve("serve.yaml")).replace("Because of", "Never"));
    Typed failed = deploy(second, "--smoke", workspace.resolve("strict.yaml").toString());
    assertThat(failed.exit()).as(failed.out() + failed.err()).isEqualTo(5);
    assertThat(failed.err())
        .contains("the smoke test of " + second + " failed")
        .contains(first + " is in production again");
    assertThat(current()).isEqualTo("releases/" + first + "/model");
    assertThat(type("serve", "list").out()).doesNotContain("ready");

    assertThat(deploy(second).exit()).isZero();
    well("release", "rollback", "--yes", "--key", "" + boss, "--reason", "shorter answers");
    assertThat(current()).isEqualTo("releases/" + first + "/model");
    well("release", "history", "--verify");

    JsonObject bad = pipeline(5, "--set", "eval.env.SCORE=1");
    String gate = run(bad, "gate");
    assertThat(type("halt", "list").out()).contains("halt_" + gate, "life");
    Typed refused =
        type("pipeline", "run", workspace.resolve("life.yaml").toString(), "--cluster", "test");
    assertThat(refused.exit()).isEqualTo(3);
    assertThat(refused.err()).contains("halt_" + gate, "set by the failed gate " + gate);
    assertThat(deploy(second).exit()).isEqualTo(3);
    well("unhalt", "halt_" + gate, "--key", "" + boss, "--yes");
    assertThat(deploy(second).exit()).isZero();

    well("postmortem", gate, "-o", workspace.resolve("pm.tar.gz").toString());
    well("postmortem", gate, "--remediation", "the judge was mended");
    assertThat(type("runs", "show", gate).out()).contains("the judge was mended");
    assertThat(
            type("pipeline", "run", workspace.resolve("life.yaml").toString(), "--dry-run").err())
        .contains("remediation by", "the judge was mended");
    type("reconcile");
    List<String> kinds =
        Json.parseObject(type("notify", "list", "--all", "--json").out())
            .objects("notifications")
            .stream()
            .map(one -> one.text("kind"))
            .toList();
    assertThat(kinds).contains("released", "deployed", "gate_failed", "halted", "ended", "failed");
    Typed audit = type("audit");
    assertThat(audit.out()).contains(" 0 differences");
  }
}
