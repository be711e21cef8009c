package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.SlurmDatabase;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The sums of the first look, beside those of slurmdbd's database. */
@Tag("slurm")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class LookOnSlurmTest {
  private static final String ENDED =
      "select time_end - time_start - time_suspended, tres_alloc from nexa_job_table"
          + " where time_start >= %d and time_end > 0 and id_user = 5";

  @TempDir Path folder;

  /** A user whose jobs no other test starts. */
  private static final String USER = "games";

  @Test
  void theSumsAreThoseOfTheDatabase() throws Exception {
    Person person = new Person(folder);
    Instant since = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    submit("--gpus=2", "--array=0-3", "--wrap=sleep 1");
    submit("--gpus-per-node=h100:1", "--nodes=2", "--wrap=exit 3");
    submit("-c3", "--time=10:00:00", "--wrap=sleep 2");
    String running = submit("--wrap=sleep 100");
    String job =
        submit("-c2", "--requeue", "--wrap=[ -z $SLURM_RESTART_COUNT ] || exit 1; sleep 99");
    while (!Person.state(job).equals("RUNNING")) {
      Thread.sleep(300);
    }
    Person.command("scontrol", "requeue", job);
    Person.awaitPending(job);
    String rows = "";
    for (int i = 0; i < 200 && rows.lines().count() < 8; i++) {
      Person.letGo(job);
      Thread.sleep(500);
      rows = SlurmDatabase.sql(ENDED.formatted(since.getEpochSecond()));
    }
    String gpu = SlurmDatabase.gpu();
    long[] held = new long[2];
    for (String row : rows.strip().split("\n", -1)) {
      String[] cells = row.split("\t", -1);
      long seconds = Long.parseLong(cells[0]);
      held[0] += seconds * SlurmDatabase.count(cells[1], SlurmDatabase.CPU);
      held[1] += seconds * SlurmDatabase.count(cells[1], gpu);
    }

    JsonObject look = person.json("look", "--user", USER, "--since", since.toString(), "--json");

    Person.command("scancel", running);
    JsonObject total = look.object("total");
    assertThat(total.number("jobs")).as(rows).isEqualTo(8);
    assertThat(total.text("cpu_hours")).as(rows).isEqualTo(SlurmDatabase.hours(held[0]));
    assertThat(total.text("gpu_hours")).as(rows).isEqualTo(SlurmDatabase.hours(held[1]));
    assertThat(look.number("not_ended")).isEqualTo(1);
    assertThat(look.objects("lost").stream().map(line -> line.text("loss")))
        .contains("failed", "preempted");
  }

  private static String submit(String... options) throws Exception {
    List<String> argv = new ArrayList<>(List.of("sbatch", "--parsable", "--uid=" + USER));
    argv.addAll(List.of("--chdir=/tmp", "--output=/dev/null"));
    argv.addAll(List.of(options));
    return Person.command(argv.toArray(String[]::new)).strip();
  }
}
