package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code status --watch} where no person sits: squeue counts its calls and answers by them. */
class WatchCommandTest {
  @TempDir Path folder;

  private Terminal terminal;
  private final List<String> runs = new ArrayList<>();
  private final List<String> keys = new ArrayList<>();

  @BeforeEach
  void submitTwo() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nname: small\nrun: 'true'\n"
                    + "resources: {time: 10m, memory: 1G}\n");
    for (int job : new int[] {4711, 4721}) {
      terminal.program("sbatch", "echo " + job);
      JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
      runs.add(json.text("run_id"));
      keys.add(json.objects("jobs").get(0).text("name"));
    }
    terminal.program("scontrol", "echo c >>$0.calls; echo AccountingStorageType=x");
  }

  /** From the call with this number on, both jobs have left the queue, and accounting says how. */
  private void queue(String before, int until) {
    terminal.program(
        "squeue",
        "echo c >>$0.calls\nn=0; while read -r _; do n=$((n + 1)); done <$0.calls\n"
            + "if [ $n -ge "
            + until
            + " ]; then : >$0.over; exit; fi\n"
            + before);
    terminal.program(
        "sacct",
        "[ -e ${0%sacct}squeue.over ] || exit 0\n"
            + Terminal.accountingRow(4711, 0, "COMPLETED", keys.get(0))
            + "\n"
            + Terminal.accountingRow(4721, 0, "FAILED", keys.get(1)));
  }

  private String row(int run, String state, String reason) {
    return Terminal.queueRow(run == 0 ? 4711 : 4721, 0, state, reason, keys.get(run));
  }

  private int calls(String program) throws IOException {
    return Files.readAllLines(terminal.bin.resolve(program + ".calls")).size();
  }

  @Test
  void aBlockForEachChangeUntilAllHaveEndedAndOneSqueueForEachInterval() throws Exception {
    queue(
        "if [ $n = 1 ]; then\n"
            + row(0, "PENDING", "Resources")
            + "\n"
            + row(1, "PENDING", "Priority")
            + "\nelse\n"
            + row(0, "RUNNING", "None")
            + "\n"
            + row(1, "PENDING", "Priority")
            + "\nfi",
        4);

    Screen screen = terminal.type("status", "--watch", "1s");

    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    String[] blocks = screen.out().split("\n\n");
    assertThat(blocks).hasSize(3);
    assertThat(blocks[0])
        .matches("(?s)\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d UTC\nRUN .*")
        .contains(runs.get(0), runs.get(1), "other jobs are ahead in the queue");
    assertThat(blocks[1]).contains(runs.get(0), "running").doesNotContain(runs.get(1));
    assertThat(blocks[2])
        .containsPattern(runs.get(0) + ".* completed ")
        .containsPattern(runs.get(1) + ".* failed ");
    assertThat(screen.out()).doesNotContainPattern("[\\x00-\\x09\\x0b-\\x1f]");
    assertThat(calls("squeue")).isEqualTo(4);
    assertThat(calls("scontrol")).isEqualTo(1);
  }

  @Test
  void anOutageIsOneLineAndTheWatchGoesOn() throws Exception {
    queue(
        "if [ $n = 2 ] || [ $n = 3 ]; then echo 'Unable to contact slurm controller' >&2; exit 1; fi\n"
            + row(0, "RUNNING", "None")
            + "\n"
            + row(1, "RUNNING", "None"),
        5);

    Screen screen = terminal.type("status", "--watch=1s");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out().lines().filter(line -> line.contains("Unable to contact"))).hasSize(1);
    assertThat(screen.out()).contains("UTC: the scheduler answers again", "completed");
  }

  @Test
  void aRunAfterTheOptionIsARunAndNotATime() throws Exception {
    queue("", 1);

    Screen byId = terminal.type("status", "--watch", runs.get(1));
    Screen byJob = terminal.type("status", "--watch", "4711");
    Screen both = terminal.type("status", "--watch", runs.get(1), runs.get(0));

    assertThat(byId.out()).contains(runs.get(1), "failed").doesNotContain("completed");
    assertThat(byJob.out()).contains(runs.get(0), "completed").doesNotContain("failed");
    assertThat(both.out()).contains("completed", "failed");
  }

  @ParameterizedTest
  @CsvSource({
    "--watch=5, 'expected a time of 1s or more, such as 10s'",
    "--watch=0s, 'expected a time of 1s or more, such as 10s'",
    "--watch=1.5m, 'write 90s'",
  })
  void anotherTimeIsRefused(String option, String expected) {
    Screen screen = terminal.type("status", option);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains(option + ": expected a time", expected);
  }

  @Test
  void jsonIsRefusedBecauseItIsOneDocument() {
    assertThat(terminal.type("status", "--watch", "--json").exit()).isEqualTo(2);
  }

  @Test
  void withoutUnfinishedRunsItEndsAtOnce(@TempDir Path other) {
    Terminal empty = new Terminal(other).withSlurm().file(".nexa/x", "");

    Screen screen = empty.type("status", "--watch");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("No unfinished runs.");
  }

  @Test
  void budgetsOfAPolicyThatCannotBeReadAreANote() throws Exception {
    queue("", 1);
    terminal.file("configs/policy.yaml", "nonsense: 1\n");

    Screen screen = terminal.type("status", "--watch");

    assertThat(screen.out()).contains("the budgets are not known: ", "completed");
  }
}
