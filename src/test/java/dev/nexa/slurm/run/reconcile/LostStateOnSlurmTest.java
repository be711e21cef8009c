package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.PrivateSlurm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * slurmctld loses what it knew: the disk keeps an older state, and accounting goes on. Work that
 * was not done is never called completed, and none is done twice.
 */
@Tag("slurm")
class LostStateOnSlurmTest {
  private static PrivateSlurm slurm;
  private static Path workspace;
  private static Person person;
  private static int nextJob = 1000;

  @BeforeAll
  static void start() throws Exception {
    assumeTrue("root".equals(System.getProperty("user.name")), "only root can start daemons");
    slurm =
        PrivateSlurm.prepare(
            new PrivateSlurm.Layout(
                Map.of("p1", ""),
                """
                MinJobAge=2
                SelectTypeParameters=CR_CPU_Memory
                NodeName=p1 AT CPUs=16 RealMemory=64000
                PartitionName=cpu Default=YES Nodes=p1 MaxTime=1-00:00:00
                """));
    slurm.letAllThrough();
    slurm.withAccounting();
    slurm.start();
    person = slurm.person();
    workspace = slurm.workspace();
    // A slurmctld without any saved job ends all jobs in accounting when it starts.
    assertThat(slurm.root("sbatch", "--mem=50M", "--wrap=true").exit()).isZero();
    Person.await(slurm.folder.resolve("state/job_state"));
  }

  @AfterAll
  static void tidyUp() throws Exception {
    if (slurm != null) {
      slurm.close();
    }
  }

  /** Submits tasks that write when they begin and end. */
  private static JsonObject submit(String name, int tasks, String seconds) throws IOException {
    Path config = workspace.resolve(name + ".yaml");
    Files.writeString(
        config,
        """
        stage: data
        backend: shell
        array: {shards: %d}
        run: |
          echo begun >>%s/%s.$NEXA_TASK
          sleep %s
          echo ended >>%s/%s.$NEXA_TASK
        resources: {memory: 50M, time: 2m}
        """
            .formatted(tasks, workspace, name, seconds, workspace, name));
    return person.submit("--cluster", "default", config.toString());
  }

  private static String wrote(String name) throws IOException {
    Path file = workspace.resolve(name);
    return Files.exists(file) ? Files.readString(file).replace('\n', ' ').strip() : "";
  }

  private static void partition(String state) throws IOException {
    assertThat(slurm.root("scontrol", "update", "PartitionName=cpu", "State=" + state).exit())
        .isZero();
  }

  private static void loseState(boolean jobsToo) throws Exception {
    nextJob += 1000;
    slurm.loseState(nextJob, jobsToo);
  }

  /** What an admin types to correct accounting. */
  private static void correctAccounting() throws IOException {
    slurm.root("bash", "-c", "yes | sacctmgr show runawayjobs");
  }

  private static String id(JsonObject run) {
    return run.text("run_id");
  }

  private static String journal(JsonObject run) throws IOException {
    return Files.readString(workspace.resolve("runs/" + id(run) + "/journal.jsonl"));
  }

  private static JsonObject shown(JsonObject run) throws IOException {
    return person.json("runs", "show", id(run), "--json").object("manifest");
  }

  /** Makes passes until the run's journal or state has this word. */
  private static void awaitWord(JsonObject run, String word) throws Exception {
    String seen = "";
    for (int i = 0; i < 150; i++) {
      person.says("reconcile");
      seen = journal(run) + person.says("runs", "show", id(run), "--json");
      if (seen.contains(word)) {
        return;
      }
      Thread.sleep(300);
    }
    throw new AssertionError(id(run) + " has no " + word + ": " + seen);
  }

  @Test
  void aWaitingJobThatIsLostIsSubmittedAgainAndNeverCompleted() throws Exception {
    for (boolean corrected : new boolean[] {false, true}) {
      String name = "waits-" + corrected;
      slurm.keepState();
      partition("DOWN");
      JsonObject run = submit(name, 1, "0");
      awaitWord(run, "\"confirmed\"");
      loseState(false);
      partition("DOWN");
      if (corrected) {
        correctAccounting();
      }
      awaitWord(run, "vanished");
      partition("UP");
      awaitWord(run, "\"completed\"");

      assertThat(wrote(name + ".0")).isEqualTo("begun ended");
    }
  }

  @Test
  void ofAJobThatIsLostAtWorkNobodySaysThatItCompleted() throws Exception {
    slurm.keepState();
    JsonObject run = submit("half", 1, "100");
    Person.await(workspace.resolve("half.0"));
    awaitWord(run, "\"confirmed\"");
    loseState(true);
    awaitWord(run, "\"missed\"");

    assertThat(person.says("status", id(run))).contains("unknown", "not known how a task ended");
    assertThat(person.says("why", id(run)))
        .contains("It is not known how it ended.", "nexa-slurm cancel " + id(run));

    correctAccounting();
    Thread.sleep(1000);
    person.says("reconcile");
    assertThat(shown(run).text("status")).isEqualTo("running");

    person.says("cancel", id(run), "--yes");
    awaitWord(run, "\"vanished\"");
    assertThat(shown(run).text("status")).isEqualTo("failed");
    assertThat(wrote("half.0")).isEqualTo("begun");
  }

