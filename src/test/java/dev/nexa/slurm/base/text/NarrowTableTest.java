package dev.nexa.slurm.base.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NarrowTableTest {
  private static final List<List<String>> ROWS =
      List.of(
          List.of("train_20251101_143200", "running", "3", "other jobs are ahead in the queue"),
          List.of("eval_20251101_143201", "failed", "12", ""));

  private static final Columns<List<String>> COLUMNS =
      new Columns<List<String>>()
          .text("run", row -> row.get(0))
          .state("state", row -> row.get(1))
          .number("tasks", row -> row.get(2))
          .note("note", row -> row.get(3));

  private static String table(int width) {
    return COLUMNS.of(ROWS).table(new TableStyle(width, false));
  }

  @Test
  void aTableThatFitsIsThePlainOne() {
    assertThat(table(80)).isEqualTo(COLUMNS.of(ROWS).table());
    assertThat(COLUMNS.of(ROWS).table(TableStyle.PLAIN)).isEqualTo(COLUMNS.of(ROWS).table());
  }

  @Test
  void aLongNoteWrapsBelowItsColumn() {
    assertThat(table(65))
        .isEqualTo(
            """
            RUN                    STATE    TASKS  NOTE
            train_20251101_143200  running      3  other jobs are ahead in
                                                   the queue
            eval_20251101_143201   failed      12
            """);
  }

  @Test
  void whereTheNotesColumnWouldBeTooNarrowTheNoteHasItsOwnLine() {
    assertThat(table(50))
        .isEqualTo(
            """
            RUN                    STATE    TASKS
            train_20251101_143200  running      3
                other jobs are ahead in the queue
            eval_20251101_143201   failed      12
            """);
  }

  @Test
  void columnsThatDoNotFitFollowWithTheirHeadings() {
    assertThat(table(32))
        .isEqualTo(
            """
            RUN                    STATE
            train_20251101_143200  running
                tasks 3
                other jobs are ahead in the
                queue
            eval_20251101_143201   failed
                tasks 12
            """);
  }

  @Test
  void aCellIsNeverCut() {
    assertThat(table(5)).contains("\ntrain_20251101_143200\n", "\neval_20251101_143201\n");
  }

  /** Any width: no line is too long unless one word is, and every value is there. */
  @ParameterizedTest
  @ValueSource(ints = {20, 40, 60, 80, 100, 120, 200})
  void everyValueIsThereAtAnyWidth(int width) {
    Random random = new Random(width);
    for (int round = 0; round < 300; round++) {
      Columns<List<String>> columns = new Columns<>();
      int count = 1 + random.nextInt(14);
      for (int i = 0; i < count; i++) {
        int at = i;
        columns =
            random.nextBoolean()
                ? columns.text("c" + i, row -> row.get(at))
                : columns.number("c" + i, row -> row.get(at));
      }
      boolean note = random.nextBoolean();
      columns = note ? columns.note("note", row -> row.get(count)) : columns;
      List<List<String>> rows = List.of(row(random, count), row(random, count));

      String text = columns.of(rows).table(new TableStyle(width, false));

      for (String line : text.split("\n", -1)) {
        assertThat(line).doesNotEndWith(" ");
        assertThat(line.length() <= width || line.strip().split(" +", -1).length <= 2)
            .as("%d: %s", width, text)
            .isTrue();
      }
      for (List<String> row : rows) {
        for (String value : row.subList(0, note ? count + 1 : count)) {
          assertThat(text).contains(value.split(" ", -1));
        }
      }
    }
  }

  private static List<String> row(Random random, int count) {
    List<String> row = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      row.add("x".repeat(1 + random.nextInt(12)));
    }
    row.add("word ".repeat(1 + random.nextInt(30)).strip());
    return row;
  }

  @Test
  void statesHaveColoursAndTheColumnsStayInLine() {
    String text = COLUMNS.of(ROWS).table(new TableStyle(80, true));

    assertThat(text)
        .contains("  \u001b[31mfailed\u001b[0m      12")
        .contains("  running      3")
        .startsWith("RUN                    STATE    TASKS  NOTE\n");
    assertThat(text.replaceAll("\u001b\\[\\d*m", "")).isEqualTo(COLUMNS.of(ROWS).table());
    assertThat(TableStyle.coloured("completed")).startsWith("\u001b[32m");
    assertThat(TableStyle.coloured("queued (new)")).startsWith("\u001b[33m");
    assertThat(TableStyle.coloured("out_of_memory")).startsWith("\u001b[31m");
    assertThat(TableStyle.coloured("")).isEmpty();
  }

  @Test
  void aTableFitsIfOnlyItsSentencesWrap() {
    assertThat(COLUMNS.of(ROWS).fits(TableStyle.PLAIN)).isTrue();
    assertThat(COLUMNS.of(ROWS).fits(new TableStyle(37, false))).isTrue();
    assertThat(COLUMNS.of(ROWS).fits(new TableStyle(36, false))).isFalse();
  }
}
