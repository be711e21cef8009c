package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.Tres;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Submission;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a real job script leaves says the same as the accounting of the scheduler that ran it. */
class WitnessesAgreeTest {
  @TempDir Path folder;

  @Test
  void ofEachTask() throws IOException {
    Path config = folder.resolve("seven.yaml");
    Files.writeString(
        config,
        """
        stage: data
        backend: shell
        array: {shards: 3}
        run: sleep 1; exit $((NEXA_TASK % 2 * 7))
        resources: {cpus_per_task: 1, memory: 100M, time: 1m}
        """);
    StringWriter out = new StringWriter();
    String[] submit = {
      "submit", config.toString(), "--local", "--wait", "--json", "--workspace", folder.toString()
    };
    Main.run(submit, System.getenv(), new PrintWriter(out), new PrintWriter(new StringWriter()));
    Context context = new Context(folder, System.getenv());
    RunFolder run =
        context.workspace().run(new RunId(Json.parseObject(out.toString()).text("run_id")));
    RunState state = RunState.of(run.journal().read());
    RunFacts facts = RunFacts.shown(run);

    Submission submission = state.last().orElseThrow();
    List<String> problems = new ArrayList<>();

    List<AccountingRecord> kept =
        byTask(
            TaskEvidence.gather(context.scheduler("local"), List.of(state))
                .rows(run, facts, submission, problems));
    List<AccountingRecord> left =
        byTask(
            new ResultsAsAccounting(run, facts, submission, List.of(), List.of(), problems)
                .rows(Instant.now()));

    assertThat(problems).isEmpty();
    assertThat(left).hasSize(3).hasSameSizeAs(kept);
    for (int task = 0; task < 3; task++) {
      AccountingRecord job = left.get(task);
      AccountingRecord accounting = kept.get(task);
      assertThat(job.tasks()).isEqualTo(accounting.tasks());
      assertThat(job.arrayJobId()).isEqualTo(accounting.arrayJobId());
      assertThat(job.rawJobId()).isEqualTo(accounting.rawJobId());
      assertThat(job.state()).isEqualTo(accounting.state());
      assertThat(job.exitCode()).isEqualTo(accounting.exitCode());
      // The scheduler counts from the start of the processes: seconds apart on a busy machine.
      assertThat(job.elapsedSeconds()).isCloseTo(accounting.elapsedSeconds(), within(30L));
      assertThat(Tres.parse(job.allocTres()).cpus())
          .isEqualTo(Tres.parse(accounting.allocTres()).cpus());
      assertThat(Tres.parse(job.allocTres()).memoryBytes())
          .isEqualTo(Tres.parse(accounting.allocTres()).memoryBytes());
    }
  }

  private static List<AccountingRecord> byTask(List<AccountingRecord> rows) {
    return rows.stream().sorted(Comparator.comparing(row -> row.tasks().indices().get(0))).toList();
  }
}
