package dev.nexa.slurm.run.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.command.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A policy with {@code gate_before}. */
class GateBeforeTest {
  private static final int REFUSED = 3;
  @TempDir private Path workspace;

  @BeforeEach
  void begin() throws IOException {
    file(
        "configs/policy.yaml",
        "approval_over: {amount: 10, currency: USD}\ngate_before: [release]\n");
    file(
        "configs/clusters/local.yaml",
        "scheduler: local\nhealth_check: false\n"
            + "storage: {scratch: %1$s/s, durable: %1$s/d, shared: %1$s/h}\n".formatted(workspace));
    StringBuilder items = new StringBuilder();
    for (int i = 0; i < 40; i++) {
      items.append("{\"custom_id\": \"").append(i).append("\", \"dss\": 4}\n");
    }
    file("items.jsonl", items.toString());
    file("gate.yaml", gate(3));
    file("hard.yaml", gate(5));
    file("work.yaml", shell("work"));
    file("release.yaml", shell("release"));
  }

  @Test
  void aSingleRunNeedsAGateThatPassed() {
    assertThat(type(REFUSED, "submit", "release.yaml", "--local"))
        .contains("release.yaml: a run of stage release may start only after a gate has passed")
        .contains("policy.yaml asks for that (gate_before)")
        .contains("--dependency afterok:RUN");
    String work = run("work.yaml");
    type(REFUSED, "submit", "release.yaml", "--local", "--dependency", "afterok:" + work);
    String gate = run("gate.yaml");
    type(REFUSED, "submit", "release.yaml", "--local", "--dependency", "afterany:" + gate);
    type(REFUSED, "submit", "release.yaml", "--local", "--dry-run");
    type(0, "submit", "release.yaml", "--local", "--dry-run", "--dependency", "afterok:" + gate);
    String behind = run("work.yaml", "--dependency", "afterok:" + gate);
    String release = run("release.yaml", "--dependency", "afterok:" + behind);
    run("release.yaml", "--dependency", "afterok:" + gate);
    type(0, "rerun", release, "--wait");

    type(5, "submit", "hard.yaml", "--local", "--wait");
    assertThat(type(2, "submit", "release.yaml", "--local", "--dependency", "afterok:latest"))
        .contains("can never be met");
  }

  @Test
  void aRerunOfARunThatWasNotGatedIsRefused() throws IOException {
    file("configs/policy.yaml", "approval_over: {amount: 10, currency: USD}\n");
    String release = run("release.yaml");
    file(
        "configs/policy.yaml",
        "approval_over: {amount: 10, currency: USD}\ngate_before: [release]\n");
    assertThat(type(REFUSED, "rerun", release)).contains("gate_before");
  }

  @ParameterizedTest
  @CsvSource({
    "work.yaml, gate, 3",
    "gate.yaml, gate, 0",
    "gate.yaml, afterany:gate, 3",
    "gate.yaml, between, 0",
    "gate.yaml, other, 3"
  })
  void aPipelineNeedsAGateBeforeTheStage(String config, String after, int exit) throws IOException {
    file(
        "p.yaml",
        """
        stages:
          gate: {config: %s}
          between: {config: work.yaml, after: [gate]}
          other: {config: work.yaml, after: ["afterany:gate"]}
          out: {config: release.yaml, after: ["%s"]}
        """
            .formatted(config, after));
    String said = type(exit, "pipeline", "run", "p.yaml", "--local", "--dry-run");
    assertThat(type(exit, "pipeline", "estimate", "p.yaml", "--local")).isNotEmpty();
    if (exit != 0) {
      assertThat(said).contains("p.yaml: the stage out: a run of stage release may start only");
    }
  }

  private static String gate(int atLeast) {
    return "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G, cpus_per_task: 1}\n"
        + "data:\n  gate:\n    candidate: ${workspace}/items.jsonl\n"
        + "    rules: [{metric: dss, at_least: "
        + atLeast
        + ", on: estimate}]\n";
  }

  private static String shell(String stage) {
    return "stage: "
        + stage
        + "\nbackend: shell\nrun: \"true\"\n"
        + "resources: {time: 5m, memory: 100M, cpus_per_task: 1}\n";
  }

  private void file(String name, String text) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  /** Submits and waits; returns the run's id. */
  private String run(String config, String... more) {
    List<String> all = new ArrayList<>(List.of("submit", config, "--local", "--wait", "--json"));
    all.addAll(List.of(more));
    return Json.parseObject(type(0, all.toArray(String[]::new))).text("run_id");
  }

  private String type(int exit, String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<String> all = new ArrayList<>();
    for (String word : command) {
      all.add(word.endsWith(".yaml") ? workspace.resolve(word).toString() : word);
    }
    all.addAll(List.of("--workspace", workspace.toString()));
    int status =
        Main.run(
            all.toArray(String[]::new),
            System.getenv(),
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    assertThat(status).as("%s: %s%s", all, out, err).isEqualTo(exit);
    return status == 0 ? out.toString() : out + err.toString();
  }
}
