package dev.nexa.slurm.money.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.Workspaces;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class LedgerTest {
  private static final Instant ENDED = Instant.parse("2025-11-30T23:59:59Z");
  private static final RunId FIRST = new RunId("train_20251101_143200");
  private static final RunId SECOND = new RunId("train_20251101_143200_2");

  private final Workspace workspace = Workspaces.inMemory();
  private final Ledger ledger = new Ledger(workspace);
  private final Path november = workspace.runs().resolve("ledger-2025-11.jsonl");

  @BeforeEach
  void makeRuns() throws IOException {
    Files.createDirectories(workspace.runs());
  }

  @Test
  void thePageListsEachKey() throws IOException {
    String page = Files.readString(Path.of("docs/costs.md"));
    List<String> keys = LedgerKey.WRITTEN_KEYS.stream().map(key -> "`" + key.text() + "`").toList();

    assertThat(page.substring(page.indexOf("The keys are `run_id`"))).contains(keys);
  }

  @Test
  void aRunStandsInTheMonthThatItEndedInUtc() throws IOException {
    ledger.add(FIRST, ENDED, line(FIRST));
    ledger.add(SECOND, ENDED.plusSeconds(1), line(SECOND));

    assertThat(runIds(november)).containsExactly(FIRST.value());
    assertThat(runIds(workspace.runs().resolve("ledger-2025-12.jsonl")))
        .containsExactly(SECOND.value());
  }

  @Test
  void aRunIsWrittenOnce() throws IOException {
    ledger.add(SECOND, ENDED, line(SECOND));
    ledger.add(FIRST, ENDED, line(FIRST));
    ledger.add(FIRST, ENDED, line(FIRST));

    assertThat(runIds(november)).containsExactly(SECOND.value(), FIRST.value());
  }

  /** With a dot and a word before .jsonl it has the form of a team member's ledger. */
  @Test
  void aCopyOfAMonthUnderAnotherNameIsNotCounted() throws IOException {
    ledger.add(FIRST, ENDED, line(FIRST));
    Files.copy(november, workspace.runs().resolve("ledger-2025-11.old.jsonl"));
    Files.copy(november, workspace.runs().resolve("ledger-2025-11.jsonl.old"));

    assertThat(ledger.files()).containsExactly(november);
  }

  @Test
  void aRunThatRanAgainIsWrittenAgainAndItsNewestLineCounts() throws IOException {
    JsonObject again = line(FIRST).with("cost", "99.00");
    ledger.add(FIRST, ENDED, line(FIRST));
    ledger.add(SECOND, ENDED, line(SECOND));
    ledger.add(FIRST, ENDED, again);
    ledger.add(FIRST, ENDED, again);

    assertThat(runIds(november)).containsExactly(FIRST.value(), SECOND.value(), FIRST.value());
    assertThat(Files.readAllLines(november).get(2)).contains("99.00");
  }

  @Test
  void eachLineEndsInTheCrcOfWhatStandsBeforeIt() throws IOException {
    ledger.add(FIRST, ENDED, line(FIRST));

    String text = Files.readAllLines(november).get(0);
    CRC32 crc = new CRC32();
    crc.update(Json.compact(line(FIRST)).getBytes(StandardCharsets.UTF_8));
    assertThat(Json.parseObject(text).text("crc32"))
        .isEqualTo(String.format("%08x", crc.getValue()));
  }

  @Test
  void aLineThatACrashCutShortIsReplaced() throws IOException {
    ledger.add(FIRST, ENDED, line(FIRST));
    int before = Files.readAllBytes(november).length;
    ledger.add(SECOND, ENDED, line(SECOND));
    byte[] whole = Files.readAllBytes(november);
    for (int length = before; length < whole.length; length++) {
      Files.write(november, Arrays.copyOf(whole, length));

      ledger.add(SECOND, ENDED, line(SECOND));

      assertThat(Files.readAllBytes(november)).isEqualTo(whole);
    }
  }

  /** Only its end is read, however long the month was. */
  @Test
  void aRepeatIsFoundNearTheEndOfALongFile() throws IOException {
    JsonObject long1 = line(FIRST).with("model", "x".repeat(300_000));
    ledger.add(SECOND, ENDED, line(SECOND));
    ledger.add(FIRST, ENDED, long1);
    ledger.add(FIRST, ENDED, long1);
    ledger.add(SECOND, ENDED, line(SECOND).with("cost", "1"));
    ledger.add(SECOND, ENDED, line(SECOND).with("cost", "1"));

    assertThat(runIds(november)).containsExactly(SECOND.value(), FIRST.value(), SECOND.value());
    byte[] whole = Files.readAllBytes(november);
    Files.write(november, Arrays.copyOf(whole, whole.length - 3));
    ledger.add(FIRST, ENDED, line(FIRST));
    assertThat(runIds(november)).containsExactly(SECOND.value(), FIRST.value(), FIRST.value());
  }

  @Test
  void filesAreToldByMonth() {
    ledger.add(SECOND, ENDED.plusSeconds(1), line(SECOND));
    ledger.add(FIRST, ENDED, line(FIRST));

    assertThat(ledger.files()).extracting(Ledger::month).containsExactly("2025-11", "2025-12");
  }

  @Test
  void twoAtOnceLoseNothing() throws Exception {
    List<RunId> ids =
        IntStream.range(2, 22).mapToObj(n -> new RunId("train_20251101_143200_" + n)).toList();
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try {
      List<? extends Future<?>> added =
          ids.stream().map(id -> pool.submit(() -> ledger.add(id, ENDED, line(id)))).toList();
      for (Future<?> each : added) {
        each.get();
      }
    } finally {
      pool.shutdown();
    }

    assertThat(runIds(november))
        .containsExactlyInAnyOrderElementsOf(ids.stream().map(RunId::value).toList());
  }

  private static JsonObject line(RunId id) {
    return new JsonObject().with("run_id", id.value()).with("tags", List.of("größer 漢字"));
  }

  private static List<String> runIds(Path file) throws IOException {
    return Files.readAllLines(file).stream()
        .map(line -> Json.parseObject(line).text("run_id"))
        .toList();
  }
}
