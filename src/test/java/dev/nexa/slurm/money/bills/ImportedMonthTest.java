package dev.nexa.slurm.money.bills;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.records.runs.Workspaces;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.time.YearMonth;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ImportedMonthTest {
  private static final YearMonth NOVEMBER = YearMonth.of(2025, 11);

  @ParameterizedTest(name = "read {0}, estimated {1}, now {2}: holds {3}")
  @CsvSource({
    // Still running: once a day.
    "2025-11-20T08:00:00Z, true, 2025-11-20T23:59:59Z, true",
    "2025-11-20T23:59:59Z, true, 2025-11-21T00:00:00Z, false",
    // Read before it ended: what came after is not in it, whatever AWS said.
    "2025-11-30T23:59:59Z, false, 2025-12-01T00:00:00Z, false",
    // Closed, and not final yet.
    "2025-12-02T08:00:00Z, true, 2025-12-02T09:00:00Z, true",
    "2025-12-02T08:00:00Z, true, 2025-12-03T08:00:00Z, false",
    // Closed and final.
    "2025-12-01T00:00:00Z, false, 2026-12-03T08:00:00Z, true",
  })
  void aMonthIsReadAgainWhileItCanChange(
      Instant at, boolean estimated, Instant now, boolean holds) {
    assertThat(read(at, estimated).holds(NOVEMBER, now)).isEqualTo(holds);
  }

  @Test
  void itIsKeptAsItWasAndAnotherQuestionIsAnother() throws IOException {
    Workspace workspace = Workspaces.inMemory();
    ImportedMonth read = read(Instant.parse("2025-12-06T08:00:00Z"), false);
    read.keep(workspace, "aws", NOVEMBER);

    assertThat(ImportedMonth.of(workspace, "aws", NOVEMBER)).contains(read);
    assertThat(ImportedMonth.of(workspace, "aws", NOVEMBER.plusMonths(1))).isEmpty();
    assertThat(new Bills(workspace).isAsked("aws")).isTrue();
    assertThat(new Bills(workspace).isAsked("gcp")).isFalse();
    assertThat(new Bills(workspace).charges().isEmpty()).isTrue();
    for (ImportedMonth other :
        new ImportedMonth[] {
          new ImportedMonth(read.at(), false, "x", "monthly", Optional.empty()),
          new ImportedMonth(read.at(), false, "nexa_run_id", "daily", Optional.empty()),
          new ImportedMonth(read.at(), false, "nexa_run_id", "monthly", Optional.of("other")),
        }) {
      assertThat(read.asks(other)).isFalse();
    }

    Files.writeString(workspace.runs().resolve("bills/aws/2025-11.read.json"), "{\"read\":1}");
    assertThatThrownBy(() -> ImportedMonth.of(workspace, "aws", NOVEMBER))
        .hasMessageContaining("2025-11.read.json: expected a string under \"read\"");
  }

  private static ImportedMonth read(Instant at, boolean estimated) {
    return new ImportedMonth(at, estimated, "nexa_run_id", "monthly", Optional.empty());
  }
}
