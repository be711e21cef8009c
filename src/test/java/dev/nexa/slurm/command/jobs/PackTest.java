package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A task with {@code array.pack} runs several indices, and again only those that failed. */
@Tag("long")
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
class PackTest {
  /** Indices 3 and 17 fail until there is a file of that name. */
  private static final String RUN =
      """
      stage: data
      backend: shell
      run: |
        echo "begins $NEXA_TASK of $NEXA_TASKS as $SLURM_ARRAY_TASK_ID"
        echo '{"rows": 2}' >"$NEXA_METRICS"
        [[ ! -e taken ]] || exit 5
        : >taken
        case $NEXA_TASK in
          3 | 17)
            [[ -e $NEXA_DURABLE/mended ]] || { echo "KeyError: 'labels'" && exit 4; } ;;
        esac
      array: {shards: 23, pack: 10, parallel: 3}
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    person.slurmProfile("health_check: false\n");
  }

  @Test
  void aFailedIndexStopsNoOtherAndRunsAgainAloneWithoutSlurm() throws Exception {
    runs("--local");
  }

  @Test
  @Tag("slurm")
  void aFailedIndexStopsNoOtherAndRunsAgainAlone() throws Exception {
    runs("--cluster", "test");
  }

  private void runs(String... where) throws Exception {
    JsonObject run = person.submitAndWait(arguments(write(RUN), where));

    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("failed");
    assertThat(manifest.object("tasks").number("total")).isEqualTo(3);
    assertThat(manifest.object("tasks").object("states").number("completed")).isEqualTo(1);
    assertThat(manifest.object("packed"))
        .hasToString("{\"indices\":23,\"completed\":21,\"failed\":2,\"first_failed\":\"3,17\"}");
    assertThat(manifest.object("metrics").number("rows")).isEqualTo(46);
    String id = run.text("run_id");
    String said = "21 of 23 indices ended well; 2 failed: 3,17";
    assertThat(person.says("status", id)).contains(said);
    assertThat(person.says("runs", "show", id)).contains(said);
    assertThat(person.says("why", id)).contains(said, "KeyError: 'labels'");
    Map<String, Long> begun = begun(run);
    assertThat(begun).hasSize(23).containsEntry("17: begins 17 of 23 as 17", 1L);
    assertThat(begun.values()).containsOnly(1L);

    Files.writeString(durable(run).resolve("mended"), "");
    person.says("rerun", id, "--failed", "--wait", "--json");

    manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(manifest.object("packed").number("completed")).isEqualTo(23);
    assertThat(manifest.object("metrics").number("rows")).isEqualTo(46);
    begun = begun(run);
    assertThat(begun.remove("3: begins 3 of 23 as 3")).isEqualTo(2);
    assertThat(begun.remove("17: begins 17 of 23 as 17")).isEqualTo(2);
    assertThat(begun.values()).hasSize(21).containsOnly(1L);
    assertThat(person.says("why", id)).contains("23 of 23 indices ended well");
  }

  @Test
  void aRequeueRunsOnlyWhatIsLeft() throws Exception {
    String text = RUN.replace("exit 4", "exit $((NEXA_RESTART == 0 ? 4 : 0))");

    JsonObject run = person.submitAndWait(write(text + "requeues: 1\nretry_on: [4]\n"), "--local");

    assertThat(person.manifest(run).text("status")).isEqualTo("completed");
    assertThat(person.manifest(run).number("attempts")).isEqualTo(5);
    assertThat(begun(run).values().stream().mapToLong(Long::longValue).sum()).isEqualTo(25);
    assertThat(person.logs(run)).contains("9 of the indices ended well before; those left: 1");
  }

  /** The warning and the end of a job reach each command, and what ran is recorded. */
  @Test
  void aTaskThatIsEndedTellsOfThoseThatRan() throws Exception {
    String text =
        """
        stage: data
        backend: shell
        run: |
          trap 'echo "saved $NEXA_TASK"; exit 9' TERM
          ((NEXA_TASK > 1)) || exit 0
          echo waits && sleep 60 & wait
        array: {indices: "5-50:5", pack: 10, parallel: 2}
        resources: {cpus_per_task: 1, memory: 100M, time: 2m}
        """;
    JsonObject run = person.submit(write(text), "--local");
    person.until("3: waits", "logs", run.text("run_id"));

    person.says("cancel", run.text("run_id"));
    person.finish(run);

    assertThat(person.logs(run)).contains("2: saved 2", "3: saved 3", "4 (not run)");
    assertThat(person.manifest(run).object("packed"))
        .hasToString("{\"indices\":10,\"completed\":2,\"failed\":2,\"first_failed\":\"2-3\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          backend: shell                      | backend: python | array.pack: is for backend shell
          cpus_per_task: 1                    | nodes: 2        | array.pack: is for tasks on one node
          {shards: 23, pack: 10, parallel: 3} | {shards: 9, parallel: 3}  | array.parallel: needs pack
          {shards: 23, pack: 10, parallel: 3} | {pack: 3}       | array.shards: missing
          stage: data                         | checkpoints: {on: scratch} | array.pack: needs durable checkpoints
          """)
  void elsewhereItIsRefused(String old, String now, String message) throws IOException {
    String more = now.startsWith("check") ? old + "\n" + now : now;
    assertThat(person.fails("render", write(RUN.replace(old, more)), "--cluster", "test"))
        .contains(message);
  }

  private static String[] arguments(String first, String... more) {
    List<String> all = new ArrayList<>(List.of(first));
    all.addAll(List.of(more));
    return all.toArray(String[]::new);
  }

  /** How often each index began. */
  private Map<String, Long> begun(JsonObject run) throws IOException {
    return person
        .logs(run)
        .lines()
        .filter(line -> line.contains(": begins "))
        .collect(Collectors.groupingBy(line -> line, Collectors.counting()));
  }

  private Path durable(JsonObject run) throws IOException {
    return Path.of(
        Json.parseObject(DurableFiles.read(Person.folder(run).resolve("plan.json")))
            .object("storage")
            .text("durable"));
  }

  private String write(String text) throws IOException {
    return Files.writeString(workspace.resolve("run.yaml"), text).toString();
  }
}
