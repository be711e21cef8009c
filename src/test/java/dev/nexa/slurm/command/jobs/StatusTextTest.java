package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.TaskCounts;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatusTextTest {
  private static final RunRow ROW = row(Optional.empty());

  private static RunRow row(Optional<String> lacks) {
    return new RunRow(
        "train_20251101_143200",
        Optional.empty(),
        Optional.empty(),
        "train",
        RunStatus.RUNNING,
        "running",
        new TaskCounts(64, 10, 1, 3, 8),
        RunRow.Standing.AS_SHOWN,
        Optional.of(4711L),
        Duration.ofSeconds(93_784),
        new RunRow.Spent(new Money(new BigDecimal("12.50"), "USD"), Optional.empty(), lacks),
        "other jobs are ahead in the queue");
  }

  @Test
  void theTableIsOneLineARun() {
    assertThat(StatusText.of(List.of(ROW), TableStyle.PLAIN))
        .isEqualTo(
            """
            RUN                    JOB   STATE    DONE  FAILED  CANCELLED  RUNNING  TASKS     ELAPSED       COST  NOTE
            train_20251101_143200  4711  running    10       1          3        8     64  1-02:03:04  12.50 USD  other jobs are ahead in the queue
            """);
  }

  @Test
  void whatACostLacksIsAColumnOnlyIfSomeRowHasIt() {
    RunRow lacking = row(Optional.of("tokens of 2 tasks"));

    assertThat(StatusText.of(List.of(ROW, lacking), TableStyle.PLAIN))
        .isEqualTo(
            """
            RUN                    JOB   STATE    DONE  FAILED  CANCELLED  RUNNING  TASKS     ELAPSED       COST  COST LACKS         NOTE
            train_20251101_143200  4711  running    10       1          3        8     64  1-02:03:04  12.50 USD  -                  other jobs are ahead in the queue
            train_20251101_143200  4711  running    10       1          3        8     64  1-02:03:04  12.50 USD  tokens of 2 tasks  other jobs are ahead in the queue
            """);
    assertThat(StatusText.json(List.of(ROW, lacking)).objects("runs"))
        .extracting(run -> run.optionalText("cost_lacks").orElse("nothing"))
        .containsExactly("nothing", "tokens of 2 tasks");
  }

  @Test
  void theTableFitsIntoEightyColumns() {
    assertThat(StatusText.of(List.of(ROW), new TableStyle(80, false)))
        .isEqualTo(
            """
            RUN                    JOB   STATE    DONE                             ELAPSED
            train_20251101_143200  4711  running  10/64, 1 failed, 3 cancelled  1-02:03:04
                so far 12.50 USD
                other jobs are ahead in the queue
            """);
  }

  @Test
  void withoutRunsItSaysWhereTheOthersAre() {
    assertThat(StatusText.of(List.of(), TableStyle.PLAIN))
        .isEqualTo("No unfinished runs. `nexa-slurm runs list` shows the others.\n");
  }

  @ParameterizedTest
  @CsvSource({
    "0, 00:00:00",
    "59, 00:00:59",
    "3661, 01:01:01",
    "86400, 1-00:00:00",
    "8726399, 100-23:59:59"
  })
  void elapsedTimeIsPrintedAsSlurmPrintsIt(long seconds, String clock) {
    assertThat(TimeLimit.clock(Duration.ofSeconds(seconds))).isEqualTo(clock);
  }

  @Test
  void theDocumentHasTheKeysThatScriptsRelyOn() {
    assertThat(StatusText.json(List.of(ROW)).objects("runs").get(0).members().keySet())
        .contains(
            "run_id",
            "stage",
            "status",
            "state",
            "tasks",
            "tasks_done",
            "tasks_failed",
            "tasks_cancelled",
            "tasks_running",
            "job_id",
            "elapsed_seconds",
            "cost",
            "currency",
            "note");
    assertThat(StatusText.json(List.of(ROW)).objects("runs").get(0).text("cost"))
        .isEqualTo("12.50");
  }
}
