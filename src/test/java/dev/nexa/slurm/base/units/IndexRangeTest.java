package dev.nexa.slurm.base.units;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class IndexRangeTest {

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0           | 0
          0-3         | 0-3
          1,3,5-7     | 1,3,5-7
          0-9:5       | 0,5
          0-10:5      | 0,5,10
          0-15%4      | 0-15
          3,1,2       | 1-3
          2,2,1-3     | 1-3
          5-5         | 5
          007         | 7
          3999999-4000000 | 3999999-4000000
          """)
  void isReadInSlurmsNotationAndWrittenShortest(String text, String written) {
    assertThat(IndexRange.parse(text)).hasToString(written);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "-",
        "1-",
        "-1",
        "3-1",
        "1,,2",
        ",",
        "1-3:0",
        "1-3:-1",
        "a",
        "1.5",
        "1-2-3",
        "0-4000001",
        "99999999999",
        "1, 2",
        "[1-3]",
        "1-3,...",
        "%4"
      })
  void anythingElseIsRefused(String text) {
    assertThatThrownBy(() -> IndexRange.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("expected array indices such as 0-15 or 1,3,5-7, got '" + text + "'");
  }

  @Test
  void upToCountsFromZero() {
    assertThat(IndexRange.upTo(3).indices()).containsExactly(0, 1, 2);
    assertThat(IndexRange.upTo(1)).hasToString("0");
    assertThat(IndexRange.upTo(0)).hasToString("");
  }

  @Test
  void whatIsWrittenReadsBackAsTheSame() {
    SplittableRandom random = new SplittableRandom(2);
    for (int i = 0; i < 5_000; i++) {
      int highest = 1 + random.nextInt(random.nextBoolean() ? 20 : IndexRange.MAX_INDEX);
      TreeSet<Integer> chosen = new TreeSet<>();
      for (int n = 1 + random.nextInt(40); n > 0; n--) {
        chosen.add(random.nextInt(highest + 1));
      }
      List<Integer> indices = new ArrayList<>(chosen);

      String written = new IndexRange(indices).toString();

      assertThat(IndexRange.parse(written).indices()).as(written).isEqualTo(indices);
    }
  }

  @Test
  void aMillionTasksAreOneShortRange() {
    assertThat(IndexRange.upTo(1_000_000)).hasToString("0-999999");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          1-10          | 1-10        | 1
          0-100:10      | 0-100:10    | 10
          3,1,7         | 1,3,7       | 1
          5,0-20:10     | 0-10:5,20   | 10
          1-3,2-5       | 1-5         | 1
          0-5:7         | 0           | 7
          0,1,5,6,9     | 0-1,5-6,9   | 1
          """)
  void aListHasAShortForm(String text, String withSteps, int step) {
    assertThat(IndexRange.parse(text).indices())
        .isEqualTo(IndexRange.parse(IndexRange.parse(text).withSteps()).indices());
    assertThat(IndexRange.step(text)).isEqualTo(step);
    assertThat(IndexRange.parse(text).withSteps()).isEqualTo(withSteps);
  }
}
