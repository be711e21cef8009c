package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimeLimitTest {

  @ParameterizedTest(name = "{0} means {2}")
  @CsvSource(
      textBlock =
          """
          # Slurm's six forms
          45,         0-00:45:00, 45 minutes
          30:00,      0-00:30:00, 30 minutes
          12:00:00,   0-12:00:00, 12 hours
          1-12,       1-12:00:00, 1 day 12 hours
          1-12:30,    1-12:30:00, 1 day 12 hours 30 minutes
          1-12:30:00, 1-12:30:00, 1 day 12 hours 30 minutes
          # ours
          12h,        0-12:00:00, 12 hours
          90m,        0-01:30:00, 1 hour 30 minutes
          1d12h,      1-12:00:00, 1 day 12 hours
          1d2h3m4s,   1-02:04:00, 1 day 2 hours 4 minutes
          # what is easily mistaken
          1:30,       0-00:02:00, 2 minutes
          0-1,        0-01:00:00, 1 hour
          90:00,      0-01:30:00, 1 hour 30 minutes
          0-48,       2-00:00:00, 2 days
          """)
  void aLimitMeansWhatSlurmSays(String text, String slurm, String words) {
    Duration limit = TimeLimit.parse(text);

    assertThat(TimeLimit.format(limit)).isEqualTo(slurm);
    assertThat(TimeLimit.words(limit)).isEqualTo(words);
  }

  @ParameterizedTest(name = "{0} is {1} min")
  @CsvSource({"1s, 1", "60s, 1", "61s, 2", "0:01, 1", "0:59, 1", "1:00, 1", "00:01:01, 2"})
  void secondsRoundUpToAWholeMinute(String text, int minutes) {
    assertThat(TimeLimit.parse(text)).isEqualTo(Duration.ofMinutes(minutes));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "12hh",
        "h",
        "-5",
        "+5",
        "1e3",
        "12:",
        ":30",
        "1-",
        "-1-12",
        "1:2:3:4",
        "1-2:3:4:5",
        "UNLIMITED",
        "1h1d",
        "٤٥",
        "1000000000",
        "45\n"
      })
  void anythingElseIsRefusedWithTheFormsThatAreNot(String text) {
    assertThatThrownBy(() -> TimeLimit.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected " + TimeLimit.FORMS + ", got '" + text + "'");
  }

  @ParameterizedTest
  @CsvSource({"12 h, 12h", "1.5h, 90m", "12H, 12h", "2.5 days, 60h", "1.5, 90m for 1.5 hours"})
  void aFormOfPeopleIsRefusedWithTheFormToWrite(String text, String right) {
    assertThatThrownBy(() -> TimeLimit.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a time limit such as 12h or 90m, got '" + text + "': write " + right);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "0:00", "0s", "0d", "0-0", "366d", "365-00:01", "525601"})
  void aLimitIsBetweenAMinuteAndAYear(String text) {
    assertThatThrownBy(() -> TimeLimit.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected a time limit between 1 minute and 365 days, got '" + text + "'");
  }

  @Test
  void aWholeYearIsStillALimit() {
    assertThat(TimeLimit.parse("365d")).isEqualTo(Duration.ofDays(365));
  }

  @Test
  void whatIsFormattedReadsBackAsTheSame() {
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 10_000; i++) {
      Duration limit = Duration.ofMinutes(1 + random.nextInt(365 * 24 * 60));
      assertThat(TimeLimit.parse(TimeLimit.format(limit))).isEqualTo(limit);
    }
  }

  @Test
  void wordsTellSecondsToo() {
    assertThat(TimeLimit.words(Duration.ofSeconds(90))).isEqualTo("1 minute 30 seconds");
    assertThat(TimeLimit.words(Duration.ZERO)).isEqualTo("0 seconds");
  }
}
