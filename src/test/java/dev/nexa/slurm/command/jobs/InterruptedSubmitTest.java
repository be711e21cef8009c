package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A signal ends a submit while sbatch runs: the user must learn that a job may exist. */
class InterruptedSubmitTest {
  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void aSlowSbatch() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "configs/policy.yaml",
                "approval_over: {amount: 1000.00, currency: USD}\nsettle_window_seconds: 1\n")
            .file(
                "run.yaml",
                "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m, memory: 50M}\n");
    terminal.program(
        "sbatch", "echo called >>" + folder + "/calls; while :; do /bin/sleep 0.1; done");
  }

  @ParameterizedTest
  @CsvSource({"INT, 130", "TERM, 143", "HUP, 129"})
  void itNamesTheRunAndNoPassSubmitsItAgain(String signal, int status) throws Exception {
    Ended ended = interrupted(signal, "submit", "run.yaml");

    RunFolder run = latest();
    assertThat(ended.status).isEqualTo(status);
    assertThat(ended.out).isEmpty();
    assertThat(ended.err)
        .contains("interrupted: it is not known whether there is a job of " + run.id())
        .contains("Do not submit it again.")
        .contains(
            "The run is to end: the next `nexa-slurm reconcile` cancels a job if there is one")
        .contains("  nexa-slurm status " + run.id())
        .contains("  nexa-slurm cancel " + run.id());
    RunState state = RunState.of(run.journal().read());
    assertThat(state.cancelRequested()).isTrue();
    assertThat(state.last().orElseThrow().unresolved()).isTrue();

    for (int pass = 0; pass < 20 && run.isOpen(); pass++) {
      assertThat(terminal.type("reconcile").exit()).isZero();
      Thread.sleep(300);
    }
    assertThat(terminal.type("runs", "show", "latest").out()).contains("never submitted");
    assertThat(Files.readAllLines(folder.resolve("calls"))).hasSize(1);
  }

  @Test
  void aJobThatWasMadeNeverthelessIsCancelledByTheNextPass() throws Exception {
    interrupted("INT", "submit", "run.yaml");
    String key = RunState.of(latest().journal().read()).last().orElseThrow().key();
    terminal.program("squeue", Terminal.queueRow(4711, 0, "PENDING", "Priority", key));

    assertThat(terminal.type("reconcile").exit()).isZero();

    assertThat(Files.readString(terminal.bin.resolve("scancel.argv"))).contains("4711");
  }

  @Test
  void latestIsTheRunWhoseJobIsNotKnown() throws Exception {
    terminal.program("sbatch", "echo 4711");
    assertThat(terminal.type("submit", "run.yaml").err()).isEmpty();
    RunFolder before = latest();
    aSlowSbatch();

    interrupted("KILL", "submit", "run.yaml");

    assertThat(latest().id()).isNotEqualTo(before.id());
    assertThat(RunState.of(latest().journal().read()).created()).isPresent();
  }

  @Test
  void pipelineRunSaysWhichStagesWereSubmitted() throws Exception {
    terminal.file(
        "pipeline.yaml",
        "stages:\n  one: {config: run.yaml}\n" + "  two: {config: run.yaml, after: [one]}\n");

    Ended ended = interrupted("INT", "pipeline", "run", "pipeline.yaml");

    assertThat(ended.status).isEqualTo(130);
    assertThat(ended.err)
        .containsPattern("interrupted: \\S+ was begun, and goes on. Do not run it again.")
        .containsPattern("  one  \\S+  it is not known whether there is a job")
        .containsPattern("  two  \\S+  not submitted yet")
        .contains("  nexa-slurm pipeline cancel ");
    assertThat(latest().journal().read()).isNotEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "--json"})
  void aResultThatCannotBePrintedNamesTheRunAndItsJobOnStderr(String option) throws Exception {
    terminal.program("sbatch", "echo 4711");
    List<String> words = OwnJvm.words(Main.class, "submit", "run.yaml");
    words.addAll(option.isEmpty() ? List.of() : List.of(option));
    Path err = folder.resolve("err");
    Process process = process(words, Path.of("/dev/full"), err).start();

    assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isEqualTo(1);
    assertThat(Files.readString(err))
        .contains(latest().id() + " was submitted (job 4711), but the result could not be printed")
        .contains("Do not submit it again.")
        .contains("cannot write the output: No space left on device");
  }

  @Test
  void withoutSlurmEachCommandHasItsOwnAdvice() throws Exception {
    terminal.program("sbatch", "echo 4711");
    assertThat(terminal.type("submit", "run.yaml").exit()).isZero();
    Files.delete(terminal.bin.resolve("sbatch"));

    assertThat(terminal.type("submit", "run.yaml").err()).contains("--local", "--dry-run");
    assertThat(terminal.type("status").err())
        .contains("nexa-slurm runs list")
        .doesNotContain("--dry-run");
    assertThat(terminal.type("cancel", "latest").err())
        .contains("nothing was cancelled")
        .doesNotContain("--dry-run");
    assertThat(terminal.type("reconcile").err()).contains("there is no Slurm here");
    assertThat(terminal.type("reconcile").err() + terminal.type("audit").err())
        .doesNotContain("--dry-run");
  }

  private RunFolder latest() {
    Workspace workspace = new Workspace(terminal.workspace, DurableFiles.onDisk());
    return workspace.run(workspace.latest());
  }

  private record Ended(int status, String out, String err) {}

  /** Types the command, and sends the signal as soon as sbatch runs. Then sbatch dies too. */
  private Ended interrupted(String signal, String... words) throws Exception {
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    Process process = process(OwnJvm.words(Main.class, words), out, err).start();
    List<ProcessHandle> clients = new ArrayList<>();
    try {
      await(folder.resolve("calls"), process, err);
      // The pid of sbatch is in the journal a moment after sbatch runs.
      Thread.sleep(300);
      clients.addAll(process.descendants().toList());
      new ProcessBuilder("kill", "-" + signal, "" + process.pid()).start().waitFor();
      assertThat(process.waitFor(1, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
      clients.forEach(ProcessHandle::destroyForcibly);
    }
    return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
  }

  private ProcessBuilder process(List<String> words, Path out, Path err) {
    // Under nohup or in the background, a test run ignores signals, and its children inherit that.
    List<String> argv = new ArrayList<>(List.of("env", "--default-signal=INT,HUP"));
    argv.addAll(words);
    ProcessBuilder builder = new ProcessBuilder(argv);
    builder.directory(terminal.workspace.toFile());
    builder.redirectOutput(out.toFile()).redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", terminal.bin.toString());
    builder.environment().put("HOME", folder.toString());
    builder.environment().put("NEXA_WORKSPACE", terminal.workspace.toString());
    return builder;
  }

  private static void await(Path file, Process process, Path err)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + Duration.ofMinutes(1).toNanos();
    while (!Files.exists(file) || Files.size(file) == 0) {
      assertThat(process.isAlive()).as(Files.readString(err)).isTrue();
      assertThat(System.nanoTime()).as("sbatch was not called").isLessThan(deadline);
      Thread.sleep(20);
    }
  }
}
