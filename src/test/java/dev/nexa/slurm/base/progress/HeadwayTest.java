package dev.nexa.slurm.base.progress;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HeadwayTest {
  private static final long GIB = 1L << 30;
  private static final Phase COPYING = Phase.of("copying", "files", 3000).withBytes(4 * GIB);

  private static Headway copied(long files, long bytes, double bytesPerSecond) {
    return new Headway(COPYING, files, bytes, 9, bytesPerSecond, Duration.ofSeconds(75));
  }

  private static Headway runs(long done, long all, double perSecond) {
    Phase phase = Phase.of("auditing", "runs", all);
    return new Headway(phase, done, 0, perSecond, 0, Duration.ofSeconds(75));
  }

  @ParameterizedTest(name = "{0} columns")
  @CsvSource(
      delimiter = '|',
      value = {
        "200 | copying [=======                       ] 25%  1,234 of 3,000 files, 1.0 GiB of 4.0 GiB, 64.0 MiB/s, 48s left",
        "101 | copying [=====                  ] 25%  1,234 of 3,000 files, 1.0 GiB of 4.0 GiB, 64.0 MiB/s, 48s left",
        "80  | copying 25%  1,234 of 3,000 files, 1.0 GiB of 4.0 GiB, 64.0 MiB/s, 48s left",
        "70  | copying 25%  1.0 GiB of 4.0 GiB, 64.0 MiB/s, 48s left",
        "45  | copying 25%  1.0 GiB of 4.0 GiB, 48s left",
        "25  | copying 25%  48s left",
        "18  | copying 25%  48s l",
        "4   | copy",
        "0   | ''",
        "-1  | ''",
      })
  void aNarrowTerminalGetsWhatMattersMost(int columns, String line) {
    assertThat(copied(1234, GIB, 64 << 20).line(columns)).isEqualTo(line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "0     | 400   | 0      | auditing: 0%, 0 of 400 runs, 0.0/s, 1m15s so far",
        "1     | 400   | 0.05   | auditing: 0%, 1 of 400 runs, 3.0/min, 2h13m left",
        "100   | 400   | 2.5    | auditing: 25%, 100 of 400 runs, 2.5/s, 2m00s left",
        "399   | 400   | 1200   | auditing: 99%, 399 of 400 runs, 1,200/s, 1s left",
        "400   | 400   | 20     | auditing: 100%, 400 of 400 runs, 20/s, 1m15s so far",
        "9999  | 10000 | 9      | auditing: 99%, 9,999 of 10,000 runs, 9.0/s, 1s left",
        "0     | 0     | 0      | auditing: 0 of 0 runs, 0.0/s, 1m15s so far",
        "1     | 90001 | 1      | auditing: 0%, 1 of 90,001 runs, 1.0/s, 1d01h left",
        "1     | 99999 | 1e-9   | auditing: 0%, 1 of 99,999 runs, 0.0/min, 1m15s so far",
      })
  void itemsDecideWhereNobodyKnowsBytes(long done, long all, double rate, String line) {
    assertThat(runs(done, all, rate).line()).isEqualTo(line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // More bytes than planned, because a part was sent twice.
        "3000 | 5000000000 | copying: 100%, 3,000 of 3,000 files, 4.7 GiB of 4.0 GiB, 1.0 KiB/s, 1m15s so far",
        "0    | 0          | copying: 0%, 0 of 3,000 files, 0 bytes of 4.0 GiB, 1.0 KiB/s, 48d13h left",
        "0    | 4294967295 | copying: 99%, 0 of 3,000 files, 4.0 GiB of 4.0 GiB, 1.0 KiB/s, 1s left",
      })
  void bytesDecideWhereTheyAreKnown(long files, long bytes, String line) {
    assertThat(copied(files, bytes, 1024).line()).isEqualTo(line);
  }

  @Test
  void noBytesToCopyMeansThatTheItemsDecide() {
    Phase phase = Phase.of("copying", "files", 8).withBytes(0);

    assertThat(new Headway(phase, 2, 0, 2, 0, Duration.ofSeconds(1)).line())
        .isEqualTo("copying: 25%, 2 of 8 files, 2.0/s, 3s left");
  }

  @Test
  void withoutATotalThereIsNoPercentAndNoTimeLeft() {
    Duration since = Duration.ofSeconds(3675);

    assertThat(new Headway(Phase.of("reading", "files"), 12345, 0, 2040.4, 0, since).line(80))
        .isEqualTo("reading  12,345 files, 2,040/s, 1h01m so far");
    assertThat(new Headway(Phase.of("reading", "files"), 2, 3 << 20, 1, 1 << 20, since).line())
        .isEqualTo("reading: 2 files, 3.0 MiB, 1.0 MiB/s, 1h01m so far");
  }

  @Test
  void aPhaseMayHaveNothingToCount() {
    Duration since = Duration.ofSeconds(9);

    assertThat(new Headway(Phase.of("writing to disk"), 0, 0, 0, 0, since).line(80))
        .isEqualTo("writing to disk  9s so far");
    assertThat(new Headway(Phase.of("storing a").withBytes(4096), 0, 1024, 0, 1024, since).line(50))
        .isEqualTo("storing a 25%  1.0 KiB of 4.0 KiB, 3s left");
  }

  @Test
  void totalsBelongToAPhase() {
    assertThat(COPYING.totalItems()).isEqualTo(OptionalLong.of(3000));
    assertThat(Phase.of("reading", "files").withBytes(5))
        .isEqualTo(new Phase("reading", "files", OptionalLong.empty(), OptionalLong.of(5)));
  }
}
