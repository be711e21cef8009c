package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Why a run of three tasks, submitted as job 4711, failed or waits. */
class WhyCommandTest {
  @TempDir Path folder;

  private Terminal terminal;
  private String run;
  private String key;

  @BeforeEach
  void submit() {
    terminal =
        new Terminal(folder)
            .withSlurm()
            .file(
                "run.yaml",
                "stage: train\nbackend: shell\nrun: 'true'\nbatch_size: 8\narray: {shards: 3}\n"
                    + "resources: {time: 10m, memory: 1G}\n");
    submitOne();
  }

  private void submitOne() {
    JsonObject json = terminal.type("submit", "run.yaml", "--json").json();
    run = json.text("run_id");
    key = json.objects("jobs").get(0).text("name");
  }

  private void accounting(String... states) {
    terminal.program(
        "sacct",
        String.join(
            "\n",
            IntStream.range(0, states.length)
                .mapToObj(task -> Terminal.accountingRow(4711, task, states[task], key))
                .toList()));
  }

  private void log(int task, String text) {
    try {
      Path logs = Files.createDirectories(terminal.workspace.resolve("runs/" + run + "/logs"));
      Files.writeString(logs.resolve("4711_" + task + ".out"), text);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  @Test
  void theCauseTheLineAndWhatToChange() {
    log(1, "step 1\nRuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n");
    accounting("COMPLETED", "FAILED", "FAILED");

    Screen screen = terminal.type("why");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out())
        .startsWith(run + ": The GPU's memory was not enough.\n")
        .contains("task 1, attempt 1; 1 more task failed")
        .contains("4711_1.out:2\n", "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB")
        .contains("batch_size is 8: try --set batch_size=4")
        .contains("nexa-slurm logs --task 1 " + run);
  }

  @Test
  void theDocumentHasTheSame() {
    log(1, "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n");
    accounting("COMPLETED", "FAILED", "FAILED");

    JsonObject document = terminal.type("why", "--json").json();

    assertThat(document.text("run_id")).isEqualTo(run);
    assertThat(document.text("headline")).isEqualTo("The GPU's memory was not enough.");
    JsonObject failure = document.object("failure");
    assertThat(failure.number("task")).isEqualTo(1);
    assertThat(failure.object("cause").text("class")).isEqualTo("gpu-memory");
    assertThat(failure.object("cause").number("line")).isEqualTo(1);
    assertThat(failure.object("change").text("next")).isEqualTo("4");
    assertThat(failure.object("slurm").text("state")).isEqualTo("FAILED");
  }

  @Test
  void aSyntaxErrorNamesTheLineOfTheScript() {
    log(
        1,
        "  File \"/ws/runs/run_20261123_164228/runner/syn.py\", line 2\n"
            + "    def f(:\n          ^\nSyntaxError: invalid syntax\n");
    accounting("COMPLETED", "FAILED", "FAILED");

    assertThat(terminal.type("why").out())
        .startsWith(
            run
                + ": The program ended with an exception: SyntaxError: invalid syntax (syn.py, line 2)\n")
        .contains("  in           syn.py, line 2\n               def f(:\n")
        .contains("Correct line 2 of syn.py. `python3 -m py_compile syn.py` checks the file");
  }

  @Test
  void runsShowNamesTheCauseBeforeTheFirstPass() {
    log(1, "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n");
    accounting("COMPLETED", "FAILED", "FAILED");

    assertThat(said("The GPU's memory was not enough.", "runs", "show", "latest"))
        .contains("nexa-slurm why " + run);
    said(run, "runs", "list", "--failed");
    assertThat(said("No run is in the state", "runs", "list", "--state", "running,pending"))
        .isEqualTo(
            "No run is in the state pending or running. `nexa-slurm runs list` lists the runs of"
                + " all states.\n");
    assertThat(terminal.type("runs", "list", "--state", "faild").err())
        .contains("--state: there is no state 'faild' (did you mean 'failed'?)");
  }

  /** These commands show what Slurm says only if it answers within three seconds. */
  private String said(String expected, String... words) {
    String out = terminal.type(words).out();
    for (int i = 0; i < 20 && !out.contains(expected); i++) {
      out = terminal.type(words).out();
    }
    assertThat(out).contains(expected);
    return out;
  }

  @Test
  void statusNamesTheCauseToo() {
    log(1, "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n");
    accounting("COMPLETED", "FAILED", "FAILED");

    assertThat(terminal.type("status").out()).contains("The GPU's memory was not enough.");
  }

  @Test
  void runsShowNamesTheCauseAndTheCommandThatSaysMore() {
    log(1, "RuntimeError: CUDA out of memory. Tried to allocate 2 GiB\n");
    accounting("COMPLETED", "FAILED", "FAILED");
    terminal.type("reconcile");

    assertThat(terminal.type("runs", "show", "latest").out())
        .contains("The GPU's memory was not enough.", "nexa-slurm why " + run);
  }

  @ParameterizedTest
  @CsvSource({
    "TIMEOUT, reached its time limit of 10 minutes, resources.time is 10m: try --set resources.time=20m",
    "OUT_OF_MEMORY, used more memory than it was given, resources.memory is 1G: try --set resources.memory=2G",
    "NODE_FAIL, n1 failed, requeues",
    "PREEMPTED, took the nodes for another job, requeues",
    "CANCELLED by 1000, user with the uid 1000 cancelled it, read",
  })
  void whatSlurmKnowsNeedsNoLog(String state, String cause, String advice) {
    accounting("COMPLETED", state, "COMPLETED");
    log(1, "working\n");
    terminal.type("reconcile");

    assertThat(terminal.type("why").out()).contains(cause).contains(advice);
  }

  /** As for a user whom an admin has just put into the group of a team's workspace. */
  @Test
  void aLogThatSlurmCouldNotOpenIsTold() {
    terminal.program(
        "sacct",
        IntStream.range(0, 3)
            .mapToObj(task -> Terminal.accountingRow(4711, task, "FAILED", key))
            .map(row -> row.replaceFirst("FAILED(.{1,4}?)0:0", "FAILED$10:53"))
            .collect(Collectors.joining("\n")));

    assertThat(terminal.type("why").out())
        .startsWith(run + ": Slurm could not open the job's log on n1, so nothing was started.\n")
        .contains("GroupUpdateTime");
  }

  @Test
  void whereNothingSaysWhyTheLastLinesAreShown() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, "one\ntwo\nthree\n");

