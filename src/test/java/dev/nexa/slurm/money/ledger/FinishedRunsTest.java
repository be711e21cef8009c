package dev.nexa.slurm.money.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.money.summary.ManyRuns;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.Workspaces;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FinishedRunsTest {
  private final Workspace workspace = Workspaces.inMemory();
  private final List<String> problems = new ArrayList<>();

  @Test
  void aRunThatRanAgainCountsOnceAsItsNewestLineTellsIt() {
    add("2025-10", "'run_id': 'train_20251001_000000', 'cost': '1.00'");
    add("2025-11", "'run_id': 'train_20251001_000000', 'cost': '2.00'");
    add("2025-11", "'run_id': 'train_20251102_000000', 'cost': '5.00'");
    add("2025-11", "'run_id': 'train_20251001_000000', 'cost': '3.00'");

    Map<String, LedgerLine> runs = read();

    assertThat(runs.keySet()).containsExactly("train_20251001_000000", "train_20251102_000000");
    assertThat(runs.get("train_20251001_000000").cost()).isEqualTo("3.00");
    assertThat(runs.get("train_20251001_000000").month()).isEqualTo("2025-11");
    assertThat(problems).isEmpty();
  }

  /** A correction of accounting's moved the end over the border of a month. */
  @Test
  void theHighestVersionCountsWhateverMonthItIsIn() {
    add("2025-11", "'run_id': 'train_20251130_000000', 'version': 11, 'cost': '1.00'");
    add("2025-12", "'run_id': 'train_20251130_000000', 'version': 9, 'cost': '2.00'");
    add("2025-12", "'run_id': 'train_20251201_000000', 'version': 1, 'cost': '3.00'");
    add("2026-01", "'run_id': 'train_20251130_000000', 'cost': '4.00'");

    Map<String, LedgerLine> runs = read();

    assertThat(runs).hasSize(2);
    assertThat(runs.get("train_20251130_000000").cost()).isEqualTo("1.00");
    assertThat(runs.get("train_20251130_000000").month()).isEqualTo("2025-11");
    assertThat(runs.get("train_20251201_000000").cost()).isEqualTo("3.00");
  }

  @Test
  void aDamagedHigherVersionHidesNothing() throws IOException {
    add("2025-11", "'run_id': 'train_20251130_000000', 'version': 2, 'cost': '1.00'");
    add("2025-12", "'run_id': 'train_20251130_000000', 'version': 1, 'cost': '2.00'");
    Path file = workspace.runs().resolve("ledger-2025-11.jsonl");
    Files.writeString(file, Files.readString(file).replace("1.00", "9.00"));

    assertThat(read().get("train_20251130_000000").cost()).isEqualTo("2.00");
  }

  @Test
  void aDamagedLineIsToldAndNotCounted() throws IOException {
    add("2025-11", "'run_id': 'train_20251101_000000', 'cost': '1.00'");
    add("2025-11", "'run_id': 'train_20251102_000000', 'cost': '1.00'");
    add("2025-11", "'run_id': 'train_20251103_000000', 'cost': '1.00'");
    Path file = workspace.runs().resolve("ledger-2025-11.jsonl");
    Files.writeString(
        file,
        Files.readString(file)
            .replace("02_000000\",\"cost\":\"1.00\"", "02_000000\",\"cost\":\"9.00\""));

    assertThat(read().keySet())
        .containsExactlyInAnyOrder("train_20251101_000000", "train_20251103_000000");
    assertThat(problems)
        .containsExactly(
            "runs/ledger-2025-11.jsonl:2: this line is damaged (its CRC does not match), and its run"
                + " is missing in the sums; `nexa-slurm audit --repair` writes it again from the"
                + " run's cost file");
  }

  /** Whatever byte is changed: never another number, and nothing but a message. */
  @Test
  void noChangedByteIsBelieved() throws IOException {
    add("2025-11", "'run_id': 'train_20251101_000000', 'tags': ['a'], 'cost': '12.34'");
    Path file = workspace.runs().resolve("ledger-2025-11.jsonl");
    byte[] whole = Files.readAllBytes(file);
    for (int i = 0; i < whole.length - 1; i++) {
      byte[] changed = whole.clone();
      changed[i] ^= 1;
      Files.write(file, changed);

      read().values().forEach(run -> assertThat(run.cost()).isEqualTo("12.34"));
    }
  }

  @Test
  void aLastLineThatIsCutShortIsIgnored() throws IOException {
    add("2025-11", "'run_id': 'train_20251101_000000'");
    Path file = workspace.runs().resolve("ledger-2025-11.jsonl");
    byte[] once = Files.readAllBytes(file);
    add("2025-11", "'run_id': 'train_20251102_000000'");
    byte[] twice = Files.readAllBytes(file);
    for (int length = once.length; length < twice.length; length++) {
      Files.write(file, java.util.Arrays.copyOf(twice, length));

      assertThat(read().keySet()).containsExactly("train_20251101_000000");
      assertThat(problems).isEmpty();
    }
  }

  @Test
  void anOldLineWithFewKeysHasNothingInTheOthers() {
    add(
        "2025-11",
        "'run_id': 'train_20251101_000000', 'stage': 'train', 'model': null, 'tags': [],"
            + " 'currency': 'USD', 'cost': '1.50', 'gpu_seconds': 7200");

    LedgerLine run = read().get("train_20251101_000000");

    assertThat(run.stage()).isEqualTo("train");
    assertThat(run.cost()).isEqualTo("1.50");
    assertThat(run.gpuSeconds()).isEqualTo(7200L);
    assertThat(run.model()).isNull();
    assertThat(run.user()).isNull();
    assertThat(run.ended()).isNull();
    assertThat(run.runSeconds()).isNull();
    assertThat(run.decimal(LedgerKey.WASTED)).isNull();
    assertThat(run.amounts()).isEmpty();
  }

  @Test
  void whateverStandsInALineIsReadAsItWasWritten() {
    JsonObject line =
        new JsonObject()
            .with("run_id", "train_20251101_000000")
            .with("later", List.of(new JsonObject().with("}", "]\"")))
            .with("model", "größer \"漢字\" \\ \t,}")
            .with("tags", List.of("a\"b", "c\\", "", "project:x"))
            .with("cost", "-0.05")
            .with("loss", new BigDecimal("2e-5"))
            .with("created", Instant.parse("2024-02-29T23:59:59.123Z"))
            .with("started", Instant.parse("2000-03-01T00:00:00Z"))
            .with("lines", new JsonObject().with("gpu", "1.10").with("magic", "0.01"));
    Lines.write(workspace.root(), "2025-11", line);

    LedgerLine run = read().get("train_20251101_000000");

    assertThat(run.model()).isEqualTo("größer \"漢字\" \\ \t,}");
    assertThat(run.tags()).containsExactly("a\"b", "c\\", "", "project:x");
    assertThat(run.tagged("project")).isEqualTo("x");
    assertThat(run.cost()).isEqualTo("-0.05");
    assertThat(run.decimal(LedgerKey.LOSS)).isEqualByComparingTo("0.00002");
    assertThat(run.time(LedgerKey.CREATED)).isEqualTo("2024-02-29T23:59:59.123Z");
    assertThat(run.started()).isEqualTo("2000-03-01T00:00:00Z");
    assertThat(run.amounts())
        .isEqualTo(
            Map.of(CostKind.GPU, new BigDecimal("1.10"), CostKind.OTHER, new BigDecimal("0.01")));
  }

  @Test
  void aThousandRunsAreReadAsJsonReadsThem(@TempDir Path folder) throws IOException {
    ManyRuns.write(folder, 1000);
    Map<String, LedgerLine> runs = new LinkedHashMap<>();
    FinishedRuns finished =
        new FinishedRuns(new Workspace(folder, dev.nexa.slurm.base.files.DurableFiles.onDisk()));
    finished.forEach(run -> runs.put(run.runId(), run));

    assertThat(finished.problems()).isEmpty();
    assertThat(runs).hasSize(1000);
    try (var files = Files.list(folder.resolve("runs"))) {
      for (Path file : (Iterable<Path>) files::iterator) {
        for (String text : Files.readAllLines(file)) {
          JsonObject json = Json.parseObject(text);
          LedgerLine run = runs.get(json.text("run_id"));
          assertThat(run.cost()).isEqualTo(new BigDecimal(json.text("cost")));
          assertThat(run.tags()).isEqualTo(json.texts("tags"));
          assertThat(run.user()).isEqualTo(json.text("user"));
          assertThat(run.ended()).isEqualTo(json.instant("ended"));
          assertThat(run.started()).isEqualTo(json.instant("started"));
          assertThat(run.gpuSeconds()).isEqualTo(json.number("gpu_seconds"));
          assertThat(run.amounts().get(CostKind.GPU))
              .isEqualTo(new BigDecimal(json.object("lines").text("gpu")));
        }
      }
    }
  }

  @Test
  void aLineOfANewerVersionIsRefusedWithTheReason() {
    add("2025-11", "'run_id': 'train_20251101_000000', 'cost': '1.00'");
    add("2025-11", "'run_id': 'train_20251101_000001', 'cost': '2.00', 'schema_version': 2");

    assertThatThrownBy(this::read)
        .isInstanceOf(NexaException.class)
        .hasMessage(
            "runs/ledger-2025-11.jsonl:2 has schema_version 2; this nexa-slurm reads up to 1");
  }

  @Test
  void whereNothingHasRunThereIsNothing() {
    assertThat(read()).isEmpty();
    assertThat(problems).isEmpty();
  }

  @Test
  void whatIsNoLineSaysSo() {
    byte[] text = "[1,2]\n".getBytes(StandardCharsets.UTF_8);

    assertThatThrownBy(() -> new LedgerLine(text, 0, "2025-11", new Utf8Pool(1)))
        .isInstanceOf(IllegalArgumentException.class);
  }

  private void add(String month, String members) {
    Lines.write(workspace.root(), month, Lines.line(members));
  }

  private Map<String, LedgerLine> read() {
    Map<String, LedgerLine> runs = new LinkedHashMap<>();
    FinishedRuns finished = new FinishedRuns(workspace);
    finished.forEach(run -> runs.put(run.runId(), run));
    problems.clear();
    problems.addAll(finished.problems());
    return runs;
  }
}
