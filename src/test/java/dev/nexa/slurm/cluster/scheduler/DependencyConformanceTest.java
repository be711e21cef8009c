package dev.nexa.slurm.cluster.scheduler;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.cluster.scheduler.local.LocalSettings;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.cluster.scheduler.slurm.SlurmScheduler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Jobs that wait for jobs end, or go on waiting, the same way on Slurm and on this machine. */
@Tag("slurm")
@Execution(ExecutionMode.SAME_THREAD)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Tag("full")
class DependencyConformanceTest {
  private static final String DONE = "COMPLETED";
  private static final String WAITS = "DependencyNeverSatisfied";
  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final List<Case> CASES =
      List.of(
          child("afterok, met", "afterok:A", "", DONE).parent("A", "", "exit 0"),
          child("afterok, failed", "afterok:A", "", WAITS).parent("A", "", "exit 1"),
          child("afterany, failed", "afterany:A", "", DONE).parent("A", "", "exit 1"),
          child("afternotok, failed", "afternotok:A", "", DONE).parent("A", "", "exit 1"),
          child("afternotok, completed", "afternotok:A", "", WAITS).parent("A", "", "exit 0"),
          child("two jobs in one condition", "afterok:A:B", "", DONE)
              .parent("A", "", "exit 0")
              .parent("B", "", "exit 0"),
          child("two jobs, one failed", "afterok:A:B", "", WAITS)
              .parent("A", "", "exit 0")
              .parent("B", "", "exit 3"),
          child("two conditions", "afterok:A,afterany:B", "", DONE)
              .parent("A", "", "exit 0")
              .parent("B", "", "exit 3"),
          child("afterok of an array", "afterok:A", "", DONE).parent("A", "0-2", "exit 0"),
          child("afterok of an array, one failed", "afterok:A", "", WAITS)
              .parent("A", "0-2", "[ $SLURM_ARRAY_TASK_ID != 1 ]"),
          child("afterany of an array", "afterany:A", "", DONE)
              .parent("A", "0-2", "[ $SLURM_ARRAY_TASK_ID != 1 ]"),
          child("afternotok of an array, one failed", "afternotok:A", "", DONE)
              .parent("A", "0-2", "[ $SLURM_ARRAY_TASK_ID != 1 ]"),
          child("an array waits", "afterok:A", "0-1", DONE, DONE).parent("A", "", "exit 0"),
          child("aftercorr", "aftercorr:A", "0-2", DONE, WAITS, DONE)
              .parent("A", "0-2", "[ $SLURM_ARRAY_TASK_ID != 1 ]"),
          child("aftercorr of a job that is no array", "aftercorr:A", "0-1", DONE, DONE)
              .parent("A", "", "exit 0"),
          child("aftercorr, an index more", "aftercorr:A", "0-2", DONE, DONE, DONE)
              .parent("A", "0-1", "exit 0"),
          child("aftercorr, an index more, one failed", "aftercorr:A", "0-2", DONE, WAITS, WAITS)
              .parent("A", "0-1", "exit $SLURM_ARRAY_TASK_ID"));

  private final List<Runnable> cancels = new ArrayList<>();

  /** A job that waits, the jobs that it waits for, and what becomes of its tasks. */
  private record Case(
      String name,
      String dependency,
      String array,
      Map<String, String[]> parents,
      List<String> expected) {
    private Case parent(String letter, String array, String command) {
      Map<String, String[]> more = new LinkedHashMap<>(parents);
      more.put(letter, new String[] {array, command});
      return new Case(name, dependency, this.array, more, expected);
    }

    @Override
    public String toString() {
      return name;
    }
  }

  private static Case child(String name, String dependency, String array, String... expected) {
    return new Case(name, dependency, array, Map.of(), List.of(expected));
  }

  static Stream<String> schedulers() {
    return Stream.of("slurm", "local");
  }

  @AfterEach
  void cancel() {
    cancels.forEach(Runnable::run);
  }