    assertThat(terminal.type("why").out())
        .contains("The program ended with status 0 and printed nothing that explains it.")
        .contains("last lines   one", "three");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "reading\\ncould not load the set: [Errno 2] No such file: 'x.jsonl'\\nbye | could not load the set: [Errno 2] No such file: 'x.jsonl'",
        "ERROR checkpoint m is corrupt: unexpected end of file | ERROR checkpoint m is corrupt: unexpected end of file",
        "Fatal: no licence\\nERROR 12 left | ERROR 12 left",
      })
  void aLineInWhichTheProgramReportsAnErrorIsQuoted(String printed, String quoted) {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, printed.replace("\\n", "\n") + "\n");

    assertThat(terminal.type("why").out())
        .contains("The program ended with status 0 after it printed: " + quoted + "\n");
  }

  /** A gate that fails is no crash: nothing of Python is at fault. */
  @Test
  void anErrorOfOurOwnProgramIsTheHeadlineAndSaysWhatToDo() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(
        1,
        "nexa-slurm: there is no data file /raw/a.jsonl [data-invalid]\n  → a file ends in .jsonl\n");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": there is no data file /raw/a.jsonl\n")
        .contains("to do        a file ends in .jsonl\n")
        .doesNotContain("faulthandler", "bash -x");
  }

  /** The five symptoms of NCCL: each gets advice that names what to change. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[rank2]:[E ProcessGroupNCCL.cpp:563] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7487, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1800096 milliseconds before timing out.",
        "Some NCCL operations have failed or timed out.",
        "n1:12:12 [0] NCCL WARN Watchdog timed out",
        "RuntimeError: collectives failed",
        "RuntimeError: Timeout in all_reduce",
      })
  void aTimeOutOfACollectiveIsNamedIfNothingElseIsKnown(String line) {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, line + "\n");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": Probably: The ranks waited for each other until the time was up.\n")
        .contains("debug: true", "batch_size", "ddp_timeout", "watchdog: 30m")
        .doesNotContain("  followed");
    log(1, "RuntimeError: CUDA out of memory.\n" + line + "\n");
    assertThat(terminal.type("why").out())
        .startsWith(run + ": The GPU's memory was not enough.\n")
        .contains("  followed     The ranks waited");
  }

  @Test
  void storageThatTheJobCantWriteIsTheCause() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(
        1,
        "nexa-slurm: node n1 is not well: it can't write /scratch (storage.scratch in"
            + " configs/clusters/default.yaml): Permission denied\n");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": The job cannot write to a storage tier.\n")
        .contains("Set the key that the line names");
  }

  @Test
  void requeuesThatAreSetAreNotAdvisedAgain() {
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: 'true'\nrequeues: 2\narray: {shards: 3}\n"
            + "resources: {time: 10m, memory: 1G}\n");
    submitOne();
    accounting("COMPLETED", "NODE_FAIL", "COMPLETED");

    assertThat(terminal.type("why").out())
        .contains("The run has requeues: 2 already.")
        .doesNotContain("--set requeues");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "errors=0 of 5",
        "WARNING: an error rate of 0.1 is normal",
        "no_error",
        "terror",
        "nexa-slurm: node n1 is well\nbye"
      })
  void aLineThatOnlyHoldsTheWordIsNotQuoted(String printed) {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, printed + "\n");

    assertThat(terminal.type("why").out()).contains("and printed nothing that explains it.");
  }

  @ParameterizedTest
  @CsvSource({
    "3, and printed nothing that explains it.",
    "2, Many programs end so if an option is wrong.",
    "126, The shell found a command and may not run it",
    "127, The shell did not find a command.",
    "137, Signal 9 (KILL) ended it",
    "139, Signal 11 (SEGV) ended it",
    "143, Signal 15 (TERM) ended it"
  })
  void aStatusAloneGetsItsMeaningAndWhatToTry(int status, String words) throws IOException {
    Path results = terminal.workspace.resolve("runs/" + run + "/submissions/" + key + "/results");
    Files.createDirectories(results);
    Files.writeString(
        results.resolve("1.0.failure.json"),
        "{\"class\":\"exit\",\"exit_code\":" + status + ",\"signal\":0,\"text\":\"\"}");
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, "nexa-slurm: node n1 is well\nepoch 1\n");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": The program ended with status " + status + " and printed nothing")
        .contains(
            words, "last lines   epoch 1\n", "`bash -x SCRIPT`", "to do        Run the program");
    log(1, "nexa-slurm: node n1 is well\n");
    assertThat(terminal.type("why").out())
        .startsWith(run + ": The program ended with status " + status + " and printed nothing.");
  }

  @Test
  void whatIsMissingIsAnsweredWithWhereItWasLookedFor() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, "ModuleNotFoundError: No module named 'a'\n");
    assertThat(terminal.type("why").out())
        .contains("looked in    no PYTHONPATH is set: --set env.PYTHONPATH=FOLDER adds a folder");
    log(1, "FileNotFoundError: [Errno 2] No such file or directory: 'x'\n");
    assertThat(terminal.type("why").out()).contains("looked in    the run does not start in your");
    terminal.file(
        "run.yaml",
        "stage: train\nbackend: shell\nrun: 'true'\nworkdir: /data\nenv: {PYTHONPATH: /code}\n"
            + "array: {shards: 3}\nresources: {time: 10m, memory: 1G}\n");
    submitOne();
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, "ModuleNotFoundError: No module named 'a'\n");
    assertThat(terminal.type("why").out()).contains("looked in    PYTHONPATH=/code\n");
    log(1, "FileNotFoundError: [Errno 2] No such file or directory: 'x'\n");
    assertThat(terminal.type("why").out())
        .contains("looked in    the run starts in /data (workdir)");
  }

  @Test
  void aModuleOfOnesOwnNeedsAPathAndNoInstallation() {
    Path project = terminal.workspace.resolve("proj");
    terminal.file("proj/scripts/train.py", "import mymodel\n").file("proj/mymodel/a.py", "");
    terminal.file(
        "proj/run.yaml",
        "stage: train\nbackend: python\nentrypoint: {script: scripts/train.py, config: false}\n"
            + "env: {PYTHONPATH: /lib}\nresources: {time: 10m}\n");
    JsonObject json =
        terminal.type("submit", project.resolve("run.yaml").toString(), "--json").json();
    run = json.text("run_id");
    key = json.objects("jobs").get(0).text("name");
    accounting("FAILED");
    log(0, "ModuleNotFoundError: No module named 'mymodel'\n");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": Python does not search the folder in which your own module lies.\n")
        .contains("mymodel lies in " + project + ": --set env.PYTHONPATH=" + project + ":/lib\n")
        .doesNotContain("Install");
    log(0, "ModuleNotFoundError: No module named 'torch'\n");
    assertThat(terminal.type("why").out()).contains("Install the module");
  }

  @Test
  void onlyARunWithTheSameMissingModuleIsSimilar() throws IOException {
    String first = run;
    Path results = terminal.workspace.resolve("runs/" + first + "/submissions/" + key + "/results");
    Files.createDirectories(results);
    Files.writeString(
        results.resolve("1.0.failure.json"),
        "{\"class\":\"exit\",\"exit_code\":1,\"signal\":0,\"text\":\"ModuleNotFoundError: No"
            + " module named 'torch'\"}");
    accounting("COMPLETED", "FAILED", "COMPLETED");
    terminal.type("reconcile");
    submitOne();
    accounting("COMPLETED", "FAILED", "COMPLETED");

    log(1, "ModuleNotFoundError: No module named 'torch'\n");
    assertThat(terminal.type("why", run).out()).contains("as in        " + first);
    log(1, "ModuleNotFoundError: No module named 'pandas'\n");
    assertThat(terminal.type("why", run).out()).doesNotContain("as in");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          Dependency               | waits for another job to end: afterok of FIRST (job 4711, cancelled)
          DependencyNeverSatisfied | will never start: it waits for afterok of FIRST (job 4711, cancelled), which did not end as needed; `nexa-slurm why FIRST` says why, `nexa-slurm cancel RUN` removes it
          JobHeldUser              | held; `scontrol release 4712` lets it go
          """)
  void aRunThatWaitsNamesTheRunsAndTheCommand(String reason, String sentence) {
    String first = run;
    accounting("CANCELLED by 1000", "CANCELLED by 1000", "CANCELLED by 1000");
    terminal.type("reconcile");
    terminal.program("sbatch", "echo 4712");
    terminal.file(
        "next.yaml", "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 10m}\n");
    JsonObject json =
        terminal.type("submit", "next.yaml", "--json", "--dependency", "afterany:" + first).json();
    String next = json.text("run_id");
    terminal.program(
        "squeue",
        Terminal.queueRow(4712, 0, "PENDING", reason, json.objects("jobs").get(0).text("name")));

    assertThat(terminal.type("why", next).out())
        .startsWith(
            next
                + ": "
                + sentence
                    .replace("afterok", "afterany")
                    .replace("FIRST", first)
                    .replace("RUN", next)
                + "\n");
    assertThat(terminal.type("status", next).out()).contains(sentence.replaceFirst("[:;].*", ""));
  }

  @Test
  void theUserWhoCancelledHasAName() {
    terminal.program("id", "[ \"$3\" = 1000 ] && echo grace");
    accounting("COMPLETED", "CANCELLED by 1000", "COMPLETED");

    assertThat(terminal.type("why").out())
        .startsWith(run + ": The user grace (uid 1000) cancelled it.\n");
  }

  @Test
  void anAccountThatAccountingDoesNotKnowIsNoted() {
    terminal.program("sacctmgr", "case \"$*\" in *name=nlp*) echo nlp;; esac");

    assertThat(terminal.type("estimate", "run.yaml", "--account", "nlpp").err())
        .contains("note: Slurm's accounting has no account 'nlpp'");
    assertThat(terminal.type("estimate", "run.yaml", "--account", "nlp").err())
        .doesNotContain("accounting");
    terminal.program("sacctmgr", "exit 1");
    assertThat(terminal.type("estimate", "run.yaml", "--account", "nlpp").err())
        .doesNotContain("accounting");
  }

  /** A file where a folder should be: not even root can write into it. */
  @Test
  void storageThatCannotBeWrittenIsNotedBeforeTheJobFails() throws IOException {
    Path file = Files.writeString(folder.resolve("full"), "");
    Terminal other =
        new Terminal(folder.resolve("other"))
            .withSlurm()
            .file(
                "configs/clusters/default.yaml",
                "scheduler: slurm\nstorage: {scratch: "
                    + file
                    + "/s, durable: "
                    + file
                    + "/d, shared: "
                    + folder
                    + "}\n")
            .file(
                "run.yaml", "stage: train\nbackend: shell\nrun: 'true'\nresources: {time: 10m}\n");
    assertThat(other.type("submit", "run.yaml").out())
        .contains("note: you can't write to durable (" + file + "/d) from here");
  }

  @Test
  void aFinishedRunIsExplainedWithoutTheScheduler() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    log(1, "ModuleNotFoundError: No module named 'flash_attn'\n");
    terminal.type("reconcile");
    for (String client : new String[] {"squeue", "sacct", "scontrol"}) {
      terminal.program(client, "echo 'error: Connection refused' >&2; exit 1");
    }

    Screen screen = terminal.type("why", "4711_1");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("flash_attn").contains("4711_1.out:1");
    assertThat(screen.err()).contains("note: the memory that the job used is not known");
  }

  @Test
  void whereTheSchedulerCannotBeAskedItSaysSo() {
    terminal.program("squeue", "echo 'error: Connection refused' >&2; exit 1");

    Screen screen = terminal.type("why");

    assertThat(screen.exit()).isZero();
    assertThat(screen.err()).contains("note: the scheduler cannot be asked: squeue failed");
  }

  @Test
  void anEarlierRunThatFailedInTheSameWayIsNamed() throws IOException {
    String first = run;
    Path results = terminal.workspace.resolve("runs/" + first + "/submissions/" + key + "/results");
    Files.createDirectories(results);
    Files.writeString(
        results.resolve("1.0.failure.json"),
        "{\"class\":\"exit\",\"exit_code\":1,\"signal\":0,\"rank\":3,\"node\":\"n7\","
            + "\"text\":\"ModuleNotFoundError: No module named 'a'\"}");
    accounting("COMPLETED", "FAILED", "COMPLETED");
    terminal.type("reconcile");
    assertThat(terminal.type("why").out()).contains("rank 3 on n7");
    submitOne();
    log(1, "ModuleNotFoundError: No module named 'a'\n");
    accounting("COMPLETED", "FAILED", "COMPLETED");

    assertThat(terminal.type("why").out()).contains("as in        " + first);
  }

  @Test
  void aRunThatGoesWellHasNoReason() {
    terminal.program("squeue", Terminal.queueRow(4711, 0, "RUNNING", "None", key));

    assertThat(terminal.type("why").out())
        .isEqualTo(run + ": No task has failed, and no task waits; its state is running.\n");
  }

  @Test
  void aWaitingRunHasAReasonAndAPlace() {
    String mine =
        String.join(
            "\n",
            IntStream.range(0, 3)
                .mapToObj(task -> Terminal.queueRow(4711, task, "PENDING", "Priority", key))
                .toList());
    terminal.program(
        "squeue",
        "case \"$*\" in *--states=PENDING*) printf '9\u001fcpu\u001fResources\\n8\u001fcpu\u001fJobHeldUser\\n"
            + "7\u001fcpu\u001fPriority\\n7\u001fcpu\u001fPriority\\n4711\u001fcpu\u001fPriority\\n';; *) "
            + mine
            + ";; esac");

    Screen screen = terminal.type("why");

    assertThat(screen.out())
        .as(screen.err())
        .startsWith(run + ": other jobs are ahead in the queue\n")
        .contains("reason       Priority")
        .contains("place        2 jobs before it, partition cpu");
  }

  @Test
  void aRefusalIsQuoted() {
    terminal.program(
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Invalid account or account/partition"
            + " combination specified' >&2; exit 1");
    terminal.type("submit", "run.yaml");

    assertThat(terminal.type("why").out()).contains("refused").contains("Invalid account");
  }

  /** Whoever reads that it was refused submits it again. */
  @Test
  void aSubmissionWithoutAnAnswerIsNoRefusal() {
    terminal.program(
        "sbatch",
        "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller"
            + " (connect failure)' >&2; exit 1");
    terminal.type("submit", "run.yaml");

    assertThat(terminal.type("why").out())
        .contains(": It is not known whether there is a job: ")
        .contains("do not submit again")
        .doesNotContain("refused");
  }

  /** The rows of a workspace are its own mistake; a person must still see the state of runs. */
  @Test
  void wrongSignaturesEndOnlyWhy() {
    accounting("COMPLETED", "FAILED", "COMPLETED");
    terminal.file("configs/failures.yaml", "signatures: 3\n");

    assertThat(terminal.type("status").exit()).isZero();
    assertThat(terminal.type("status").out()).contains(run);
    terminal.type("reconcile");
    assertThat(terminal.type("runs", "show", "latest").exit()).isZero();
    Screen why = terminal.type("why");
    assertThat(why.exit()).isEqualTo(2);
    assertThat(why.err()).contains("configs/failures.yaml:1:13");
  }

  @Test
  void aTaskThatIsNotThereIsNamed() {
    Screen screen = terminal.type("why", "--task", "7");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("there is no task 7");
  }
}
