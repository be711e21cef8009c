package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Columns, rows, delimiters and forms of time are one dump's own; the figures are not. */
class ShuffledDumpTest {
  private static final List<String> DELIMITERS =
      List.of("|", "\u001f", "^|^", "\t", ";;", "¦", " | ", "~");
  private static final String NAME = "JobName";

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233})
  void givesTheSameJobs(long seed) throws IOException {
    Random random = new Random(seed);
    String text = Files.readString(Dumps.FOLDER.resolve("22.05.8-all.txt"), StandardCharsets.UTF_8);
    List<String> expected = Dumps.text(text).lines();
    String delimiter = DELIMITERS.get(random.nextInt(DELIMITERS.size()));
    boolean trailing = random.nextBoolean();
    boolean epoch = random.nextBoolean();

    List<List<String>> rows = rows(text);
    List<String> header = rows.remove(0);
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < header.size(); i++) {
      order.add(i);
    }
    do {
      Collections.shuffle(order, random);
      // In the last column a newline can't be told from a row's end.
    } while (header.get(order.get(order.size() - 1)).equals(NAME));
    Collections.shuffle(rows, random);
    rows.add(0, header);

    StringBuilder dump = new StringBuilder();
    for (List<String> row : rows) {
      List<String> cells = new ArrayList<>();
      for (int column : order) {
        cells.add(epoch ? epoch(row.get(column)) : row.get(column));
      }
      dump.append(String.join(delimiter, cells)).append(trailing ? delimiter : "").append('\n');
    }

    Dumps.Read read = Dumps.text(dump.toString());

    assertThat(read.problems()).isEmpty();
    assertThat(read.lines()).isEqualTo(expected);
  }

  /** The captured rows' cells, its two awkward names put together again. */
  private static List<List<String>> rows(String text) {
    String whole = text.replace("a|b|c", "a\u0001b\u0001c").replace("one\nline", "one\u0002line");
    List<List<String>> rows = new ArrayList<>();
    for (String line : whole.split("\n", -1)) {
      if (!line.isEmpty()) {
        rows.add(
            new ArrayList<>(
                List.of(line.split("\\|", -1)).stream()
                    .map(cell -> cell.replace('\u0001', '|').replace('\u0002', '\n'))
                    .toList()));
      }
    }
    return rows;
  }

  private static String epoch(String cell) {
    return cell.matches("2026-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d")
        ? "" + LocalDateTime.parse(cell).toEpochSecond(ZoneOffset.UTC)
        : cell;
  }
}
