package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Runs as a person reads them, from the manifests and cost records that are goldens already. */
class RunsTextTest {
  private static final Workspace EMPTY =
      new Workspace(Path.of("no-such-workspace"), DurableFiles.onDisk());

  private static final RunFolder RUN = EMPTY.run(new RunId("train_20251101_120000"));

  @ParameterizedTest
  @ValueSource(
      strings = {
        "submitted",
        "completed",
        "requeued",
        "cancelled",
        "refused",
        "in-yen",
        "taught-and-killed"
      })
  void oneRunIsWhatItWasWhatItCameToAndWhatItCost(String life) {
    Golden.check(
        "report/run-" + life + ".txt",
        RunsText.one(
            read("manifest-" + life),
            RunsText.cost(RUN, cost("cost-" + life), RunNow.FINAL),
            RunNow.FINAL));
  }

  @Test
  void aSweepShowsWhatEachTaskTriedAndWhatCameOut() {
    List<JsonObject> points = new ArrayList<>();
    for (int task = 0; task < 53; task++) {
      JsonObject values = new JsonObject().with("lr", new BigDecimal("1e-5")).with("seed", task);
      JsonObject point =
          new JsonObject().with("task", task).with("state", "completed").with("values", values);
      points.add(task == 1 ? point : point.with("metrics", new JsonObject().with("loss", task)));
    }

    Golden.check(
        "report/run-sweep.txt",
        RunsText.one(
            read("manifest-completed").points(points),
            RunsText.cost(RUN, cost("cost-completed"), RunNow.FINAL),
            RunNow.FINAL));
  }

  @Test
  void manyRunsAreATable() {
    Golden.check(
        "report/runs.txt",
        RunsText.of(
            List.of(read("manifest-completed"), read("manifest-in-yen"), read("manifest-refused")),
            EMPTY,
            TableStyle.PLAIN));
  }

  @Test
  void withoutRunsItSaysHowToMakeOne() {
    assertThat(RunsText.of(List.of(), EMPTY, TableStyle.PLAIN))
        .isEqualTo("No runs here yet. `nexa-slurm submit CONFIG` makes one.\n");
  }

  private static ManifestFile read(String name) {
    return ManifestFile.parse(kept(name), name);
  }

  private static CostFile cost(String name) {
    return CostFile.parse(kept(name), name);
  }

  private static String kept(String name) {
    return DurableFiles.read(Golden.FOLDER.resolve("reconcile").resolve(name + ".json"));
  }
}
