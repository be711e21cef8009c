package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DumpTextTest {

  @ParameterizedTest(name = "{0} is {1}")
  @CsvSource({
    "123, 123",
    "123_4, 123_4",
    "123+1, 123+1",
    "'123_[7-99%4]', '123_[7-99]'",
    "'123_[1,3,7-9:2%4]', '123_[1,3,7-9:2]'",
    "'123_[1,2,...]', '123_[1,2,...]'",
    "4294967293, 4294967293",
  })
  void aJobIdIsReadInEachForm(String printed, String id) {
    assertThat(Dumps.text("JobID|State\n" + printed + "|PENDING\n").jobs().get(0).id())
        .isEqualTo(id);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"", "x", "12x", "12_", "12_x", "12_[", "12_[]", "12-3", "4294967295", "-1", "1+"})
  void whatIsNoJobIdIsToldWithItsLine(String printed) {
    Dumps.Read read = Dumps.text("JobID|State\n" + printed + "|PENDING\n");

    assertThat(read.jobs()).isEmpty();
    assertThat(read.problems()).hasSize(1);
    assertThat(read.problems().get(0).line()).isEqualTo(2);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "123.batch",
        "123.extern",
        "123.interactive",
        "123.0",
        "123_4.batch",
        "123+1.0",
        "123.0+1",
        "123.name"
      })
  void aStepIsNoJob(String step) {
    String job = step.substring(0, step.indexOf('.'));
    Dumps.Read read =
        Dumps.text(
            "JobID|ElapsedRaw|AllocCPUS|AllocTRES\n"
                + (job + "|10|2|cpu=2,gres/gpu=1\n")
                + (step + "|10|2|cpu=2,gres/gpu=1\n"));

    assertThat(read.jobs()).hasSize(1);
    assertThat(read.jobs().get(0).time().cpuSeconds()).isEqualTo(20);
    assertThat(read.jobs().get(0).time().gpuSeconds()).isEqualTo(10);
    assertThat(read.problems()).isEmpty();
  }

  /** The row's own field comes first; 0 stands for a cluster that measures none. */
  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          120;   cpu=2,energy=77,mem=1G;       120
          '';    cpu=2,energy=41814508,mem=1G; 41814508
          0;     energy=5K;                    5000
          '';    cpu=2,gres/energy=7;          ''
          '';    energy=0;                     ''
          0;     cpu=2;                        ''
          """)
  void energyIsReadFromTheAllocationToo(String own, String allocated, String joules) {
    JobUsage job =
        Dumps.text(
                "JobID|State|ConsumedEnergyRaw|AllocTRES\n7|COMPLETED|"
                    + own
                    + "|"
                    + allocated
                    + "\n")
            .job("7");

    assertThat(job.energyJoules()).isEqualTo(joules.isEmpty() ? null : Long.valueOf(joules));
  }

  @ParameterizedTest(name = "[{0}]")
  @ValueSource(strings = {"|", "||", "^|^", ";", "\t", "\u001f", ",", " | ", "¦", "::"})
  void theHeaderTellsTheDelimiter(String delimiter) {
    String text = "State|User|JobID|ElapsedRaw\nCOMPLETED|ada|7|60\n".replace("|", delimiter);

    JobUsage job = Dumps.text(text).job("7");

    assertThat(job.names().user()).isEqualTo("ada");
    assertThat(job.time().elapsedSeconds()).isEqualTo(60);
  }

  @Test
  void aDelimiterOfLettersIsTyped() {
    Dumps.Read read = Dumps.text("JobIDxxState\n7xxFAILED\n", "xx", List.of(), ZoneOffset.UTC);

    assertThat(read.job("7").state()).isEqualTo("FAILED");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"7|FAILED\n", "7|FAILED|\n", "7;FAILED\n", "7\tFAILED", "JobID|State\n7|FAILED\n"})
  void withoutAHeaderTheColumnsAreTyped(String text) {
    Dumps.Read read = Dumps.text(text, null, List.of("jobid%20", "State"), ZoneOffset.UTC);

    assertThat(read.job("7").state()).isEqualTo("FAILED");
    assertThat(read.problems()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "7|FAILED\n",
        "JobID           JobName  Partition    Account\n------------ ---------- ----------\n7  x  y\n",
        "State|JobName\nFAILED|x\n"
      })
  void aTableWithoutAHeaderIsRefusedWithWhatToType(String text) {
    assertThatThrownBy(() -> Dumps.text(text))
        .isInstanceOf(NexaException.class)
        .hasMessageContaining("JobID")
        .extracting(failure -> ((NexaException) failure).advice().toString())
        .asString()
        .contains("--fields JobID,State");
  }

  @Test
  void anEmptyDumpHoldsNoJobs() {
    assertThat(Dumps.text("").jobs()).isEmpty();
    assertThat(Dumps.text("JobID|State\n").jobs()).isEmpty();
  }

  @Test
  void aColumnThatIsNotThereMakesFiguresNull() {
    JobUsage job = Dumps.text("JobID|State\n7|COMPLETED\n").job("7");

    assertThat(job.time().cpuSeconds()).isNull();
    assertThat(job.time().gpuSeconds()).isNull();
    assertThat(job.time().elapsedSeconds()).isNull();
    assertThat(job.time().cpuUsedMicros()).isNull();
    assertThat(job.attempts().get(0).gpus()).isNull();
  }

  @Test
  void ncpusServesWhereAllocCpusIsMissing() {
    assertThat(Dumps.text("JobID|NCPUS|Elapsed\n7|3|00:01:00\n").job("7").time().cpuSeconds())
        .isEqualTo(180);
    assertThat(
            Dumps.text("JobID|NCPUS|AllocCPUS|Elapsed\n7|3|2|00:01:00\n")
                .job("7")
                .time()
                .cpuSeconds())
        .isEqualTo(120);
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource({
    "00:00:28, 28",
    "05:07, 307",
    "08:15:00, 29700",
    "3-00:00:00, 259200",
    "INVALID,",
    "UNLIMITED,",
    "Unknown,",
    "'',",
    "1:2:3:4,",
    "soon,",
  })
  void elapsedIsReadInEachForm(String printed, Long seconds) {
    assertThat(Dumps.text("JobID|Elapsed\n7|" + printed + "\n").job("7").time().elapsedSeconds())
        .isEqualTo(seconds);
  }

  @Test
  void cpuTimeOfAllocationsAloneIsUnknownNotZero() {
    String job = "JobID|State|TotalCPU\n7|COMPLETED|00:00:00\n";

    assertThat(Dumps.text(job).job("7").time().cpuUsedMicros()).isNull();
    assertThat(Dumps.text(job + "7.batch|COMPLETED|05:07.250\n").job("7").time().cpuUsedMicros())
        .isEqualTo(307_250_000L);
    assertThat(Dumps.text(job + "7.batch|RUNNING|00:00:00\n").job("7").time().cpuUsedMicros())
        .isNull();
  }

  @Test
  void aNewlineInANameBreaksNoRow() {
    Dumps.Read read =
        Dumps.text("JobID|JobName|State|ElapsedRaw\n7|a\nb\n\nc|FAILED|9\n8|d|FAILED|1\n");

    assertThat(read.jobs()).extracting(JobUsage::id).containsExactly("7", "8");
    assertThat(read.job("7").names().name()).isEqualTo("a\nb\n\nc");
    assertThat(read.problems()).isEmpty();
  }

  @Test
  void whereLinesCannotBeJoinedTheFirstIsTheJob() {
    Dumps.Read read =
        Dumps.text(
            "JobID|JobName|State|ElapsedRaw\n7|a\nb|c|FAILED|9\n8|ok|FAILED|9\n9|cut|FAIL\n");

    assertThat(read.jobs()).extracting(JobUsage::id).containsExactly("7", "8", "9");
    assertThat(read.job("7").names().name()).isEqualTo("a");
    assertThat(read.job("7").state()).isNull();
    assertThat(read.job("9").state()).isNull();
    assertThat(read.problems()).extracting(Problems.Problem::line).contains(2, 3, 5);
  }

  @Test
  void tooManyColumnsAreNeverShifted() {
    Dumps.Read read = Dumps.text("JobID|State|User\n7|FAILED|a|b\n");

    assertThat(read.jobs()).isEmpty();
    assertThat(read.problems().get(0).toString())
        .startsWith("line 2: the row has 4 columns, expected 3");
  }

  @Test
  void whoseDelimiterItIsMayStayUnknown() {
    Dumps.Read read = Dumps.text("JobID|JobName|Comment|State\n7|a|b|c|FAILED\n");

    assertThat(read.job("7").state()).isEqualTo("FAILED");
    assertThat(read.job("7").names().name()).isNull();
    assertThat(read.problems()).hasSize(1);
  }

  /** Europe/Berlin: 02:00 to 03:00 is left out on 29 March 2026, and comes twice on 25 October. */
  @ParameterizedTest(name = "{0} to {1}, {2} s")
  @CsvSource({
    "2026-03-29T01:30:00, 2026-03-29T03:30:00, 3600, 2026-03-29T00:30:00Z, 2026-03-29T01:30:00Z",
    "2026-10-25T01:30:00, 2026-10-25T02:30:00, 3600, 2026-10-24T23:30:00Z, 2026-10-25T00:30:00Z",
    "2026-10-25T01:30:00, 2026-10-25T02:30:00, 7200, 2026-10-24T23:30:00Z, 2026-10-25T01:30:00Z",
    "2026-10-25T02:30:00, 2026-10-25T03:30:00, 7200, 2026-10-25T00:30:00Z, 2026-10-25T02:30:00Z",
    "2026-10-25T02:30:00, 2026-10-25T03:30:00, 3600, 2026-10-25T01:30:00Z, 2026-10-25T02:30:00Z",
    "2026-10-25T02:50:00, 2026-10-25T02:10:00, 1200, 2026-10-25T00:50:00Z, 2026-10-25T01:10:00Z",
    "2026-10-25T02:10:00, 2026-10-25T02:50:00, 2400, 2026-10-25T00:10:00Z, 2026-10-25T00:50:00Z",
  })
  void clocksThatArePutForwardAndBack(
      String start, String end, int elapsed, Instant started, Instant ended) {
    String text = "JobID|Start|End|ElapsedRaw\n7|" + start + "|" + end + "|" + elapsed + "\n";

    AttemptUsage attempt =
        Dumps.text(text, null, List.of(), ZoneId.of("Europe/Berlin")).job("7").attempts().get(0);

    assertThat(attempt.start()).isEqualTo(started);
    assertThat(attempt.end()).isEqualTo(ended);
    assertThat(attempt.elapsedSeconds()).isEqualTo(elapsed);
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource({
    "2026-03-01T08:00:00, 2026-03-01T07:00:00Z",
    "1772352000, 2026-03-01T08:00:00Z",
    "2026-03-01T08:00:00Z, 2026-03-01T08:00:00Z",
    "2026-03-01T08:00:00+02:00, 2026-03-01T06:00:00Z",
    "Unknown,",
    "None,",
    "0,",
    "4294967294,",
    "INVALID,",
    "2026-13-01T08:00:00,",
    "#####,",
  })
  void timesAreReadInEachForm(String printed, Instant time) {
    String text = "JobID|Submit\n7|" + printed + "\n";

    assertThat(
            Dumps.text(text, null, List.of(), ZoneId.of("Europe/Berlin"))
                .job("7")
                .attempts()
                .get(0)
                .submit())
        .isEqualTo(time);
  }

  @Test
  void carriageReturnsEndLinesToo() {
    assertThat(Dumps.text("JobID|State\r\n7|FAILED\r\n").job("7").state()).isEqualTo("FAILED");
  }

  @Test
  void aRecordThatStandsTwiceCountsOnce() {
    String text =
        "JobID|State|Submit|Start|End|ElapsedRaw|AllocCPUS\n"
            + "7|COMPLETED|1772352000|1772352001|1772352061|60|1\n"
            + "8|REQUEUED|1772352000|1772352001|1772352061|60|1\n"
            + "7|RUNNING|1772352000|1772352001|Unknown|30|1\n"
            + "8|PENDING|1772352061|Unknown|Unknown|0|1\n"
            + "8|REQUEUED|1772352000|1772352001|1772352061|60|1\n";

    Dumps.Read read = Dumps.text(text);

    assertThat(read.job("7").time().cpuSeconds()).isEqualTo(60);
    assertThat(read.job("8").time().cpuSeconds()).isEqualTo(60);
    assertThat(read.job("8").attempts()).hasSize(2);
    assertThat(read.problems()).extracting(Problems.Problem::line).containsExactly(3, 4);
  }

  @Test
  void filesThatWerePutTogetherHaveTheirOwnColumns() {
    Dumps.Read read =
        Dumps.text("JobID|State|User\n7|FAILED|ada\nUser;JobID;\nbob;8;\nJobID|State\n9|FAILED\n");

    assertThat(read.problems()).isEmpty();
    assertThat(read.job("8").names().user()).isEqualTo("bob");
    assertThat(read.job("8").state()).isNull();
    assertThat(read.job("9").state()).isEqualTo("FAILED");
  }

  /** Seen with 22.05.8: an attempt that failed at once, and the next begun in the same second. */
  @Test
  void aStepOfTwoAttemptsInOneSecondCountsOnce() {
    String rows =
        "7|REQUEUED|1772352000|1772352001|1772352001|0|00:00.015\n"
            + "7.batch|FAILED|1772352001|1772352001|1772352001|0|00:00.015\n"
            + "7|FAILED|1772352001|1772352001|1772352001|0|00:00:00\n"
            + "7.batch|CANCELLED|1772352001|1772352001|1772352001|0|00:00:00\n";

    assertThat(
            Dumps.text("JobID|State|Submit|Start|End|ElapsedRaw|TotalCPU\n" + rows)
                .job("7")
                .time()
                .cpuUsedMicros())
        .isEqualTo(15_000);
  }
}
