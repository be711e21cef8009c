package dev.nexa.slurm.records.runs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RunIdTest {

  @Test
  void isTheSeedsShapeInUtc() {
    Instant at = Instant.parse("2025-11-01T14:32:00.999Z");

    assertThat(RunId.of("train", at, 1)).hasToString("train_20251101_143200");
    assertThat(RunId.of("train", at, 2)).hasToString("train_20251101_143200_2");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "train_20251101_143200",
        "train_20251101_143200_2",
        "train_20251101_143200_9999",
        "data-v2_20251101_143200",
        "a_00000000_000000"
      })
  void exactlyThatShapeIsAccepted(String text) {
    assertThat(RunId.parse(text)).map(RunId::value).contains(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "latest",
        "train",
        "Train_20251101_143200",
        "1train_20251101_143200",
        "train_2025110_143200",
        "train_20251101_1432000",
        "train_20251101_143200_",
        "train_20251101_143200_0",
        "train_20251101_143200_02",
        "train_20251101_143200_10000",
        "train_20251101_143200.json",
        "train_20251101_143200/",
        "train_20251101_143200\n",
        " train_20251101_143200",
        "../train_20251101_143200",
        "train_20251101_143200/../../etc",
        "..",
        "/etc/passwd",
        "train_٢٠٢٥١١٠١_143200",
        "abcdefghijklmnopqrstuvwxyzabcdef_20251101_143200"
      })
  void nothingElseIsBecauseItBecomesAPath(String text) {
    assertThat(RunId.parse(text)).isEmpty();
    assertThatThrownBy(() -> new RunId(text))
        .isInstanceOfSatisfying(
            NexaException.class,
            wrong -> {
              assertThat(wrong)
                  .hasMessage("'" + text + "' is no run id; one looks like train_20251101_143200");
              assertThat(wrong.exitCode()).isEqualTo(ExitCode.USAGE);
              assertThat(wrong.advice())
                  .containsExactly(Advice.command("shows them", "nexa-slurm", "runs", "list"));
            });
  }

  @Test
  void aSubmissionsKeyBelongsToItsRun() {
    assertThat(RunId.ofKey("train_20251101_143200_2.a1b2c3"))
        .contains(new RunId("train_20251101_143200_2"));
    for (String other : List.of("train_20251101_143200", "interactive", "a.b", "", ".")) {
      assertThat(RunId.ofKey(other)).as(other).isEmpty();
    }
  }
}
