package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.cluster.sacct.Delimiter;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SacctTextTest {
  private static final Path CAPTURED =
      Path.of("src/test/resources/sacct/22.05.8-array-and-newline.txt");

  private final List<AccountingRecord> rows = new ArrayList<>();
  private final List<String> unreadable = new ArrayList<>();

  @Test
  void aRealAnswerIsReadWhole() throws IOException {
    read(Files.readAllBytes(CAPTURED));

    assertThat(unreadable).isEmpty();
    assertThat(rows)
        .extracting(row -> row.arrayJobId() + " " + row.tasks() + " " + row.state())
        .containsExactly(
            "2878 0 COMPLETED",
            "2878 1 FAILED",
            "2878 2 COMPLETED",
            "2878 3 COMPLETED",
            "2879 0-1 CANCELLED");
    AccountingRecord failed = rows.get(1);
    assertThat(failed.rawJobId()).isEqualTo(2881);
    assertThat(failed.cluster()).isEqualTo("nexa");
    assertThat(failed.partition()).isEqualTo("gpu");
    assertThat(failed.exitCode()).isEqualTo("3:0");
    assertThat(failed.start()).contains(Instant.ofEpochSecond(1795267908L));
    assertThat(failed.end()).contains(Instant.ofEpochSecond(1795267909L));
    assertThat(failed.elapsedSeconds()).isEqualTo(1);
    assertThat(failed.nodes()).isEqualTo("n1");
    assertThat(failed.allocTres())
        .isEqualTo("billing=1,cpu=1,gres/gpu:h100=1,gres/gpu=1,mem=100M,node=1");
    assertThat(failed.name()).isEqualTo("train_20251101_120000.abc123");
    AccountingRecord cancelled = rows.get(4);
    assertThat(cancelled.rawState()).isEqualTo("CANCELLED by 0");
    assertThat(cancelled.start()).isEmpty();
    assertThat(cancelled.ran()).isFalse();
    assertThat(cancelled.reason()).isEqualTo("JobHeldUser");
  }

  @Test
  void aNewlineInsideANameIsPartOfIt() throws IOException {
    read(Files.readAllBytes(CAPTURED));

    assertThat(rows.get(4).name()).isEqualTo("two\nlines é");
    assertThat(rows.get(4).reqTres()).startsWith("billing=1,cpu=1");
  }

  @ParameterizedTest(name = "{0}, {1}")
  @CsvSource({
    "'Planned,Restarts', '00:01:05|2', 65, 2",
    "'Reserved', '2-00:00:01', 172801, -1",
    "'Restarts', '0', -1, 0",
    "'Planned,Restarts', '|', -1, -1",
    "'Planned,Restarts', 'INVALID|4294967294', -1, -1",
  })
  void furtherColumnsStandWhereTheyWereAskedFor(
      String fields, String values, long planned, long restarts) {
    String row = row("JobName", "two\nlines").stripTrailing();
    String further = values.replace("|", SacctRows.US);
    try (SacctText text =
        new SacctText(SacctRows.US, List.of(fields.split(",", -1)), rows::add, unreadable::add)) {
      byte[] bytes = (row + SacctRows.US + further + "\n").getBytes(StandardCharsets.UTF_8);
      text.write(bytes, 0, bytes.length);
    }

    assertThat(unreadable).isEmpty();
    assertThat(rows).singleElement().extracting(AccountingRecord::name).isEqualTo("two\nlines");
    assertThat(rows.get(0).more().plannedSeconds().orElse(-1L)).isEqualTo(planned);
    assertThat(rows.get(0).more().restarts().orElse(-1L)).isEqualTo(restarts);
  }

  /** The pipe cuts where it likes, also inside a character. */
  @Test
  void itDoesNotMatterInWhichPiecesTheTextComes() throws IOException {
    byte[] bytes = Files.readAllBytes(CAPTURED);
    read(bytes);
    List<AccountingRecord> whole = List.copyOf(rows);
    SplittableRandom random = new SplittableRandom(5);
    for (int round = 0; round < 100; round++) {
      rows.clear();
      try (SacctText text = new SacctText(SacctRows.US, List.of(), rows::add, unreadable::add)) {
        for (int from = 0; from < bytes.length; ) {
          int to = Math.min(bytes.length, from + 1 + random.nextInt(round % 2 == 0 ? 3 : 200));
          text.write(Arrays.copyOfRange(bytes, from, to));
          from = to;
        }
      }
      assertThat(rows).isEqualTo(whole);
    }
  }

  @ParameterizedTest(name = "{0} is task {2} of {1}")
  @CsvSource({
    "12_7, 12, 7",
    "12_[0-9%3], 12, 0-9",
    "'12_[1,3-5]', 12, '1,3-5'",
    "12, 12, ''",
    "12+1, 12, 1",
  })
  void aJobIdNamesAnArrayAndItsTasks(String id, long array, String tasks) {
    read(row("JobID", id));

    assertThat(unreadable).isEmpty();
    assertThat(rows.get(0).arrayJobId()).isEqualTo(array);
    assertThat(rows.get(0).tasks()).hasToString(tasks);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Unknown", "None", "", "0", "4294967294", "4294967295", "N/A"})
  void aTimeThatIsNoneIsNoTime(String time) {
    read(row("Start", time, "End", time));

    assertThat(unreadable).isEmpty();
    assertThat(rows.get(0).start()).isEmpty();
    assertThat(rows.get(0).end()).isEmpty();
    assertThat(rows.get(0).ended()).isFalse();
  }

  @Test
  void emptyNumbersAreZeroAndNegativeOnesToo() {
    read(row("ElapsedRaw", "", "NNodes", ""));
    read(row("ElapsedRaw", "-3", "NNodes", "1"));

    assertThat(rows).extracting(AccountingRecord::elapsedSeconds).containsExactly(0L, 0L);
  }

  @Test
  void anUnknownStateIsShownAsItCame() {
    read(row("State", "HIBERNATING"));

    assertThat(rows.get(0).state()).isEqualTo(JobState.UNRECOGNIZED);
    assertThat(rows.get(0).rawState()).isEqualTo("HIBERNATING");
    assertThat(rows.get(0).ended()).isFalse();
  }

  @Test
  void whatIsNoRowIsToldAndNeverDroppedInSilence() {
    String noJob = row("JobID", "seven");
    String banner = "sacct: error: slurmdbd is slow today\n";
    String step = row("JobID", "7.batch");
    String words = row("ElapsedRaw", "soon");

    read(noJob + banner + step + words + row("JobID", "8_0"));

    assertThat(unreadable).containsExactly(shown(noJob), shown(banner), shown(step), shown(words));
    assertThat(rows).extracting(AccountingRecord::arrayJobId).containsExactly(8L);
  }

  /** A name can hold a row of somebody else's job, with every delimiter but that of the call. */
  @Test
  void aNameWithARowInItIsAName() {
    String delimiter = Delimiter.unguessable();
    String forged = row("JobID", "9_0", "User", "eve").strip();
    String name = "x" + SacctRows.US + "None" + SacctRows.US + "cpu=1\n" + forged + "\ny";
    byte[] bytes =
        (row("JobName", "NAME") + row("JobID", "8_0"))
            .replace(SacctRows.US, delimiter)
            .replace("NAME", name)
            .getBytes(StandardCharsets.UTF_8);
    SplittableRandom random = new SplittableRandom(7);
    for (int round = 0; round < 100; round++) {
      rows.clear();
      try (SacctText text = new SacctText(delimiter, List.of(), rows::add, unreadable::add)) {
        for (int from = 0; from < bytes.length; ) {
          int to = Math.min(bytes.length, from + 1 + random.nextInt(40));
          text.write(bytes, from, to - from);
          from = to;
        }
      }

      assertThat(unreadable).isEmpty();
      assertThat(rows).extracting(AccountingRecord::name).containsExactly(name, "key");
      assertThat(rows).extracting(AccountingRecord::arrayJobId).containsExactly(7L, 8L);
    }
  }

  /** NO_VAL, as slurm.h has it. */
  @Test
  void numbersThatWereNeverSetAreNone() {
    read(row("ElapsedRaw", "4294967294", "NNodes", "4294967294"));

    assertThat(unreadable).isEmpty();
    assertThat(rows.get(0).elapsedSeconds()).isEqualTo(1);
    assertThat(rows.get(0).nodeCount()).isZero();
  }

  @Test
  void aRowThatWasCutShortIsToldToo() {
    String whole = row("JobID", "7_0");

    read(whole + whole.substring(0, 20));

    assertThat(rows).hasSize(1);
    assertThat(unreadable).containsExactly(shown(whole.substring(0, 20)));
  }

  /** All fields are there, and the last one may be half: "cpu=1" of "cpu=16". */
  @Test
  void aRowWithoutItsLineFeedWasCutShort() {
    String whole = row("JobID", "7_0");

    read(whole + whole.strip());

    assertThat(rows).hasSize(1);
    assertThat(unreadable).containsExactly(shown(whole));
  }

  @Test
  void emptyLinesAreNothing() {
    read("\n\n" + row("JobID", "7_0") + "\n");

    assertThat(rows).hasSize(1);
    assertThat(unreadable).isEmpty();
  }

  private void read(String text) {
    read(text.getBytes(StandardCharsets.UTF_8));
  }

  private void read(byte[] bytes) {
    try (SacctText text = new SacctText(SacctRows.US, List.of(), rows::add, unreadable::add)) {
      text.write(bytes, 0, bytes.length);
    }
  }

  private static String shown(String row) {
    return row.strip().replace(SacctRows.US, "|");
  }

  /** A row with these columns changed. */
  private static String row(String... changes) {
    List<String> fields =
        new ArrayList<>(
            List.of(
                "8",
                "7_0",
                "nexa",
                "ada",
                "nlp",
                "gpu",
                "COMPLETED",
                "0:0",
                "1795267900",
                "1795267908",
                "1795267909",
                "1",
                "1",
                "n1",
                "cpu=1",
                "key",
                "None",
                "cpu=1"));
    for (int i = 0; i < changes.length; i += 2) {
      fields.set(SacctText.FIELDS.indexOf(changes[i]), changes[i + 1]);
    }
    return String.join(SacctRows.US, fields) + "\n";
  }
}
