package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Logs of a run of three tasks, submitted as job 4711. */
class LogsCommandTest {
  @TempDir Path folder;

  private Terminal terminal;
  private Path logs;
  private String key;

  @BeforeEach
  void submit() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .with("TERM", "xterm")
            .with("NO_COLOR", "1")
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: echo\narray: {shards: 3}\n"
                    + "resources: {time: 10m, memory: 1G}\n");
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    key = json.objects("jobs").get(0).text("name");
    logs = terminal.workspace.resolve("runs").resolve(json.text("run_id")).resolve("logs");
  }

  @Test
  void eachLineOfAnArrayIsBehindItsTask() {
    log(0, "a\nb\n");
    log(2, "c\nunfinished");

    Screen screen = terminal.type("logs");

    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).isEmpty();
    assertThat(screen.out()).isEqualTo("[0] a\n[0] b\n[2] c\n[2] unfinished\n");
    assertThat(terminal.type("logs", "--tail", "1").out()).isEqualTo("[0] b\n[2] unfinished\n");
  }

  @Test
  void oneTaskIsPrintedAsItPrinted() {
    log(0, "");
    log(1, "a\nb\nc");

    assertThat(terminal.type("logs", "--task", "1").out()).isEqualTo("a\nb\nc");
    assertThat(terminal.type("logs", "4711_1").out()).isEqualTo("a\nb\nc");
    assertThat(terminal.type("logs", "--task", "1", "--tail", "2").out()).isEqualTo("b\nc");
  }

  /** It is copied in blocks, whose ends may cut a character. */
  @Test
  void noCharacterOfALongLogIsLost() {
    String text = "x" + "ü€".repeat(20_000) + "\n";
    log(0, text);

    assertThat(terminal.type("logs", "--task", "0").out()).isEqualTo(text);
  }

  @Test
  void failedTasksComeFirstWithTheirLastLines() {
    log(0, "fine\n");
    log(1, lines(30));
    log(2, "stopped\n");
    accounting("COMPLETED", "FAILED", "CANCELLED by 1000");

    String[] screen = terminal.type("logs").out().split("\n", -1);

    assertThat(screen[0])
        .isEqualTo("==> task 1: FAILED, exit code 0, " + logs.resolve("4711_1.out") + " <==");
    assertThat(screen[1]).isEqualTo("[1] line 11");
    assertThat(screen[20]).isEqualTo("[1] line 30");
    assertThat(screen[21]).isEmpty();
    assertThat(screen[22]).startsWith("==> task 2: CANCELLED by 1000, exit code 0, ");
    assertThat(screen).contains("==> all 3 tasks <==", "[1] line 1", "[0] fine");
  }

  @Test
  void withTailAFailedTasksLinesAreNotPrintedTwice() {
    log(0, "x\nfine\n");
    log(1, lines(30));
    accounting("COMPLETED", "FAILED", "CANCELLED by 1000");

    assertThat(terminal.type("logs", "--tail", "1").out())
        .isEqualTo(
            "==> task 1: FAILED, exit code 0, "
                + logs.resolve("4711_1.out")
                + " <==\n[1] line 30\n\n"
                + "==> task 2: CANCELLED by 1000, printed nothing <==\n\n"
                + "[0] fine\n");
  }

  @Test
  void aFinishedRunsLogsAskNobody() {
    log(0, "fine\n");
    log(1, "broken\n");
    accounting("COMPLETED", "FAILED", "COMPLETED");
    terminal.type("reconcile");
    for (String client : new String[] {"squeue", "sacct", "scontrol"}) {
      terminal.program(client, "echo 'error: Connection refused' >&2; exit 1");
    }

    Screen screen = terminal.type("logs");

    assertThat(screen.err()).isEmpty();
    assertThat(screen.out()).startsWith("==> task 1: FAILED, exit code 0, ").contains("[0] fine\n");
  }

  @Test
  void whereTheSchedulerCannotBeAskedTheLogsAreThereAllTheSame() {
    log(0, "fine\n");
    terminal.program("squeue", "echo 'error: Connection refused' >&2; exit 1");

    Screen screen = terminal.type("logs");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).isEqualTo("[0] fine\n");
    assertThat(screen.err())
        .contains("which tasks have failed is not known: squeue failed: error: Connection refused");
  }

  @Test
  void whereNoTaskHasPrintedAnythingItSaysSo() {
    Screen screen = terminal.type("logs");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("no task of ", " has printed anything yet");
  }

  @Test
  void aNumberOfLinesIsNotNegative() {
    assertThat(terminal.type("logs", "--tail", "-1").exit()).isEqualTo(2);
  }

  @Test
  void followingPrintsWholeLinesAsTheyComeUntilTheRunHasEnded() throws Exception {
    terminal.program(
        "squeue",
        String.join(
            "\n",
            IntStream.range(0, 3)
                .mapToObj(task -> Terminal.queueRow(4711, task, "RUNNING", "None", key))
                .toList()));
    log(1, "old\n");
    CompletableFuture<Screen> follower =
        CompletableFuture.supplyAsync(() -> terminal.type("logs", "-f"));
    Thread.sleep(1200);
    log(0, "first, and ha");
    Thread.sleep(1200);
    log(2, "second\n");
    Thread.sleep(1200);
    log(0, "lf\n");
    log(1, "the last words");
    terminal.program("squeue", "");
    accounting("COMPLETED", "FAILED", "COMPLETED");

    assertThat(follower.get().out().lines())
        .containsExactly(
            "[1] old",
            "[2] second",
            "[0] first, and half",
            "[1] the last words",
            "==> task 1: FAILED, exit code 0, " + logs.resolve("4711_1.out") + " <==");
  }

  @ParameterizedTest
  @CsvSource({"latest", "4711_0"})
  void followingSaysWhyARunWaitsAndSaysItAgainIfTheReasonChanges(String reference)
      throws Exception {
    terminal.program("squeue", queued("Resources"));
    CompletableFuture<Screen> follower =
        CompletableFuture.supplyAsync(() -> terminal.type("logs", "-f", reference));
    Thread.sleep(2500);
    terminal.program("squeue", queued("Priority"));
    Thread.sleep(6000);
    log(0, "begun\n");
    terminal.program("squeue", "");
    accounting("COMPLETED", "COMPLETED", "COMPLETED");

    String run = logs.getParent().getFileName().toString();
    assertThat(follower.get().err().lines())
        .containsExactly(
            run + " is queued: next in line, waiting for nodes to become free",
            run + " is queued: other jobs are ahead in the queue");
    assertThat(follower.get().out()).contains("begun");
  }

  private String queued(String reason) {
    return String.join(
        "\n",
        IntStream.range(0, 3)
            .mapToObj(task -> Terminal.queueRow(4711, task, "PENDING", reason, key))
            .toList());
  }

  @Test
  void followingGoesOnWhileTheSchedulerIsAway() throws Exception {
    terminal.program("squeue", "echo 'error: Connection refused' >&2; exit 1");
    log(0, "begun\n");
    CompletableFuture<Screen> follower =
        CompletableFuture.supplyAsync(() -> terminal.type("logs", "-f", "4711_0"));
    Thread.sleep(1500);
    log(0, "the end\n");
    terminal.program("squeue", "");
    accounting("COMPLETED", "COMPLETED", "COMPLETED");

    Screen screen = follower.get();
    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).isEqualTo("begun\nthe end\n");
    assertThat(screen.err()).containsOnlyOnce("goes on is not known: squeue failed");
  }

  /** As with {@code | head}: the job goes on, and nobody would ever read the rest. */
  @ParameterizedTest
  @CsvSource({"latest", "4711_0"})
  void followingEndsWhenNobodyReadsAnyMore(String reference) {
    log(0, "line\n");
    terminal.program("squeue", Terminal.queueRow(4711, 0, "RUNNING", "None", key));

    assertTimeoutPreemptively(
        Duration.ofSeconds(20),
        () -> {
          Screen screen = terminal.typeInto(new Closed(), "logs", "-f", reference);
          assertThat(screen.exit()).isZero();
          assertThat(screen.err()).isEmpty();
        });
  }

  /** A pipe whose reader has gone. */
  private static final class Closed extends Writer {
    @Override
    public void write(char[] text, int offset, int length) throws IOException {
      throw new IOException("Broken pipe");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  private void accounting(String... states) {
    Stream<String> rows =
        IntStream.range(0, states.length)
            .mapToObj(task -> Terminal.accountingRow(4711, task, states[task], key));
    terminal.program("sacct", String.join("\n", rows.toList()));
  }

  private static String lines(int count) {
    StringBuilder lines = new StringBuilder();
    for (int i = 1; i <= count; i++) {
      lines.append("line ").append(i).append('\n');
    }
    return lines.toString();
  }

  private void log(int task, String text) {
    try {
      Files.createDirectories(logs);
      Files.writeString(
          logs.resolve("4711_" + task + ".out"),
          text,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
