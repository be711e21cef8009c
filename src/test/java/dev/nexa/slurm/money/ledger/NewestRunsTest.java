package dev.nexa.slurm.money.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.money.summary.ManyRuns;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a submit may read of the ledger. */
class NewestRunsTest {
  private static final Instant NOW = Instant.parse("2026-01-15T12:00:00Z");

  @TempDir Path folder;

  @Test
  void tellsEachRunOfTheStageOnceNewestFirst() {
    Lines.write(folder, "2025-02", line("train_20250201_120000", "1.00"));
    Lines.write(folder, "2025-01", line("train_20250101_120000", "0.50"));
    Lines.write(
        folder,
        "2025-12",
        line("train_20251201_120000", "2.00"),
        line("eval_20251201_120000", "9.00"),
        line("train_20251201_130000", "3.00"),
        line("train_20251201_120000", "4.00"));

    assertThat(newest())
        .containsExactly(
            "train_20251201_120000 4.00",
            "train_20251201_130000 3.00",
            "train_20250201_120000 1.00");
  }

  @Test
  void damagedLinesAreLeftOut() throws IOException {
    Lines.write(folder, "2026-01", line("train_20260101_120000", "1.00"));
    Path file = folder.resolve("runs/ledger-2026-01.jsonl");
    String whole = Files.readString(file);
    Files.writeString(file, whole.replace("1.00", "7.00") + whole + whole.substring(0, 40));

    assertThat(newest()).containsExactly("train_20260101_120000 1.00");
  }

  @Test
  void aWorkspaceWithoutRunsHasNone() {
    assertThat(newest()).isEmpty();
  }

  @Test
  void ofManyRunsItReadsTheEndsOfTheLastFilesOnly() throws IOException {
    ManyRuns.write(folder, 20_000);

    List<LedgerLine> runs =
        new NewestRuns(workspace()).ofStage("train", Instant.parse("2025-12-31T23:59:00Z"));

    assertThat(runs).hasSizeBetween(100, 2000);
    assertThat(runs.get(0).month()).isEqualTo("2025-12");
  }

  private List<String> newest() {
    return new NewestRuns(workspace())
        .ofStage("train", NOW).stream().map(run -> run.runId() + " " + run.cost()).toList();
  }

  private Workspace workspace() {
    return new Workspace(folder, new DurableFiles(Sync.DISK));
  }

  private static dev.nexa.slurm.base.json.JsonObject line(String run, String cost) {
    return Lines.line(
        "'run_id': '" + run + "', 'stage': 'train', 'status': 'completed', 'cost': '" + cost + "'");
  }
}
