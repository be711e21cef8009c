package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.slurm.SacctRows;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Jobs that somebody submits by hand to the real Slurm, and what accounting says of them. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Execution(ExecutionMode.CONCURRENT)
@Order(1)
@Tag("full")
class ImportOnSlurmTest {
  private static final String FORGED = "999999";

  @TempDir Path workspace;

  @Test
  void whatWasSubmittedByHandCostsWhatAccountingSays() throws Exception {
    Person person = new Person(workspace);
    person.slurmProfile("gpu_type: h100\n");
    String since = Instant.now().minusSeconds(1).toString();
    String plain = sbatch("--gres=gpu:h100:2", "--wrap=sleep 2");
    String array = sbatch("--array=2,5-6", "--wrap=sleep 1; [ $SLURM_ARRAY_TASK_ID != 5 ]");
    String forger = sbatch("--job-name=" + withARowOfEve(), "--wrap=true");
    String again = sbatch("--requeue", "--wrap=[ -n \"$SLURM_RESTART_COUNT\" ] || sleep 300");
    requeue(again);
    List<String> ours = List.of(plain, array, forger, again);
    for (String job : ours) {
      awaitEnd(job);
    }
    String[] command = {
      "runs",
      "import",
      "--from",
      "sacct",
      "--user",
      System.getProperty("user.name"),
      "--since",
      since,
      "--cluster",
      "test",
      "--json"
    };

    assertThat(jobs(person.json(command))).doesNotContainAnyElementsOf(ours);
    Thread.sleep(61_000);

    JsonObject answer = person.json(command);

    assertThat(jobs(answer)).as("%s", answer).containsAll(ours).doesNotContain(FORGED);
    for (String job : ours) {
      JsonObject run = person.json("runs", "show", job, "--json");
      JsonObject actual = run.object("cost").object("actual");
      List<String> rows = rows(job);
      long cpuSeconds = 0;
      long gpuSeconds = 0;
      for (String row : rows) {
        String[] field = row.split("\\|", -1);
        long seconds = Long.parseLong(field[0]);
        cpuSeconds += seconds * Long.parseLong(field[1]);
        gpuSeconds += field[2].contains("gres/gpu=2") ? 2 * seconds : 0;
      }
      assertThat(actual.objects("attempts")).as("%s", answer).hasSameSizeAs(rows);
      assertThat(actual.text("cpu_hours")).isEqualTo(hours(cpuSeconds));
      assertThat(actual.text("gpu_hours")).isEqualTo(hours(gpuSeconds));
    }
    assertThat(rows(again)).hasSize(2);
    JsonObject tasks = person.json("runs", "show", array, "--json").object("manifest");
    assertThat(tasks.object("tasks").object("states").number("failed")).isEqualTo(1);
    assertThat(tasks.object("tasks").number("total")).isEqualTo(3);
    assertThat(jobs(person.json(command))).doesNotContainAnyElementsOf(ours);
  }

  /** The end of the job's own row, and after a line feed a whole row of somebody else's. */
  private static String withARowOfEve() {
    long now = Instant.now().getEpochSecond();
    String times = "%d|%d|%d|3600".formatted(now - 4000, now - 3900, now - 300);
    String row =
        "x|None|cpu=1|00:00:00|1\n%1$s|%1$s|c|eve|root|cpu|COMPLETED|0:0|%2$s|1|n1|cpu=1|y"
            .formatted(FORGED, times);
    return row.replace("|", SacctRows.US);
  }

  private static List<String> jobs(JsonObject imported) {
    List<String> jobs = new ArrayList<>();
    for (JsonObject one : imported.objects("imported")) {
      jobs.add("" + one.number("job_id"));
    }
    return jobs;
  }

  private static String sbatch(String... arguments) throws IOException {
    List<String> argv =
        new ArrayList<>(
            List.of("sbatch", "--parsable", "--mem=50M", "--time=10", "--output=/dev/null"));
    argv.addAll(List.of(arguments));
    String id = Person.command(argv.toArray(String[]::new)).strip();
    assertThat(id).matches("\\d+");
    return id;
  }

  /** Its second attempt ends at once. */
  private static void requeue(String job) throws IOException, InterruptedException {
    await("squeue", "--noheader", "--format=%T", "--jobs=" + job, "RUNNING");
    Person.command("scontrol", "requeue", job);
    Person.awaitPending(job);
    for (int i = 0; i < 120 && !state(job).contains("COMPLETED"); i++) {
      Person.letGo(job);
      Thread.sleep(1000);
    }
  }

  private static void awaitEnd(String job) throws IOException, InterruptedException {
    for (int i = 0; i < 240 && !ended(state(job)); i++) {
      Thread.sleep(500);
    }
    assertThat(state(job)).matches(ImportOnSlurmTest::ended);
  }

  /** An end that is not known yet is printed so. */
  private static boolean ended(String rows) {
    return !rows.isBlank() && !rows.contains("Unknown");
  }

  private static void await(String... argvAndWord) throws IOException, InterruptedException {
    int last = argvAndWord.length - 1;
    String[] argv = Arrays.copyOf(argvAndWord, last);
    for (int i = 0; i < 240 && !Person.command(argv).contains(argvAndWord[last]); i++) {
      Thread.sleep(250);
    }
  }

  private static String state(String job) throws IOException {
    return Person.command("sacct", "-X", "-n", "-P", "-j", job, "-o", "State,End");
  }

  /** Elapsed seconds, CPUs and what was held, of each attempt. */
  private static List<String> rows(String job) throws IOException {
    return Person.command(
            "sacct", "-X", "-D", "-n", "-P", "-j", job, "-o", "ElapsedRaw,AllocCPUS,AllocTRES")
        .lines()
        .toList();
  }

  private static String hours(long seconds) {
    return BigDecimal.valueOf(seconds)
        .divide(BigDecimal.valueOf(3600), 4, RoundingMode.HALF_EVEN)
        .toPlainString();
  }
}
