package dev.nexa.slurm.command.jobs.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.insight.live.LiveBudget;
import dev.nexa.slurm.insight.live.LiveRun;
import dev.nexa.slurm.insight.live.LiveSnapshot;
import dev.nexa.slurm.insight.live.LogTail;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunStatus;
import dev.nexa.slurm.run.status.RunRow;
import dev.nexa.slurm.run.status.TaskCounts;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jline.utils.AttributedString;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WatchPictureTest {
  private static final Instant NOON = Instant.parse("2026-11-24T12:00:00Z");
  private static final Duration EVERY = Duration.ofSeconds(10);

  private final WatchScreen screen = new WatchScreen();

  private static LiveRun run(String id, RunStatus status, String name, String note) {
    RunRow row =
        new RunRow(
            id,
            Optional.empty(),
            Optional.of(name),
            "train",
            status,
            status.text(),
            new TaskCounts(64, 10, 1, 3, status.ended() ? 0 : 8),
            RunRow.Standing.AS_SHOWN,
            Optional.of(4711L),
            Duration.ofSeconds(3723),
            new RunRow.Spent(usd("12.50"), Optional.of(usd("13.25")), Optional.empty()),
            note);
    return new LiveRun(
        new RunId(id),
        row,
        status.ended() ? Optional.empty() : Optional.of(usd("80.00")),
        List.of("project nlp"),
        Optional.of(87));
  }

  private static Money usd(String amount) {
    return new Money(new BigDecimal(amount), "USD");
  }

  private static LiveSnapshot of(List<LiveRun> runs) {
    LiveBudget budget =
        new LiveBudget(
            "project nlp",
            "2026-11",
            usd("1000"),
            new BigDecimal("823.10"),
            new BigDecimal("66.75"));
    return new LiveSnapshot(NOON, runs, List.of(), List.of(budget), List.of());
  }

  private static LiveRun running() {
    return run("train_20261124_101500", RunStatus.RUNNING, "bert", "");
  }

  private List<String> picture(int width, int height) {
    List<String> lines = new ArrayList<>();
    for (AttributedString line :
        new WatchPicture(width, height, true).of(screen, NOON.plusSeconds(4), EVERY)) {
      assertThat(line.columnLength()).isLessThanOrEqualTo(width);
      lines.add(line.toString().stripTrailing());
    }
    assertThat(lines).hasSize(height);
    return lines;
  }

  /** A scheduler that hangs looks like one at which nothing changes. */
  @ParameterizedTest
  @CsvSource({"0, true", "-15, true", "-17, false", "-300, false"})
  void anAnswerThatTakesLongIsSaid(int since, boolean quiet) {
    screen.show(of(List.of(running())));
    screen.asking(NOON.plusSeconds(since));

    String shown = String.join("\n", picture(100, 24));

    if (quiet) {
      assertThat(shown).doesNotContain("no answer");
    } else {
      assertThat(shown).contains("UTC: Slurm has not answered yet", "train_20261124_101500");
      screen.show(of(List.of(running())));
      assertThat(String.join("\n", picture(100, 24))).doesNotContain("no answer");
    }
  }

  @Test
  void aRunItsTasksItsCostItsBudgetAndItsLog() {
    screen.show(of(List.of(running())));
    screen.log("train_20261124_101500", Optional.of(new LogTail(3, List.of("step 7", ""))));

    assertThat(picture(110, 16))
        .containsExactly(
            "nexa-slurm status  1 unfinished run" + " ".repeat(52) + "12:00:00 UTC, every 10s",
            "RUN                    NAME  STATE    PROGRESS          ELAPSED   GPU   COST  AT MOST",
            "train_20261124_101500  bert  running  10/64, 1 failed  01:02:07  87 %  13.25    80.00",
            "",
            "",
            "",
            "",
            "",
            "",
            "-".repeat(110),
            "run      train_20261124_101500  bert, job 4711",
            "tasks    10 done, 8 running, 42 pending, 1 failed, 3 cancelled",
            "cost     13.25 USD of at most 80.00 USD (17 %)",
            "budget   project nlp 2026-11: 823.10 of 1000.00 USD spent, 66.75 reserved (89 %)",
            "log      task 3: step 7",
            "j/k select  l log  w why  c cancel  r refresh  ? help  q quit");
  }

  @Test
  void withoutRunsTheBudgetsStandAlone() {
    screen.show(of(List.of()));

    assertThat(picture(110, 8))
        .contains(
            "No unfinished runs. A new run appears here.",
            "nexa-slurm runs list shows the runs that have ended.",
            "budget   project nlp 2026-11: 823.10 of 1000.00 USD spent, 66.75 reserved (89 %)");
    assertThat(picture(20, 3)).isNotEmpty();
    assertThat(picture(1, 1)).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"80,24", "200,50", "40,10", "20,5", "1,1"})
  void eachScreenIsFilledAndNeverOverrun(int width, int height) {
    List<LiveRun> runs = new ArrayList<>();
    for (int i = 0; i < 60; i++) {
      runs.add(run("train_20261124_1015%02d".formatted(i), RunStatus.RUNNING, "模型-" + i, "x"));
    }
    screen.show(of(runs));
    picture(width, height);
    for (String key : List.of("end", "c", "n", "l", "q", "w", "q", "?")) {
      screen.press(key);
      picture(width, height);
    }
  }

  @Test
  void aWideScreenHasABarAndANarrowOneLeavesOutWhatMattersLess() {
    screen.show(of(List.of(running())));

    assertThat(picture(200, 50).get(2)).contains("[####!!>>>>....................]");
    assertThat(picture(80, 24).get(1))
        .isEqualTo(
            "RUN                    STATE    PROGRESS          ELAPSED   GPU   COST  AT MOST");
    assertThat(picture(60, 24).get(1)).startsWith("RUN").contains("COST").doesNotContain("AT MOST");
  }

  @Test
  void oneFailedTaskOfTenThousandShowsInTheBar() {
    LiveRun one = running();
    RunRow row = one.row();
    RunRow large =
        new RunRow(
            row.runId(),
            row.user(),
            row.name(),
            row.stage(),
            row.status(),
            row.state(),
            new TaskCounts(10_000, 0, 1, 0, 0),
            row.standing(),
            row.jobId(),
            row.elapsed(),
            row.spent(),
            "");

    assertThat(
            WatchPicture.bar(
                new LiveRun(one.id(), large, Optional.empty(), List.of(), Optional.empty()), 30))
        .isEqualTo("[!" + ".".repeat(29) + "]");
  }

  @Test
  void controlCharactersOfNamesNotesAndLogsAreShownAsText() {
    String hostile = "\u001b]52;c;aGk=\u0007\u202e\u009b2J\r\n";
    LiveRun run = run("train_20261124_101500", RunStatus.RUNNING, hostile, hostile);
    screen.show(of(List.of(run)));
    screen.outage(hostile, NOON);
    screen.message(hostile);
    List<String> all = new ArrayList<>(picture(200, 24));
    screen.press("w");
    screen.why("train_20261124_101500", List.of(hostile));
    all.addAll(picture(200, 24));

    assertThat(String.join("", all))
        .contains("^[]52;c;aGk=^G<U+202E><U+009B>2J^M^J")
        .doesNotContainPattern("[\\x00-\\x1f\\x7f-\\x9f\\u202e]");
  }

  @Test
  void theSelectionStaysOnItsRunAndInSight() {
    List<LiveRun> runs = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      runs.add(run("train_20261124_1015%02d".formatted(i), RunStatus.RUNNING, "n", ""));
    }
    screen.show(of(runs));
    for (int i = 0; i < 30; i++) {
      screen.press("down");
    }
    assertThat(picture(100, 20)).anyMatch(line -> line.startsWith("train_20261124_101530"));

    runs.remove(0);
    runs.add(0, run("zzz_20261124_101500", RunStatus.RUNNING, "n", ""));
    runs.add(0, run("zzz_20261124_101501", RunStatus.RUNNING, "n", ""));
    screen.show(of(runs));

    assertThat(screen.selected().orElseThrow().id()).isEqualTo("train_20261124_101530");
    assertThat(picture(100, 20)).anyMatch(line -> line.startsWith("train_20261124_101530"));
  }

  @Test
  void cancelAsksFirstAndOnlyYIsYes() {
    screen.show(of(List.of(running())));

    assertThat(screen.press("c")).isEqualTo(WatchScreen.Request.NONE);
    assertThat(picture(100, 20).get(18))
        .isEqualTo(
            "Cancel train_20261124_101500? 64 tasks: 10 done, 8 running, 42 pending, 1 failed, 3 cancelled  y/n");
    assertThat(screen.press("q")).isEqualTo(WatchScreen.Request.NONE);
    assertThat(picture(100, 20).get(18)).isEqualTo("Nothing was cancelled.");
    screen.press("c");
    assertThat(screen.press("y")).isEqualTo(WatchScreen.Request.CANCEL);
  }

  @Test
  void aRunThatHasEndedIsNotCancelled() {
    screen.show(of(List.of(run("train_20261124_101500", RunStatus.FAILED, "n", ""))));

    assertThat(screen.press("c")).isEqualTo(WatchScreen.Request.NONE);
    assertThat(screen.press("y")).isEqualTo(WatchScreen.Request.NONE);
  }

  @Test
  void aReaderOfALogWhoHasScrolledUpKeepsTheLines() {
    screen.show(of(List.of(running())));
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      lines.add("line " + i);
    }
    screen.press("l");
    screen.log("train_20261124_101500", Optional.of(new LogTail(0, lines)));
    assertThat(picture(80, 24).get(22)).isEqualTo("line 99");
    screen.press("pageup");
    assertThat(picture(80, 24).get(22)).isEqualTo("line 79");

    List<String> longer = new ArrayList<>(lines);
    longer.addAll(List.of("line 100", "line 101"));
    screen.log("train_20261124_101500", Optional.of(new LogTail(0, longer)));

    assertThat(picture(80, 24).get(22)).isEqualTo("line 79");
    screen.press("G");
    assertThat(picture(80, 24).get(22)).isEqualTo("line 101");
    assertThat(screen.press("q")).isEqualTo(WatchScreen.Request.NONE);
    assertThat(screen.press("q")).isEqualTo(WatchScreen.Request.QUIT);
  }

  @Test
  void anOutageIsOneLineAndTheLastRowsStay() {
    screen.show(of(List.of(running())));
    screen.outage("squeue: Unable to contact slurm controller", NOON);
    screen.outage("squeue: Unable to contact slurm controller", NOON.plusSeconds(10));

    assertThat(picture(100, 24))
        .contains("no answer since 12:00:00 UTC: squeue: Unable to contact slurm controller")
        .anyMatch(line -> line.startsWith("train_20261124_101500"));

    screen.show(of(List.of(running())));
    assertThat(picture(100, 24)).noneMatch(line -> line.contains("no answer"));
  }

  @ParameterizedTest
  @CsvSource({
    "'[A', up",
    "OA, up",
    "'[B', down",
    "'[5~', pageup",
    "'[6~', pagedown",
    "'[H', home",
    "OF, end",
    "'', esc",
    "'[1;5A', other",
    "'[200~', other"
  })
  void aTerminalSendsKeysAsSequences(String sequence, String key) {
    assertThat(WatchKeys.sequence(sequence)).isEqualTo(key);
  }

  @Test
  void fiveHundredRunsAreDrawnFasterThanAPersonTypes() {
    List<LiveRun> runs = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      runs.add(
          run("train_20261124_%06d".formatted(100_000 + i), RunStatus.RUNNING, "name-" + i, ""));
    }
    screen.show(of(runs));
    picture(200, 50);
    double millis = Double.MAX_VALUE;
    for (int i = 0; i < 100; i++) {
      long begun = System.nanoTime();
      screen.press("down");
      picture(200, 50);
      // The fastest of them, because other work on the machine slows some.
      millis = Math.min(millis, (System.nanoTime() - begun) / 1e6);
    }
    System.out.printf("watch: one picture of 500 runs at 200x50 takes %.1f ms%n", millis);

    assertThat(millis).isLessThan(200);
  }
}
