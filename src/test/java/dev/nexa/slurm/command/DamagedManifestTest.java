package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One file of one run is damaged: every command that lists goes on, and the file is named. */
class DamagedManifestTest {
  @TempDir Path folder;
  private Terminal ada;
  private Workspace workspace;

  @Test
  void noListStopsForOneDamagedManifest() throws IOException {
    ada = new Terminal(folder).withSlurm();
    workspace = new Workspace(ada.workspace, DurableFiles.onDisk());
    ada.program(
        "sbatch",
        "n=100; [ -e %1$s/n ] && read n <%1$s/n; n=$((n + 10)); echo $n >%1$s/n; echo $n"
            .formatted(ada.bin));
    ada.file(
        "configs/clusters/default.yaml",
        "scheduler: slurm\nhealth_check: false\n"
            + "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n");
    ada.file(
        "data.yaml",
        "stage: data\nbackend: shell\nrun: echo\nresources: {cpus_per_task: 1, memory: 1G, time: 1h}\n");
    ada.file(
        "p.yaml",
        "name: p\nstages:\n  a: {config: data.yaml}\n  b: {config: data.yaml, after: [a]}\n");
    for (int i = 0; i < 2; i++) {
      Screen made = ada.type("pipeline", "run", "p.yaml");
      assertThat(made.exit()).as(made.err()).isZero();
    }
    allEnd();
    assertThat(ada.type("reconcile").exit()).isZero();
    List<Path> manifests = manifests();
    assertThat(manifests).hasSize(4);
    Path damaged = manifests.get(0);
    String whole = Files.readString(damaged);

    for (String text :
        List.of(
            whole.substring(2),
            whole.substring(0, whole.length() / 2),
            "",
            "{}\n",
            whole.replace("\"currency\"", "\"currencies\""),
            whole.replace("\"tasks\"", "\"task\""))) {
      Files.delete(damaged);
      Files.writeString(damaged, text);
      for (String command : lists()) {
        Screen screen = ada.type(command.split(" ", -1));

        assertThat(screen.err())
            .as(command + " with " + text)
            .doesNotContain("this is a defect", "\tat ");
        assertThat(screen.exit()).as(command + " " + screen.err()).isLessThan(3);
      }
      Screen pipelines = ada.type("pipeline", "list");
      assertThat(pipelines.exit()).as(pipelines.err()).isZero();
      assertThat(pipelines.out().lines().filter(line -> line.contains("pipeline_"))).hasSize(2);
      if (!text.contains("\"status\"") || !text.startsWith("{")) {
        assertThat(pipelines.err()).contains(damaged.getFileName().toString());
      }
    }
  }

  private static List<String> lists() {
    List<String> lists =
        HelpTest.commands().stream()
            .filter(name -> name.equals("status") || name.equals("costs") || name.endsWith(" list"))
            .toList();
    assertThat(lists).contains("pipeline list", "runs list", "serve list").hasSizeGreaterThan(8);
    return lists;
  }

  private void allEnd() {
    StringBuilder rows = new StringBuilder(":");
    for (RunFolder run : workspace.openRuns().stream().map(workspace::run).toList()) {
      for (Submission submission : RunState.of(run.journal().read()).submissions()) {
        rows.append('\n')
            .append(
                Terminal.accountingRow(
                    submission.jobId().orElseThrow(), 0, "COMPLETED", submission.key()));
      }
    }
    ada.program("sacct", rows.toString());
  }

  private List<Path> manifests() throws IOException {
    try (Stream<Path> all = Files.list(ada.workspace.resolve("runs/manifests"))) {
      return all.filter(file -> !file.getFileName().toString().startsWith("cost_"))
          .sorted()
          .toList();
    }
  }
}
