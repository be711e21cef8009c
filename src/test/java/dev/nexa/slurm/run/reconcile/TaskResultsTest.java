package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspaces;
import dev.nexa.slurm.run.results.TaskResults;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What tasks wrote into the files that NEXA_METRICS names. */
class TaskResultsTest {
  private final RunFolder run = Workspaces.inMemory().claim("train", Rows.NOON);
  private final RunState journal = Facts.journal(4, "created submitting submitted");
  private final Path results = run.submission(Rows.KEY).resolve("results");
  private final List<String> problems = new ArrayList<>();

  @BeforeEach
  void makeFolder() throws IOException {
    Files.createDirectories(results);
  }

  @Test
  void wholeNumbersAreAddedUpAndTheRestIsKeptWhereAllSayTheSame() throws IOException {
    metrics("0.0", "{\"rows\": 10, \"loss\": 0.5, \"checkpoint\": \"a\", \"ok\": true}");
    metrics("1.0", "{\"rows\": 32, \"loss\": 0.25, \"checkpoint\": \"a\"}");

    assertThat(merged()).hasToString("{\"checkpoint\":\"a\",\"ok\":true,\"rows\":42}");
  }

  /** Each point has its own; what it was given is no count. */
  @Test
  void ofASweepOnlyWhatAllPointsShareIsTheRuns() throws IOException {
    metrics("0.0", "{\"epochs\": 3, \"batch\": 16, \"loss\": 0.5}");
    metrics("1.0", "{\"epochs\": 3, \"batch\": 32, \"loss\": 0.25}");

    assertThat(TaskResults.read(run, journal, true, problems).metrics())
        .hasToString("{\"epochs\":3}");
  }

  @Test
  void tasksAreInTheirOrderNotInThatOfTheirNames() throws IOException {
    metrics("10.0", "{\"checkpoint\": \"ten\"}");
    metrics("9.0", "{\"checkpoint\": \"nine\"}");

    assertThat(TaskResults.read(run, journal, false, problems).byTask().keySet())
        .containsExactly(9, 10);
  }

  @Test
  void aTaskThatRanAgainCountsOnceWithItsHighestRestart() throws IOException {
    metrics("0.0", "{\"rows\": 1}");
    metrics("0.2", "{\"rows\": 3}");
    metrics("0.10", "{\"rows\": 11}");

    assertThat(merged()).hasToString("{\"rows\":11}");
  }

  @Test
  void aNumberAndATextAreNotTheSame() throws IOException {
    metrics("0.0", "{\"rows\": 1}");
    metrics("1.0", "{\"rows\": \"many\"}");

    assertThat(merged()).hasToString("{}");
  }

  @Test
  void aFileThatIsNoJsonIsAProblemAndNoReasonToLoseTheOthers() throws IOException {
    metrics("0.0", "{\"rows\": 1}");
    metrics("1.0", "{\"rows\": ");
    Files.write(results.resolve("2.0.metrics.json"), new byte[] {(byte) 0xff});
    metrics("3.0", "{\"loss\": 1e999999999}");

    assertThat(merged()).hasToString("{\"rows\":1}");
    assertThat(problems).hasSize(3);
    assertThat(problems.get(0)).startsWith(results + "/1.0.metrics.json: not JSON");
  }

  /** As Python's json.dump writes them after a training that diverged. */
  @Test
  void whatIsNotANumberCostsNoOtherMetric() throws IOException {
    metrics("0.0", "{\"loss\": NaN, \"low\": -Infinity, \"rows\": 1, \"all\": [NaN, 2]}");

    assertThat(merged())
        .hasToString("{\"all\":[\"NaN\",2],\"loss\":\"NaN\",\"low\":\"-Infinity\",\"rows\":1}");
    assertThat(problems).singleElement().asString().contains("0.0.metrics.json: it has NaN");
  }

  @Test
  void otherFilesAreLeftAlone() throws IOException {
    metrics("0.0", "{\"rows\": 1}");
    Files.writeString(results.resolve("0.0.json"), "{\"rows\": 2}");
    Files.writeString(results.resolve("x.0.metrics.json"), "{\"rows\": 4}");
    Files.writeString(results.resolve("0.0.metrics.json.tmp"), "{\"rows\": 8}");

    assertThat(merged()).hasToString("{\"rows\":1}");
  }

  @Test
  void noFilesAreNoMetrics() throws IOException {
    Files.delete(results);

    assertThat(merged().isEmpty()).isTrue();
    assertThat(problems).isEmpty();
  }

  @Test
  void nodesThatWereNotWellAreNamedWithTheReason() throws IOException {
    Files.writeString(results.resolve("3.1.unfit.gpu-7.cluster.local"), "a GPU has 5 errors\n");

    assertThat(TaskResults.read(run, journal, false, problems).unfitNodes())
        .hasToString(
            "[{\"node\":\"gpu-7.cluster.local\",\"task\":3,\"restart\":1,\"reason\":\"a GPU has 5 errors\"}]");
  }

  private void metrics(String name, String json) throws IOException {
    Files.writeString(results.resolve(name + ".metrics.json"), json);
  }

  private JsonObject merged() {
    return TaskResults.read(run, journal, false, problems).metrics();
  }
}
