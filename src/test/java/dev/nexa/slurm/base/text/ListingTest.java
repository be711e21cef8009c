package dev.nexa.slurm.base.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.units.Money;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ListingTest {
  private record Row(
      String run, int done, @Nullable BigDecimal share, long seconds, Money cost, String note) {}

  private static final Columns<Row> COLUMNS =
      new Columns<Row>()
          .text("run_id", Row::run)
          .as("RUN")
          .number("tasks_done", Row::done)
          .ratio("used_ratio", Row::share)
          .seconds("elapsed_seconds", Row::seconds)
          .hours("gpu_hours", row -> BigDecimal.valueOf(row.seconds).movePointLeft(4))
          .money("cost", Row::cost)
          .number("job_id", row -> row.done == 7 ? Optional.of(4711L) : Optional.empty())
          .rare()
          .note("note", Row::note);

  private static final Row FIRST =
      new Row("train", 7, new BigDecimal("0.0265"), 3600, Money.parse("12.50", "USD"), "");
  private static final Row SECOND =
      new Row("=1+2|x\n", 1234, null, 93_784, Money.parse("0.00", "USD"), "waits\n  long");

  @Test
  void aTextTableShowsUnitsAndAlignsNumbersRight() {
    assertThat(COLUMNS.of(List.of(FIRST, SECOND)).table())
        .isEqualTo(
            """
            RUN       TASKS DONE   USED     ELAPSED  GPU HOURS       COST  JOB ID  NOTE
            train              7  2.6 %    01:00:00       0.36  12.50 USD    4711
            =1+2|x^J        1234      -  1-02:03:04       9.38   0.00 USD       -  waits; long
            """);
  }

  @Test
  void aRatioOfAHundredOrMoreIsANumberOfTimes() {
    Columns<BigDecimal> columns = new Columns<BigDecimal>().ratio("used_ratio", value -> value);

    assertThat(
            columns
                .of(
                    List.of(
                        new BigDecimal("-0.5"), new BigDecimal("99.99"), new BigDecimal("387.3")))
                .table())
        .isEqualTo("     USED\n  -50.0 %\n 9999.0 %\n387 times\n");
  }

  @Test
  void csvHoldsPlainValuesAndNoFormulas() {
    assertThat(COLUMNS.of(List.of(FIRST, SECOND)).csv())
        .isEqualTo(
            """
            run_id,tasks_done,used_ratio,elapsed_seconds,gpu_hours,cost,job_id,note
            train,7,0.0265,3600,0.3600,12.50,4711,
            "'=1+2|x
            ",1234,,93784,9.3784,0.00,,"waits
              long"
            """);
  }

  @Test
  void markdownIsEscapedAndAlignsNumbersRight() {
    assertThat(COLUMNS.select("run_id", "used_ratio", "note").of(List.of(FIRST, SECOND)).markdown())
        .isEqualTo(
            """
            | RUN | USED | NOTE |
            |---|--:|---|
            | train | 2.6 % |  |
            | =1+2\\|x  |  | waits; long |
            """);
  }

  @Test
  void jsonHoldsTypedValuesAndLeavesAnEmptyOptionalOut() {
    assertThat(COLUMNS.of(List.of(FIRST, SECOND)).json())
        .extracting(Object::toString)
        .containsExactly(
            "{\"run_id\":\"train\",\"tasks_done\":7,\"used_ratio\":0.0265,\"elapsed_seconds\":3600,"
                + "\"gpu_hours\":\"0.3600\",\"cost\":\"12.50\",\"job_id\":4711,\"note\":\"\"}",
            "{\"run_id\":\"=1+2|x\\n\",\"tasks_done\":1234,\"used_ratio\":null,"
                + "\"elapsed_seconds\":93784,\"gpu_hours\":\"9.3784\",\"cost\":\"0.00\","
                + "\"note\":\"waits\\n  long\"}");
  }

  @Test
  void aRareColumnThatHoldsNothingIsLeftOut() {
    assertThat(COLUMNS.of(List.of(SECOND)).withoutRare().csv()).doesNotContain("job_id");
    assertThat(COLUMNS.of(List.of(FIRST)).withoutRare().csv()).contains("job_id");
  }

  @Test
  void withoutRowsThereIsAHeading() {
    assertThat(Columns.ofTexts("a", "b").of(List.of()).table()).isEqualTo("A  B\n");
  }

  @Test
  void aColumnThatIsSelectedExists() {
    assertThatThrownBy(() -> COLUMNS.select("run_id", "jobs"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no column jobs");
  }

  @Test
  void fiveThousandRowsFitIntoACommentAndTheOthersAreCounted() {
    List<List<String>> rows = new ArrayList<>();
    for (int i = 0; i < 5000; i++) {
      rows.add(List.of("stage-" + i, "<b> | " + "x".repeat(i % 50)));
    }
    Columns<List<String>> columns = Columns.ofTexts("stage", "what");

    String table = columns.of(rows).commentTable();

    long shown = table.lines().filter(line -> line.startsWith("| stage-")).count();
    assertThat(table).hasSizeBetween(50_000, 56_000).doesNotContain("<b>");
    assertThat(table)
        .endsWith(
            "\n\n"
                + (5000 - shown)
                + " more rows are left out: the table would be too long for a comment.\n");
    assertThat(columns.of(rows.subList(0, 9)).commentTable())
        .isEqualTo(columns.of(rows.subList(0, 9)).markdown());
  }
}
