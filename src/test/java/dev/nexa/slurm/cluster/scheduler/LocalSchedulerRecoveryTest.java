package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.local.LocalScheduler;
import dev.nexa.slurm.cluster.scheduler.local.LocalSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the local scheduler does when its own processes die, and when many ask it at once. */
@Execution(ExecutionMode.SAME_THREAD)
@Tag("full")
class LocalSchedulerRecoveryTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir private Path folder;
  private LocalScheduler scheduler;
  private final List<ProcessIdentity> supervisors = Collections.synchronizedList(new ArrayList<>());

  @BeforeEach
  void open() throws IOException {
    LocalSettings hurried = new LocalSettings(1_000, 30_000);
    scheduler = LocalSchedulers.in(folder.resolve("state"), hurried);
  }

  /** Nothing may write into the folder while it is deleted. */
  @AfterEach
  void endAll() {
    for (QueueEntry entry : scheduler.queue()) {
      scheduler.cancel(entry.name(), entry.arrayJobId(), OptionalInt.empty());
    }
    await(() -> scheduler.queue().isEmpty());
    LocalSchedulers.awaitEnd(folder);
  }

  private long submit(Scheduler to, String key, String... lines) throws IOException {
    Path script = folder.resolve(key + ".sbatch");
    Files.writeString(script, ScriptCase.bash(key, lines).script());
    SubmitAnswer answer =
        to.submit(
            new SubmitRequest(
                key,
                script,
                folder,
                folder + "/" + key + ".%a.log",
                "",
                folder,
                Optional.empty(),
                "",
                ""),
            supervisors::add);
    assertThat(answer).isInstanceOf(SubmitAnswer.Submitted.class);
    return ((SubmitAnswer.Submitted) answer).jobId();
  }

  private long submit(String key, String... lines) throws IOException {
    return submit(scheduler, key, lines);
  }

  private List<String> rows(long jobId) {
    List<String> rows = new ArrayList<>();
    AccountingQuery query = AccountingQuery.byIds(List.of(jobId), Instant.now());
    scheduler.accounting(
        query, row -> rows.add(row.tasks() + " " + row.rawState() + " " + row.exitCode()));
    return rows;
  }

  private static void await(BooleanSupplier condition) {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!condition.getAsBoolean()) {
      assertThat(Instant.now()).as("patience is over").isBefore(deadline);
      try {
        Thread.sleep(20);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
    }
  }

  private static boolean says(Path file, String text) {
    try {
      return Files.exists(file) && Files.readString(file).contains(text);
    } catch (IOException failed) {
      throw new AssertionError(failed);
    }
  }

  private void killSupervisor() {
    ProcessIdentity supervisor = supervisors.get(supervisors.size() - 1);
    ProcessHandle.of(supervisor.pid()).orElseThrow().destroyForcibly();
    await(() -> supervisor.alive().equals(Optional.of(false)));
  }

  /** Whether it runs: one that is dead may not have been waited for yet. */
  private static boolean lives(Path pidFile) {
    try {
      Path stat = Path.of("/proc", Files.readString(pidFile).strip(), "stat");
      return Files.exists(stat) && !Files.readString(stat).contains(") Z ");
    } catch (IOException gone) {
      return false;
    }
  }

  @Test
  void aTaskWhoseSupervisorDiedRunsAgain() throws IOException {
    long job =
        submit(
            "again",
            "--array=0-1%1 --open-mode=append",
            "echo attempt ${SLURM_RESTART_COUNT-none}",
            "[ -n \"$SLURM_RESTART_COUNT$SLURM_ARRAY_TASK_ID\" ] || exit 1",
            "[ \"$SLURM_ARRAY_TASK_ID/$SLURM_RESTART_COUNT\" = 0/ ] || exit 0",
            "setsid sleep 300 & echo $! > daemon.pid; echo $$ > script.pid; echo up; wait");
    await(() -> says(folder.resolve("again.0.log"), "up"));
    killSupervisor();
    assertThat(lives(folder.resolve("script.pid"))).isTrue();

    await(() -> scheduler.queue().isEmpty());
    assertThat(rows(job)).containsExactly("0 NODE_FAIL 0:0", "0 COMPLETED 0:0", "1 COMPLETED 0:0");
    assertThat(says(folder.resolve("again.0.log"), "attempt none\nup\nattempt 1\n")).isTrue();
    assertThat(lives(folder.resolve("script.pid"))).isFalse();
    assertThat(lives(folder.resolve("daemon.pid"))).isFalse();
  }

  @Test
  void aTaskThatMayNotRunAgainHasFailed() throws IOException {
    long job =
        submit(
            "once",
            "--array=0-1%1 --no-requeue",
            "[ $SLURM_ARRAY_TASK_ID = 1 ] && exit 0",
            "echo $$ > script.pid; echo up; sleep 300");
    await(() -> says(folder.resolve("once.0.log"), "up"));
    killSupervisor();

    // Its threads may outlive it for a moment, and then it still counts as alive.
    await(() -> rows(job).get(0).equals("0 NODE_FAIL 0:0"));
    assertThat(lives(folder.resolve("script.pid"))).isFalse();
    await(() -> scheduler.queue().isEmpty());
    assertThat(rows(job)).containsExactly("0 NODE_FAIL 0:0", "1 COMPLETED 0:0");
  }

  @Test
  void manyDeathsLoseNoTaskAndRunNoneTwiceAtOnce() throws Exception {
    long job =
        submit(
            "storm",
            "--array=0-9%2",
            "exec 9>lock.$SLURM_ARRAY_TASK_ID; flock -n 9 || touch twice",
            "sleep 0.3");
    for (int kill = 0; kill < 4; kill++) {
      Thread.sleep(700);
      scheduler.queue();
      ProcessHandle.allProcesses()
          .filter(process -> LocalSchedulers.supervises(process, folder))
          .forEach(ProcessHandle::destroyForcibly);
    }
    await(() -> scheduler.queue().isEmpty());
    List<String> rows = rows(job);
    assertThat(rows.stream().filter(row -> row.endsWith(" COMPLETED 0:0"))).hasSize(10);
    assertThat(rows)
        .allMatch(row -> row.endsWith(" COMPLETED 0:0") || row.endsWith(" NODE_FAIL 0:0"));
    assertThat(folder.resolve("twice")).doesNotExist();
  }

  @Test
  void aJobWhoseSupervisorNeverStartedIsPendingUntilSomebodyLooks() throws IOException {
    LocalScheduler broken =
        new LocalScheduler(
            folder.resolve("state"),
            List.of("/no/such/java"),
            LocalSchedulers.environment(),
            LocalSettings.DEFAULT);
    long job = submit(broken, "late", "--array=0-2", "true");
    assertThat(broken.queue()).extracting(QueueEntry::state).containsOnly(JobState.PENDING);

    assertThat(scheduler.queue()).extracting(QueueEntry::task).contains(0, 1, 2);
    await(() -> scheduler.queue().isEmpty());
    assertThat(rows(job)).hasSize(3).allMatch(row -> row.endsWith(" COMPLETED 0:0"));
  }

  @Test
  void aHalfMadeJobIsNone() throws IOException {
    Files.createDirectories(folder.resolve("state/jobs/7000001/requests"));
    Files.createDirectories(folder.resolve("state/open"));
    Files.createFile(folder.resolve("state/open/7000001"));
    Files.writeString(folder.resolve("state/jobs/7000001/slurm_script"), "#!/bin/sh\n");
    assertThat(scheduler.queue()).isEmpty();
    assertThat(rows(7_000_001)).isEmpty();
    assertThat(submit("next", "true")).isEqualTo(7_000_002);
  }

  @Test
  void whatAScriptLeavesBehindIsKilled() throws IOException {
    submit(
        "daemons",
        "sleep 300 & echo $! > child.pid",
        "setsid sh -c 'sleep 300 & echo $! > daemon.pid' >/dev/null 2>&1 < /dev/null &",
        "until [ -s daemon.pid ]; do sleep 0.05; done");
    await(() -> scheduler.queue().isEmpty());
    assertThat(lives(folder.resolve("child.pid"))).isFalse();
    assertThat(lives(folder.resolve("daemon.pid"))).isFalse();
  }

  @Test
  void manyAskAtOnce() throws Exception {
    int many = 8;
    ExecutorService threads = Executors.newFixedThreadPool(many);
    try {
      List<Callable<Long>> submits = new ArrayList<>();
      for (int i = 0; i < many; i++) {
        String key = "many" + i;
        submits.add(() -> submit(key, "--array=0-9", "exit $((SLURM_ARRAY_TASK_ID % 3))"));
      }
      List<Long> ids = new ArrayList<>();
      for (Future<Long> id : threads.invokeAll(submits)) {
        ids.add(id.get());
      }
      assertThat(ids).doesNotHaveDuplicates();

      // Every reader sees whole rows, at any time, and no task twice.
      List<Callable<Boolean>> readers = Collections.nCopies(4, () -> readUntilOver(ids));
      for (Future<Boolean> reader : threads.invokeAll(readers)) {
        assertThat(reader.get()).isTrue();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private boolean readUntilOver(List<Long> ids) {
    while (true) {
      boolean over = scheduler.queue().isEmpty();
      List<AccountingRecord> rows = new ArrayList<>();
      scheduler.accounting(AccountingQuery.byIds(ids, Instant.now()), rows::add);
      List<Integer> tasks = new ArrayList<>();
      rows.forEach(row -> tasks.addAll(row.tasks().indices()));
      assertThat(tasks).hasSize(10 * ids.size());
      if (over) {
        assertThat(rows).extracting(AccountingRecord::rawJobId).doesNotHaveDuplicates();
        return rows.stream().allMatch(AccountingRecord::ended);
      }
    }
  }

  @Test
  void cancelsOnlyWhatIsMeant() throws IOException {
    long job = submit("mine", "--array=0-3%1", "echo up; sleep 300");
    await(() -> says(folder.resolve("mine.0.log"), "up"));
    scheduler.cancel("other", job, OptionalInt.empty());
    scheduler.cancel("mine", job + 1, OptionalInt.empty());
    scheduler.cancel("mine", job, OptionalInt.of(2));
    assertThat(scheduler.queue()).extracting(QueueEntry::task).containsExactly(0, 1, 3);
    assertThat(scheduler.queue()).extracting(QueueEntry::reason).contains("JobArrayTaskLimit");
    assertThat(rows(job)).contains("2 CANCELLED by " + uid() + " 0:0", "1,3 PENDING 0:0");
    scheduler.cancel("mine", job, OptionalInt.empty());
    await(() -> scheduler.queue().isEmpty());
    assertThat(rows(job)).allMatch(row -> row.contains("CANCELLED by "));
  }

  private long uid() throws IOException {
    return ((Number) Files.getAttribute(folder, "unix:uid")).longValue();
  }

  @Test
  void requeuesWhatEndedAndRefusesWhatMayNotRunAgain() throws IOException {
    long job = submit("ended", "--array=0-0", "exit ${SLURM_RESTART_COUNT:-3}");
    await(() -> scheduler.queue().isEmpty());
    scheduler.requeue(job, OptionalInt.of(0));
    await(() -> scheduler.queue().isEmpty());
    assertThat(rows(job)).containsExactly("0 REQUEUED 3:0", "0 FAILED 1:0");
    assertThatThrownBy(() -> scheduler.requeue(job, OptionalInt.of(5)))
        .isInstanceOf(SchedulerUnavailable.class);

    long once = submit("never", "--array=0-0 --no-requeue", "sleep 300");
    assertThatThrownBy(() -> scheduler.requeue(once, OptionalInt.of(0)))
        .hasMessageContaining("that may run again");
  }

  @Test
  void refusesWhatIsNoScript() throws IOException {
    Path script = folder.resolve("bad.sbatch");
    for (String text :
        List.of(
            "",
            "echo no first line\n",
            "#!/bin/sh\r\n",
            "#!/bin/sh\n#SBATCH --nodes=2\n",
            "#!/bin/sh\n#SBATCH -t 5\n")) {
      Files.writeString(script, text);
      SubmitRequest request =
          new SubmitRequest("bad", script, folder, "x", "", folder, Optional.of("0-0"), "", "");
      assertThat(scheduler.submit(request, supervisors::add))
          .isInstanceOf(SubmitAnswer.Refused.class);
    }
    assertThat(folder.resolve("state/jobs")).isDirectoryNotContaining("glob:**/7000001");
  }
}