  @ParameterizedTest
  @MethodSource("schedulers")
  void waitsAsTheTableSays(String name, @TempDir Path folder) throws Exception {
    Scheduler scheduler = scheduler(name, folder);
    Map<String, Waiting> children = new LinkedHashMap<>();
    int number = 0;
    for (Case row : CASES) {
      children.put(row.name(), submitted(scheduler, row, folder, "dep" + number++));
    }
    Map<String, List<String>> expected = new TreeMap<>();
    CASES.forEach(row -> expected.put(row.name(), row.expected()));
    Map<String, List<String>> seen = new TreeMap<>();
    Instant deadline = Instant.now().plus(PATIENCE);
    while (!seen.equals(expected) && Instant.now().isBefore(deadline)) {
      Thread.sleep(500);
      for (Case row : CASES) {
        seen.put(row.name(), children.get(row.name()).look(row.expected().size()));
      }
    }
    assertThat(seen).isEqualTo(expected);
  }

  private static Scheduler scheduler(String name, Path folder) throws IOException {
    return name.equals("local")
        ? LocalSchedulers.in(folder.resolve("state"), LocalSettings.DEFAULT)
        : new SlurmScheduler(
            new CommandRunner(),
            ClientEnvironment.forClients(LocalSchedulers.submitters()),
            folder,
            ClientTimeouts.DEFAULT,
            Optional::empty);
  }

  private Waiting submitted(Scheduler scheduler, Case row, Path folder, String key)
      throws IOException {
    String dependency = row.dependency();
    for (Map.Entry<String, String[]> parent : row.parents().entrySet()) {
      String[] is = parent.getValue();
      // It lives until its child is queued: Slurm judges a job that has ended in another way.
      String command = "while ! [ -e " + folder + "/" + key + ".go ]; do sleep 0.2; done\n" + is[1];
      long id = submit(scheduler, folder, key + parent.getKey(), is[0], command, "");
      dependency = dependency.replace(":" + parent.getKey(), ":" + id);
    }
    long id = submit(scheduler, folder, key, row.array(), "true", dependency);
    Files.createFile(folder.resolve(key + ".go"));
    return new Waiting(scheduler, id);
  }

  private long submit(
      Scheduler scheduler, Path folder, String key, String array, String command, String dependency)
      throws IOException {
    Path script = folder.resolve(key + ".sbatch");
    Files.writeString(script, "#!/bin/bash\n#SBATCH --mem=20M --time=5\n" + command + "\n");
    String name = key + "." + folder.getFileName();
    SubmitAnswer answer =
        scheduler.submit(
            new SubmitRequest(
                name,
                script,
                folder,
                "/dev/null",
                "",
                folder,
                array.isEmpty() ? Optional.empty() : Optional.of(array),
                dependency,
                ""),
            started -> {});
    assertThat(answer).as(key).isInstanceOf(SubmitAnswer.Submitted.class);
    long id = ((SubmitAnswer.Submitted) answer).jobId();
    cancels.add(() -> scheduler.cancel(name, id, OptionalInt.empty()));
    return id;
  }

  /** A job that was submitted: the state of each task, or why it will never start. */
  private record Waiting(Scheduler scheduler, long id) {
    private List<String> look(int tasks) {
      Map<Integer, String> states = new TreeMap<>();
      for (QueueEntry entry : scheduler.queue()) {
        if (entry.arrayJobId() == id && entry.active()) {
          states.put(entry.task(), entry.reason());
        }
      }
      Instant since = Instant.now().minusSeconds(3600);
      scheduler.accounting(
          AccountingQuery.byIds(List.of(id), since),
          row -> {
            List<Integer> indices = row.tasks().indices();
            for (int task : indices.isEmpty() ? List.of(0) : indices) {
              if (row.ended()) {
                states.put(task, row.state().name());
              }
            }
          });
      return states.size() == tasks ? List.copyOf(states.values()) : List.of(states.toString());
    }
  }
}