  @Test
  void aJobThatIsLostAtWorkBeforeAPassHasSeenItIsNotSubmittedAgain() throws Exception {
    slurm.keepState();
    JsonObject run = submit("unseen", 1, "100");
    Person.await(workspace.resolve("unseen.0"));
    loseState(true);
    awaitWord(run, "\"missed\"");
    // The settle window of these tests is over long before.
    Thread.sleep(5000);
    person.says("reconcile");

    assertThat(journal(run)).doesNotContain("\"confirmed\"", "\"closed\"");
    assertThat(person.says("why", id(run))).contains("It is not known how it ended.");
    person.says("cancel", id(run), "--yes");
    awaitWord(run, "\"closed\"");
    assertThat(shown(run).text("status")).isEqualTo("failed");
    assertThat(wrote("unseen.0")).isEqualTo("begun");
  }

  /** Slurm forgets the job before accounting has heard of its end. */
  @Test
  void aForgottenJobIsNeitherLostNorDoneTwice() throws Exception {
    JsonObject run = submit("late", 1, "1");
    awaitWord(run, "\"confirmed\"");
    slurm.root("pkill", "-STOP", "-f", "^slurmdbd -D$");
    try {
      for (int i = 0; i < 40 && !wrote("late.0").endsWith("ended"); i++) {
        Thread.sleep(250);
      }
      Thread.sleep(6000);
    } finally {
      slurm.root("pkill", "-CONT", "-f", "^slurmdbd -D$");
    }
    awaitWord(run, "\"completed\"");

    assertThat(wrote("late.0")).isEqualTo("begun ended");
    assertThat(journal(run)).doesNotContain("\"missed\"", "\"closed\"");
  }

  /** slurmctld knows the job only as one that waits, and starts it again. */
  @Test
  void whatEndedBeforeTheLossIsNotDoneAgain() throws Exception {
    partition("DOWN");
    JsonObject run = submit("again", 1, "0");
    slurm.keepStateWith(id(run));
    partition("UP");
    Person.await(workspace.resolve("again.0"));
    // Else slurmd has the job still at work when slurmctld, which takes it for waiting, starts it.
    for (int i = 0; i < 600 && slurm.root("squeue", "-h", "-o%j").out().contains(id(run)); i++) {
      Thread.sleep(100);
    }
    Thread.sleep(1000);
    loseState(false);
    partition("UP");
    for (int i = 0; i < 400 && !person.logs(run).contains("has ended already"); i++) {
      Thread.sleep(250);
    }
    awaitWord(run, "\"completed\"");

    assertThat(person.logs(run)).contains("has ended already");
    assertThat(wrote("again.0")).isEqualTo("begun ended");
  }

  /** Random moments of the loss, of the passes and of the correction. */
  @Test
  @Tag("full")
  void noWorkIsDoneTwiceAndNoneIsCompletedThatWasNotDone() throws Exception {
    long seed = Long.getLong("lost.seed", System.nanoTime());
    System.out.println("lost state: seed " + seed);
    Random random = new Random(seed);
    Map<String, Integer> ends = new TreeMap<>();
    for (int trial = 0; trial < Integer.getInteger("lost.trials", 10); trial++) {
      List<Work> all = work(random, trial);
      if (random.nextBoolean()) {
        person.says("reconcile");
      }
      loseState(random.nextBoolean());
      if (random.nextBoolean()) {
        correctAccounting();
      }
      partition("UP");
      for (Work work : all) {
        String end = end(work.run);
        ends.merge(end, 1, Integer::sum);
        for (int task = 0; task < work.tasks; task++) {
          String wrote = wrote(work.name + "." + task);
          String what = work.name + "." + task + " of " + id(work.run) + ", " + end + ": " + wrote;
          assertThat(wrote.split("ended", -1)).as(what).hasSizeLessThanOrEqualTo(2);
          if (end.equals("completed")) {
            assertThat(wrote).as(what).endsWith("ended");
          }
        }
      }
    }
    System.out.println("lost state: " + ends);
  }

  private record Work(JsonObject run, String name, int tasks) {}

  /** Submits four runs at random moments, before and after slurmctld's state is kept. */
  private static List<Work> work(Random random, int trial) throws Exception {
    List<Work> all = new ArrayList<>();
    int kept = random.nextInt(4);
    for (int i = 0; i < 4; i++) {
      if (i == kept) {
        slurm.keepState();
      }
      partition(random.nextInt(3) == 0 ? "DOWN" : "UP");
      String name = "t" + trial + "-" + i;
      int tasks = 1 + random.nextInt(3);
      all.add(new Work(submit(name, tasks, "" + random.nextInt(12)), name, tasks));
      Thread.sleep(random.nextInt(1500));
    }
    // Half of the jobs are confirmed: slurmctld has saved them.
    Thread.sleep(random.nextBoolean() ? 7000 : 500);
    return all;
  }

  /** Makes passes until the run has ended, or nobody can know how it ended. */
  private static String end(JsonObject run) throws Exception {
    String state = "";
    int unknown = 0;
    // A job that slurmctld takes for running ends with its time limit.
    Instant deadline = Instant.now().plus(Duration.ofMinutes(6));
    while (Instant.now().isBefore(deadline)) {
      // Slurm drains a node whose job it could not kill in time.
      slurm.root("scontrol", "update", "NodeName=p1", "State=RESUME");
      person.says("reconcile");
      JsonObject shown = shown(run);
      state = shown.text("state");
      boolean ended = List.of("completed", "failed").contains(shown.text("status"));
      // Accounting that was corrected early leaves nothing to miss: it says COMPLETED.
      unknown = state.equals("unknown") ? unknown + 1 : 0;
      if (ended || unknown > 40) {
        return state;
      }
      Thread.sleep(300);
    }
    throw new AssertionError(id(run) + " is still " + state + ": " + person.says("why", id(run)));
  }
}
