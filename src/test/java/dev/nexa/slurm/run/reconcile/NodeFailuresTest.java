package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.submit.BadNodes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which nodes a workspace remembers, and what keeps off them. */
class NodeFailuresTest {
  private final Instant began = Instant.now();

  @TempDir Path workspace;

  private final List<String> done = new ArrayList<>();
  private int nodes = 40;
  private final FakeScheduler scheduler =
      new FakeScheduler() {
        @Override
        public int nodeCount(String partition) {
          return partition.equals("gpu") ? nodes : 0;
        }

        @Override
        public void requeueLarger(long jobId, OptionalInt task, String size) {
          done.add(jobId + (task.isPresent() ? "_" + task.getAsInt() : "") + " " + size);
        }
      };

  @Test
  void atMostATenthOfThePartitionIsLeftOutAndTheNewestFirst() {
    for (int i = 1; i <= 6; i++) {
      bad().remember("n" + i, "it failed", began.minusSeconds(1000 - i));
    }

    assertThat(leftOut("")).containsExactly("n6", "n5", "n4", "n3");
    nodes = 9;
    assertThat(leftOut("")).containsExactly("n6");
    nodes = 3;
    assertThat(leftOut(", nodes: 3")).as("the job needs all").isEmpty();
    nodes = 40;
    assertThat(leftOut(", nodelist: n6")).as("it was asked for").isEmpty();
    assertThat(leftOut(", exclude: 'n[5-6]'")).containsExactly("n4", "n3", "n2", "n1");
    assertThat(BadNodes.exclude(bad().folder().getParent(), plan(", exclude: 'n[5-6]'"), scheduler))
        .isEqualTo("n[5-6],n4,n3,n2,n1");
  }

  @Test
  void aNodeIsForgottenAfterAWeekOrWhenAPersonTakesItBack() throws IOException {
    bad().remember("old", "it failed", began.minus(Duration.ofDays(8)));
    bad().remember("n1", "it failed", began.minusSeconds(50));
    bad().remember("n2", "it\u001b failed", began.minusSeconds(50));
    Path back = Files.createFile(bad().folder().resolve("n1.ok"));

    assertThat(leftOut("")).containsExactly("n2");
    assertThat(BadNodes.notes(bad().folder().getParent(), plan(""), scheduler).get(0))
        .startsWith("note: without node n2: it^[ failed at 20")
        .endsWith("to use it again, type `touch " + bad().folder().resolve("n2.ok") + "`");
    bad().remember("n1", "it failed", began.minusSeconds(40));
    assertThat(leftOut("")).as("the same failure, in a later pass").containsExactly("n2");
    Files.setLastModifiedTime(back, FileTime.from(began.minusSeconds(45)));
    assertThat(leftOut("")).as("it failed again").containsExactly("n1", "n2");
  }

  @Test
  void whatAnotherUserPlantsNamesNoNode() throws IOException {
    bad().remember("n1", "it failed", began);
    Files.createDirectory(bad().folder().resolve("folder"));
    Files.createSymbolicLink(bad().folder().resolve("link"), Path.of("/etc/passwd"));
    Files.createFile(bad().folder().resolve("--wrap=id"));
    Files.createFile(bad().folder().resolve("n[1-9]"));

    assertThat(leftOut("")).containsExactly("n1");
  }

  @Test
  void aPassRemembersNodesThatFailedAndThoseThatTheCheckFound() throws IOException {
    RunFolder run = RunFolder.at(workspace.resolve("runs/" + Facts.ID)).orElseThrow();
    RunState journal = Facts.journal(2, "created submitting submitted confirmed");
    Path results =
        Files.createDirectories(
            run.submission(journal.submissions().get(0).key()).resolve("results"));
    Files.writeString(results.resolve("1.0.unfit.g7"), "a GPU has 7 uncorrected ECC errors\n");
    Files.writeString(results.resolve("1.0.unfit.g8"), "/s/x belongs to another run\n");
    long now = began.getEpochSecond() - Rows.NOON.getEpochSecond();
    List<AccountingRecord> rows =
        Rows.accounting("0 NODE_FAIL %d-%d; 1 FAILED 0-60".formatted(now - 90, now - 30));
    RunOutcome outcome =
        RunOutcome.of(Facts.of(2, 1), journal, rows, List.of(), Map.of(), began.plusSeconds(9000));

    new NodeFailures(scheduler).remember(run, plan(""), journal, outcome, new ArrayList<>());

    assertThat(leftOut("")).containsExactlyInAnyOrder("g7", "n1");
  }

  @Test
  void aTaskWhoseScriptWasKilledTooIsQueuedAgainLarger() {
    RunState journal = Facts.journal(1, "created submitting submitted confirmed");
    RunFolder run = RunFolder.at(workspace.resolve("runs/" + Facts.ID)).orElseThrow();
    for (String state : List.of("OUT_OF_MEMORY", "TIMEOUT", "FAILED", "NODE_FAIL", "CANCELLED")) {
      List<AccountingRecord> rows = Rows.accounting("0 " + state + " 0-3605");
      Instant now = Rows.NOON.plusSeconds(3700);
      RunOutcome outcome =
          RunOutcome.of(
              Facts.growing(), journal, rows, List.of(), Map.of(), Rows.NOON.plusSeconds(9000));
      new GrowTasks(scheduler).grow(run, Facts.growing(), journal, outcome, now, new ArrayList<>());
      new GrowTasks(scheduler)
          .grow(run, Facts.growing(), journal, outcome, now.plusSeconds(7200), new ArrayList<>());
    }

    assertThat(done).containsExactly("100 MinMemoryNode=16384", "100 TimeLimit=120");
  }

  private BadNodes bad() {
    return new BadNodes(workspace.resolve(".nexa/bad_nodes/mine"));
  }

  private List<String> leftOut(String more) {
    return bad().leftOut(plan(more), scheduler, Instant.now()).stream()
        .map(BadNodes.BadNode::name)
        .toList();
  }

  private static PlanFile plan(String more) {
    String config = "stage: data\nbackend: shell\nrun: echo\nresources: {partition: gpu, time: 1h";
    return PlanFile.of(Plans.of(config + more + "}\n", Plans.CLUSTER));
  }
}
