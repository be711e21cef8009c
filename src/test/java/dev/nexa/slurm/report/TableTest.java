package dev.nexa.slurm.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTest {

  @Test
  void columnsAreAsWideAsTheyNeedToBeAndNoLineEndsInSpaces() {
    Table table = new Table("RUN", "DONE", "NOTE");
    table.row("train_20251101_143200", 7, "").row("a", 1234, "waits");

    assertThat(table)
        .hasToString(
            """
            RUN                    DONE  NOTE
            train_20251101_143200  7
            a                      1234  waits
            """);
  }

  @Test
  void aHeadingAloneIsALine() {
    assertThat(new Table("A", "B")).hasToString("A  B\n");
  }
}
