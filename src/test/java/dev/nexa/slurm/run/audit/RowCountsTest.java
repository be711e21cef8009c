package dev.nexa.slurm.run.audit;

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
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rows in are rows out and rows rejected. */
class RowCountsTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{} | ",
        "{'rows_out': 3} | ",
        "{'rows_in': 'many'} | ",
        "{'rows_in': 0} | ",
        "{'rows_in': 5, 'rows_out': 3, 'rows_rejected': 2} | ",
        "{'rows_in': 5, 'rows_out': 1, 'rows_rejected': 2, 'rows_missing': 2} | ",
        "{'rows_in': 3} | metrics: rows_in is 3, but no other rows are counted",
        "{'rows_in': 3, 'rows_out': 2} | metrics: rows_in is 3, but rows_out 2",
        "{'rows_in': 5, 'rows_out': 3, 'rows_rejected': 1} | metrics: rows_in is 5, but rows_out 3 + rows_rejected 1 is 4",
      })
  void aWrongSumIsNamed(String metrics, String wrong) {
    assertThat(RowCounts.difference(Json.parseObject(metrics.replace('\'', '"'))).orElse(null))
        .isEqualTo(wrong);
  }

  @Test
  void auditFindsRowsThatADataStageLost(@TempDir Path workspace) throws Exception {
    file(workspace, "configs/policy.yaml", "approval_over: {amount: 10, currency: USD}\n");
    file(
        workspace,
        "configs/clusters/local.yaml",
        "scheduler: local\nhealth_check: false\n"
            + "storage: {scratch: %1$s/s, durable: %1$s/d, shared: %1$s/h}\n".formatted(workspace));
    file(workspace, "raw.jsonl", "{\"text\": \"one\"}\n{\"text\": \"two\"}\n");
    file(
        workspace,
        "prepare.yaml",
        "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G, cpus_per_task: 1}\n"
            + "data: {prepare: {input: [\"${workspace}/raw.jsonl\"], columns: {text: text}, text: [text]}}\n");
    String id =
        Json.parseObject(
                type(workspace, 0, "submit", workspace + "/prepare.yaml", "--local", "--json"))
            .text("run_id");
    Path metrics = metrics(workspace.resolve("runs/" + id));
    Files.writeString(metrics, Files.readString(metrics).replaceFirst("(rows_out\": ?)2", "$11"));
    for (int i = 0; Files.exists(workspace.resolve("runs/open/" + id)); i++) {
      assertThat(i).isLessThan(100);
      type(workspace, 0, "reconcile");
      Thread.sleep(200);
    }

    assertThat(type(workspace, 1, "audit"))
        .contains(id + ".json: metrics: rows_in is 2, but rows_out 1 + rows_rejected 0 is 1");
  }

  /** Waits for the metrics of the run's task. */
  private static Path metrics(Path run) throws Exception {
    for (int i = 0; i < 300; i++) {
      try (Stream<Path> files = Files.walk(run)) {
        List<Path> found = files.filter(file -> file.toString().endsWith(".metrics.json")).toList();
        if (!found.isEmpty() && Files.readString(found.get(0)).contains("rows_out")) {
          return found.get(0);
        }
      }
      Thread.sleep(200);
    }
    throw new AssertionError("no metrics in " + run);
  }

  private static void file(Path workspace, String name, String text) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  private static String type(Path workspace, int exit, String... command) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(List.of("--workspace", workspace.toString()));
    int status =
        Main.run(
            all.toArray(String[]::new),
            System.getenv(),
            new PrintWriter(out, true),
            new PrintWriter(err, true));
    assertThat(status).as("%s: %s%s", all, out, err).isEqualTo(exit);
    return out.toString();
  }
}
