package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MonthRangeTest {
  private static final Instant NOW = Instant.parse("2026-01-15T12:00:00Z");

  @ParameterizedTest
  @CsvSource({
    "2025-11, 2025-11, 2025-11-01, 2025-11-30",
    "this, 2026-01, 2026-01-01, 2026-01-31",
    "last, 2025-12, 2025-12-01, 2025-12-31",
    "2025-09..2025-11, 2025-09..2025-11, 2025-09-01, 2025-11-30",
    "2025-11..last, 2025-11..2025-12, 2025-11-01, 2025-12-31",
    "last..this, 2025-12..2026-01, 2025-12-01, 2026-01-31",
    "2025-11..2025-11, 2025-11, 2025-11-01, 2025-11-30",
  })
  void oneMonthOrSeveral(String typed, String text, String first, String last) {
    MonthRange range = MonthRange.parse(typed, NOW).orElseThrow();

    assertThat(range).hasToString(text);
    assertThat(range.first().atDay(1)).hasToString(first);
    assertThat(range.last().atEndOfMonth()).hasToString(last);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "..",
        "2025-11..",
        "..2025-11",
        "2025",
        "2025-13",
        "2025-00..2025-01",
        "2025-1",
        "2025-09...2025-11",
        "2025-09-2025-11",
        "next"
      })
  void anythingElseIsNoRange(String typed) {
    assertThat(MonthRange.parse(typed, NOW)).isEmpty();
  }

  @Test
  void aRangeDoesNotEndBeforeItBegins() {
    assertThatThrownBy(() -> MonthRange.parse("2025-11..2025-09", NOW))
        .hasMessage("2025-11..2025-09 ends before it begins (did you mean '2025-09..2025-11'?)");
  }

  @Test
  void itsEndsBelongToIt() {
    MonthRange range = MonthRange.parse("2025-11..2026-01", NOW).orElseThrow();

    assertThat(range.contains("2025-10")).isFalse();
    assertThat(range.contains("2025-11")).isTrue();
    assertThat(range.contains("2025-12")).isTrue();
    assertThat(range.contains("2026-01")).isTrue();
    assertThat(range.contains("2026-02")).isFalse();
  }
}
