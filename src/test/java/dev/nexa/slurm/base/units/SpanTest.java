package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Lengths of time, and the times that are told by them or by a calendar. */
class SpanTest {
  private static final Instant NOW = Instant.parse("2025-11-10T12:00:00Z");

  @ParameterizedTest(name = "{0} is {1} s")
  @CsvSource({"30s, 30", "15m, 900", "12h, 43200", "7d, 604800", "2w, 1209600", "1d12h, 129600"})
  void aNumberHasItsUnit(String text, long seconds) {
    assertThat(Span.of(text)).contains(Duration.ofSeconds(seconds));
  }

  @ParameterizedTest(name = "{0} is written {1}")
  @CsvSource({
    "1.5h, 90m",
    "1.5d, 36h",
    "0.25h, 15m",
    ".5m, 30s",
    "0.3s, 1s",
    "1.5 hours, 90m",
    "2 hours, 2h",
    "90min, 90m",
    "7D, 7d",
    "1.5 weeks, 252h"
  })
  void whatPeopleWriteHasAFormOfOurs(String text, String right) {
    assertThat(Span.respelled(text)).contains(right);
    assertThat(Span.of(right)).isPresent();
  }

  @ParameterizedTest(name = "[{0}]")
  @ValueSource(strings = {"", "h", "0h", "1.5", "3 months", "1.5.2h", "soon"})
  void forAnotherTextThereIsNone(String text) {
    assertThat(Span.respelled(text)).isEmpty();
  }

  @ParameterizedTest(name = "[{0}]")
  @ValueSource(
      strings = {"", "7", "d", "7 d", "-7d", "1.5h", "12h1d", "1h1h", "7D", "1h30", "1234567890s"})
  void nothingElseIsOne(String text) {
    assertThat(Span.of(text)).isEmpty();
  }

  @ParameterizedTest(name = "{0} is {1} to {2}")
  @CsvSource({
    "1d12h, 2025-11-09T00:00:00Z, 2025-11-09T00:00:00Z",
    "2025-10, 2025-09-30T22:00:00Z, 2025-10-31T23:00:00Z",
    "2025-10-26, 2025-10-25T22:00:00Z, 2025-10-26T23:00:00Z",
    "2025-11-01T08:00, 2025-11-01T07:00:00Z, 2025-11-01T07:00:01Z",
    "2025-11-01T08:00:00, 2025-11-01T07:00:00Z, 2025-11-01T07:00:01Z",
    "2025-11-01T08:00:00Z, 2025-11-01T08:00:00Z, 2025-11-01T08:00:01Z",
    "2025-11-01T08:00:00-05:00, 2025-11-01T13:00:00Z, 2025-11-01T13:00:01Z",
    "999999999w, 1970-01-01T00:00:00Z, 1970-01-01T00:00:00Z",
  })
  void aMomentIsTheZonesUnlessItNamesOne(String text, Instant from, Instant to) {
    assertThat(Moment.parse(text, ZoneId.of("Europe/Berlin"), NOW)).isEqualTo(new Moment(from, to));
  }

  @Test
  void whatIsNoMomentIsToldWithWhatIs() {
    for (String text : new String[] {"soon", "2025-13-01", "2025-13", "", "2025-11-01T25:00"}) {
      assertThatThrownBy(() -> Moment.parse(text, ZoneId.of("UTC"), NOW))
          .hasMessage("expected " + Moment.FORMS + ", got '" + text + "'");
    }
  }
}
