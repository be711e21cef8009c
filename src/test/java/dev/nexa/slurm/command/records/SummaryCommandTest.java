package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** `summary` of runs whose snapshots are written here, and of this machine. */
class SummaryCommandTest {
  @TempDir Path folder;
  private Terminal terminal;
  private String good;
  private String bad;
  private String badKey;

  @BeforeEach
  void twoRuns() throws IOException {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .with("PATH", folder.resolve("bin") + ":/usr/bin:/bin")
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nrun: 'true'\nresources: {time: 10m, memory: 1G}\n");
    JsonObject first = terminal.type("submit", "run.yaml", "--json").json();
    good = first.text("run_id");
    String key = first.objects("jobs").get(0).text("name");
    snapshot(good, key, "2.20.5");
    terminal.program("sacct", Terminal.accountingRow(4711, 0, "COMPLETED", key));
    terminal.program("sbatch", "echo 4712");
    JsonObject second = terminal.type("submit", "run.yaml", "--json").json();
    bad = second.text("run_id");
    badKey = second.objects("jobs").get(0).text("name");
  }

  private Path own(String run, String key) {
    return terminal.workspace.resolve(
        "runs/%s/submissions/%s/results/0.0.snapshot.tsv".formatted(run, key));
  }

  private Path snapshot(String run, String key, String nccl) throws IOException {
    String lines =
        "kernel\t5.1\nmapped.libnccl.version\t%s\npackage.foo\t1\ntorch.version\t2.4\n"
            .formatted(nccl);
    Path file =
        Files.createDirectories(terminal.workspace.resolve("runs/snapshots"))
            .resolve(Sha256.of(lines) + ".tsv");
    Files.writeString(file, lines);
    Files.writeString(
        own(run, key),
        "run.job\t1\nrun.nodes\tn1\nrun.process\tpython\nrun.shared\t" + Sha256.of(lines) + "\n");
    return file;
  }

  @Test
  void aRunsSnapshotAndWhatDiffers() throws IOException {
    snapshot(bad, badKey, "2.21.5");

    assertThat(terminal.type("summary", good).out())
        .contains("mapped.libnccl.version  2.20.5\n", "run.nodes  n1\n", "nexa-slurm.version  ")
        .doesNotContain("run.shared");
    assertThat(terminal.type("summary", "diff", good, bad))
        .isEqualTo(new Screen(1, "mapped.libnccl.version  2.20.5 -> 2.21.5\n", ""));
    assertThat(terminal.type("summary", "diff", good, good)).isEqualTo(new Screen(0, "", ""));
    JsonObject change =
        terminal.type("summary", "diff", good, bad, "--json").json().objects("changes").get(0);
    assertThat(change.text("name") + change.text("before") + change.text("after"))
        .isEqualTo("mapped.libnccl.version2.20.52.21.5");
  }

  @Test
  void aCheckComparesWithThisMachine() {
    Screen screen = terminal.type("summary", "check", good);

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).startsWith("kernel  5.1 -> ").doesNotContain("nccl", "package");
  }

  @Test
  void aRunWithoutASnapshotSaysWhy() throws IOException {
    assertThat(terminal.type("summary", bad))
        .satisfies(screen -> assertThat(screen.exit()).isEqualTo(2))
        .satisfies(
            screen ->
                assertThat(screen.err())
                    .contains(
                        "has no snapshot: its task 0 has not started yet",
                        "nexa-slurm status " + bad));
    Path script = terminal.workspace.resolve("runs/" + bad + "/runner/snapshot.sh");
    Files.delete(script);
    assertThat(terminal.type("summary", bad).err()).contains("nexa-slurm 1.0.0 or newer");
    assertThat(terminal.type("summary", good + "x").err()).contains("[run-unknown]");
  }

  @Test
  void aChangedSharedFileIsRefused() throws IOException {
    Files.writeString(snapshot(good, keyOfGood(), "2.20.5"), "kernel\tplanted\n");

    assertThat(terminal.type("summary", good).err()).contains("[file-changed]");
    assertThat(terminal.type("summary").err()).contains(good + " is left out");
  }

  private String keyOfGood() throws IOException {
    try (var keys = Files.list(terminal.workspace.resolve("runs/" + good + "/submissions"))) {
      return keys.findFirst().orElseThrow().getFileName().toString();
    }
  }

  @Test
  void thisMachineIsWrittenToTheReport() throws IOException {
    Screen screen = terminal.type("summary");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("kernel  ", "memory  ");
    JsonObject report =
        Json.parseObject(
            Files.readString(terminal.workspace.resolve("runs/manifests/infra_report.json")));
    assertThat(report.object("facts").text("kernel")).isNotEmpty();
    assertThat(report.text("nexa_slurm_version")).isNotEmpty();
    assertThat(report.object("snapshots").members()).hasSize(1);
    assertThat(terminal.type("runs", "list").out()).doesNotContain("infra");
    assertThat(terminal.type("audit").err()).doesNotContain("infra", "snapshots");
  }

  @Test
  void whyNamesWhatHasChangedSinceTheLastRunThatWentWell() throws IOException {
    snapshot(bad, badKey, "2.21.5");
    terminal.type("reconcile");
    terminal.program(
        "sacct",
        Terminal.accountingRow(4711, 0, "COMPLETED", keyOfGood())
            + "\n"
            + Terminal.accountingRow(4712, 0, "FAILED", badKey));

    assertThat(terminal.type("why", bad).out())
        .contains(
            "since %s, which went well: libnccl 2.20.5 -> 2.21.5; `nexa-slurm summary diff %s %s` shows all"
                .formatted(good, good, bad));
  }
}
