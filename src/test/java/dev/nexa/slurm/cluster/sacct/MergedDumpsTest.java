package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A genuine dump in random pieces that overlap, each with columns of its own in any order, one
 * behind the other: no job is counted twice without a word.
 */
class MergedDumpsTest {
  /** By these an attempt is known. */
  private static final Set<String> IDENTITY = Set.of("JobID", "Submit", "Start", "End");

  private final List<List<String>> rows = rows();
  private final List<String> header = rows.remove(0);

  @Test
  void theIssuesTwoDumpsAreCountedOnce() {
    List<String> expected = jobs(piece(rows, header)).lines();
    for (String missing : List.of("JobName", "Cluster", "User", "Account", "State")) {
      List<String> columns = new ArrayList<>(header);
      columns.remove(missing);

      Dumps.Read read = jobs(piece(rows, header) + piece(rows, columns));

      assertThat(read.lines()).as("without %s", missing).isEqualTo(expected);
      assertThat(read.problems()).isNotEmpty();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void piecesByWhichEachAttemptIsKnownGiveTheSameFigures(int block) {
    List<String> expected = jobs(piece(rows, header)).lines();
    for (int seed = 10 * block; seed < 10 * block + 10; seed++) {
      Random random = new Random(seed);
      List<String> pieces = new ArrayList<>(List.of(piece(shuffled(rows, random), header)));
      for (int i = 1 + random.nextInt(3); i > 0; i--) {
        pieces.add(piece(some(rows, random), columns(random, IDENTITY)));
      }
      Collections.shuffle(pieces, random);

      Dumps.Read read = jobs(String.join("", pieces));

      assertThat(read.lines()).as("seed %s", seed).isEqualTo(expected);
      assertThat(read.problems())
          .as("seed %s", seed)
          .allSatisfy(
              problem -> assertThat(problem.message()).containsAnyOf("counted once", "more"));
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})
  void anyPiecesGiveNoMoreThanThereIsOrSaySo(int block) {
    Dumps.Read truth = jobs(piece(rows, header));
    int more = 0;
    for (int seed = 20 * block; seed < 20 * block + 20; seed++) {
      Random random = new Random(seed);
      StringBuilder pieces = new StringBuilder();
      for (int i = 2 + random.nextInt(3); i > 0; i--) {
        Set<String> id = Set.of(random.nextInt(4) == 0 ? "JobIDRaw" : "JobID");
        List<String> columns = columns(random, id);
        if (id.contains("JobIDRaw")) {
          columns.remove("JobID");
        }
        pieces.append(piece(some(rows, random), columns));
      }

      Dumps.Read read = jobs(pieces.toString());

      boolean isMore =
          // Without State a job's attempts can't be told from several jobs of one number.
          attempts(read) > attempts(truth)
              || seconds(read) > seconds(truth)
              || used(read) > used(truth);
      more += isMore ? 1 : 0;
      if (isMore) {
        assertThat(read.problems().toString())
            .as(
                "seed %s: %s of %s jobs, %s of %s attempts, %s of %s s, %s of %s us",
                seed,
                read.jobs().size(),
                truth.jobs().size(),
                attempts(read),
                attempts(truth),
                seconds(read),
                seconds(truth),
                used(read),
                used(truth))
            .containsAnyOf("twice", "another attempt", "contradict", "is that of");
      }
    }
    assertThat(more).as("pieces that had to be reported").isLessThan(20);
  }

  @Test
  void twoRowsThatContradictEachOtherAreReported() {
    String columns = "JobID|Submit|Start|End|ElapsedRaw|AllocCPUS|State\n";
    String times = "7|2026-01-01T00:00:00|2026-01-01T00:00:00|2026-01-01T01:00:00|";

    Dumps.Read read =
        jobs(columns + times + "3600|2|COMPLETED\n" + columns + times + "3600|4|COMPLETED\n");

    assertThat(read.jobs()).hasSize(1);
    assertThat(read.problems().toString()).contains("contradict each other: CPUs");
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFirstName() {
    String dump = piece(rows, header);
    byte[] marked = ("\uFEFF" + dump + "\uFEFF" + dump).getBytes(StandardCharsets.UTF_8);

    assertThat(Dumps.bytes(marked, null, List.of(), ZoneOffset.UTC).lines())
        .isEqualTo(jobs(dump).lines());
    for (var utf16 :
        List.of(StandardCharsets.UTF_16, StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
      assertThatThrownBy(() -> Dumps.bytes(dump.getBytes(utf16), null, List.of(), ZoneOffset.UTC))
          .isInstanceOf(NexaException.class)
          .hasMessageContaining("UTF-16, expected UTF-8");
    }
  }

  private static Dumps.Read jobs(String text) {
    return Dumps.text(text);
  }

  private static int attempts(Dumps.Read read) {
    return read.jobs().stream().mapToInt(job -> job.attempts().size()).sum();
  }

  private static long seconds(Dumps.Read read) {
    return read.jobs().stream().mapToLong(job -> or0(job.time().elapsedSeconds())).sum();
  }

  private static long used(Dumps.Read read) {
    return read.jobs().stream().mapToLong(job -> or0(job.time().cpuUsedMicros())).sum();
  }

  private static long or0(Long value) {
    return value == null ? 0 : value;
  }

  private List<String> columns(Random random, Set<String> always) {
    List<String> columns = new ArrayList<>();
    for (String column : header) {
      if (always.contains(column) || random.nextInt(3) > 0) {
        columns.add(column);
      }
    }
    do {
      Collections.shuffle(columns, random);
      // In the last column a newline can't be told from a row's end.
    } while (columns.size() > 1 && columns.get(columns.size() - 1).equals("JobName"));
    return columns;
  }

  private static List<List<String>> some(List<List<String>> rows, Random random) {
    List<List<String>> some = new ArrayList<>();
    for (List<String> row : rows) {
      if (random.nextInt(3) > 0) {
        some.add(row);
      }
    }
    return shuffled(some, random);
  }

  private static List<List<String>> shuffled(List<List<String>> rows, Random random) {
    List<List<String>> all = new ArrayList<>(rows);
    Collections.shuffle(all, random);
    return all;
  }

  private String piece(List<List<String>> some, List<String> columns) {
    StringBuilder text = new StringBuilder(String.join("|", columns)).append('\n');
    for (List<String> row : some) {
      List<String> cells = new ArrayList<>();
      for (String column : columns) {
        cells.add(row.get(header.indexOf(column)));
      }
      text.append(String.join("|", cells)).append('\n');
    }
    return text.toString();
  }

  /** The rows' cells; its two awkward names are made plain, which other tests are for. */
  private static List<List<String>> rows() {
    try {
      String text =
          Files.readString(Dumps.FOLDER.resolve("22.05.8-all.txt"))
              .replace("a|b|c", "a b c")
              .replace("one\nline", "one line");
      List<List<String>> rows = new ArrayList<>();
      for (String line : text.split("\n", -1)) {
        if (!line.isEmpty()) {
          rows.add(List.of(line.split("\\|", -1)));
        }
      }
      return rows;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
