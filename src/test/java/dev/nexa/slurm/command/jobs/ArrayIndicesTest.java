package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.IndexRange;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** With {@code array.indices}, a program sees the array that sbatch makes of the same list. */
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class ArrayIndicesTest {
  private static final long SEED = Long.getLong("indices.seed", System.nanoTime());

  /** What a program sees, in the job and in a step of its own. */
  private static final String SHOWS =
      """
      show() {
        echo "$1 $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT: $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX:$SLURM_ARRAY_TASK_STEP"
      }
      export -f show
      show job
      srun -n1 bash -c "show step"
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
  }

  @Test
  void eachTaskHasTheIndexOfItsPlace() throws Exception {
    Random random = new Random(SEED);
    for (int i = 0; i < 20; i++) {
      String list = list(random, 4_000_000);
      assertThat(seen(list))
          .as("seed " + SEED + ": " + list)
          .isEqualTo(some(IndexRange.parse(list).indices()));
    }
  }

  @Test
  void aLongListCostsNoLoop() throws Exception {
    Path script = workspace.resolve("long.sh");
    Files.writeString(
        script, index("1-4000000:2,2-3000000:2") + "\nNEXA_TASK=3499999 nexa_index\n");

    long began = System.nanoTime();
    String id = Person.command("bash", "-c", ". " + script + "; echo $SLURM_ARRAY_TASK_ID");

    assertThat(id.strip()).isEqualTo("3999999");
    assertThat(System.nanoTime() - began).isLessThan(5_000_000_000L);
  }

  @Test
  void whatIsNoListIsToldWithTheKey() throws IOException {
    assertThat(refused("3-1")).contains("array.indices: expected array indices such as");
    assertThat(refused("1,3%2")).contains("array.indices: expected indices such as");
    assertThat(refused("1-5\n  shards: 3")).contains("array.indices: stands in place of shards");
    assertThat(
            person.fails(
                "render",
                write(
                    "1-5\n  max_parallel: 2\nsweep: {lr: [1, 2]}\ndata: {prepare: {input: [/i]}}"),
                "--cluster",
                "test"))
        .contains(
            "array.indices: a sweep's tasks are its points",
            "array.indices: a data stage divides its rows");
    StringBuilder long1 = new StringBuilder("0");
    for (int i = 1; i < 8000; i++) {
      long1.append(',').append(i * i % 3_999_000);
    }
    assertThat(refused(long1.toString())).contains("array.indices: a list of ", "at most 30000");
  }

  @Test
  @Tag("slurm")
  void theIndicesAreThoseThatSbatchMakes() throws Exception {
    Random random = new Random(SEED);
    for (int i = 0; i < 6; i++) {
      String list = list(random, 300);
      String as = "seed " + SEED + ": " + list;
      String job =
          Person.command("sbatch", "--hold", "--parsable", "-t1", "--array=" + list, "--wrap=true")
              .strip();
      // squeue -r leaves out the last index of a range with a step.
      String shown =
          Person.command("env", "SLURM_BITSTR_LEN=0", "scontrol", "-o", "show", "job", job);
      Person.command("scancel", job);

      assertThat(seen(list))
          .as(as)
          .isEqualTo(
              some(
                  IndexRange.parse(shown.replaceFirst("(?s).* ArrayTaskId=(\\S+).*", "$1"))
                      .indices()));
    }
  }

  @Test
  @Tag("slurm")
  void aProgramSeesWhatSbatchSets() throws Exception {
    for (String list : List.of("5,0-20:10", "7", "3,1,2-3")) {
      String script =
          "#!/bin/bash\n#SBATCH -t1 -c1 --mem=50M -p cpu --array=" + list + "%2\n" + SHOWS;
      Path file = Files.writeString(workspace.resolve("shows.sh"), script);
      Path theirs = Files.createDirectories(workspace.resolve("theirs" + list.length()));
      Person.command("sbatch", "--wait", "--output=" + theirs + "/%a", file.toString());

      JsonObject run = person.submitAndWait(file.toString());

      List<String> wanted = new ArrayList<>();
      try (Stream<Path> logs = Files.list(theirs)) {
        for (Path log : logs.toList()) {
          wanted.addAll(Files.readAllLines(log));
        }
      }
      assertThat(person.logs(run).lines().filter(line -> line.matches("(job|step) .*")))
          .as(list)
          .containsExactlyInAnyOrderElementsOf(wanted);
    }
  }

  /** The first and the last ones of many. */
  private static List<Integer> some(List<Integer> all) {
    if (all.size() <= 100) {
      return all;
    }
    List<Integer> some = new ArrayList<>(all.subList(0, 50));
    some.addAll(all.subList(all.size() - 50, all.size()));
    return some;
  }

  /** Asks the script's own function for each task, of many for the first and the last ones. */
  private List<Integer> seen(String list) throws IOException {
    int tasks = IndexRange.parse(list).indices().size();
    Path script = workspace.resolve("index.sh");
    Files.writeString(
        script,
        index(list)
            + """

            for ((NEXA_TASK = 0; NEXA_TASK < %1$d; NEXA_TASK++)); do
              if ((%1$d > 100 && NEXA_TASK == 50)); then NEXA_TASK=$((%1$d - 50)); fi
              nexa_index && echo "$SLURM_ARRAY_TASK_ID"
            done
            """
                .formatted(tasks));
    return Person.command("bash", "-eu", script.toString()).lines().map(Integer::valueOf).toList();
  }

  private String index(String list) throws IOException {
    String script = person.says("render", write(list), "--cluster", "test");
    int from = script.indexOf("nexa_index() {");
    return script.substring(from, script.indexOf("\n}\n", from) + 3);
  }

  private String refused(String list) throws IOException {
    return person.fails("render", write(list), "--cluster", "test");
  }

  private String write(String list) throws IOException {
    Path file = workspace.resolve("run.yaml");
    Files.writeString(
        file,
        "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 1m}\narray:\n  indices: "
            + list
            + "\n");
    return file.toString();
  }

  /** A list of ranges, single indices and steps, which may overlap. */
  private static String list(Random random, int most) {
    List<String> parts = new ArrayList<>();
    for (int i = random.nextInt(5); i >= 0; i--) {
      int from = random.nextInt(most);
      int to = Math.min(most, from + random.nextInt(80));
      parts.add(
          switch (random.nextInt(3)) {
            case 0 -> "" + from;
            case 1 -> from + "-" + to;
            default -> from + "-" + to + ":" + (1 + random.nextInt(9));
          });
    }
    return String.join(",", parts);
  }
}
