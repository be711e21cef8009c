package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What sbatch says after a submission: a job, surely none, or nobody knows. */
class SbatchAnswerTest {
  private static final String FAILED = "sbatch: error: Batch job submission failed: ";

  @ParameterizedTest(name = "{0}: job {1} of [{2}]")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          12345                        | 12345 |
          12345;cluster                | 12345 | cluster
          Welcome to the cluster!\\n12345 | 12345 |
          12345\\n\\n                  | 12345 |
          12345\\nYou have 480 hours left | 12345 |
          12345\\nyour job is 12345    | 12345 |
          """)
  void exitZeroWithAnIdOnALineOfItsOwnIsAJob(String out, long id, String cluster) {
    assertThat(SbatchAnswer.read(said(0, out.replace("\\n", "\n") + "\n", "a warning")))
        .isEqualTo(new SubmitAnswer.Submitted(id, cluster == null ? "" : cluster));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Submitted batch job 12345",
        "-1",
        "12345;",
        "12345;a b",
        "12345\n12346",
        "12345\nbye\n12346",
        "480\nyour job is 12345",
        "480\nSubmitted batch job 12345",
        "1234567890123456789012"
      })
  void exitZeroWithoutAnIdLeavesItOpen(String out) {
    assertThat(SbatchAnswer.read(said(0, out, ""))).isInstanceOf(SubmitAnswer.Unknown.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Invalid account or account/partition combination specified",
        "Invalid partition name specified",
        "Invalid qos specification",
        "Requested time limit is invalid (missing or exceeds some limit)",
        "Requested node configuration is not available",
        "Job violates accounting/QOS policy (job submit limit, user's size and/or time limits)",
        "Invalid generic resource (gres) specification",
        "Invalid feature specification",
        "Invalid license specification",
        "Invalid node name specified",
        "Invalid job array specification",
        "Access/permission denied",
      })
  void aValidationMessageIsARefusal(String message) {
    for (int exit : new int[] {1, 255}) {
      assertThat(SbatchAnswer.read(said(exit, "", FAILED + message + "\n")))
          .isEqualTo(new SubmitAnswer.Refused(FAILED + message));
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Socket timed out on send/recv operation", // seen, with the job in the queue
        "Unable to contact slurm controller (connect failure)",
        "Zero Bytes were transmitted or received",
        "Slurm temporarily unable to accept job, sleeping and retrying",
        "Unexpected message received",
        "Some error of next year",
      })
  void anyOtherErrorLeavesItOpen(String message) {
    assertThat(SbatchAnswer.read(said(1, "", FAILED + message)))
        .isEqualTo(new SubmitAnswer.Unknown(FAILED + message));
  }

  @Test
  void anIdBesideAnErrorLeavesItOpen() {
    assertThat(SbatchAnswer.read(said(1, "12345\n", FAILED + "Invalid partition name specified")))
        .isInstanceOf(SubmitAnswer.Unknown.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 127, 130, 137, 143})
  void soDoesAnotherExitStatus(int exit) {
    assertThat(SbatchAnswer.read(said(exit, "", FAILED + "Invalid partition name specified")))
        .isInstanceOf(SubmitAnswer.Unknown.class);
    assertThat(SbatchAnswer.read(said(exit, "", "")))
        .isEqualTo(new SubmitAnswer.Unknown("sbatch ended with " + exit));
  }

  @Test
  void soDoesOneThatWeKilledForTakingTooLong() {
    assertThat(SbatchAnswer.read(new CommandResult(143, "12345\n", "", true)))
        .isEqualTo(new SubmitAnswer.Unknown("sbatch did not answer in time: 12345"));
  }

  private static CommandResult said(int exit, String out, String err) {
    return new CommandResult(exit, out, err, false);
  }
}
