package dev.nexa.slurm.cluster.scheduler.slurm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The arguments of each Slurm client. */
class SlurmCommandsTest {
  private static final Instant NOON = Instant.parse("2025-11-01T12:00:00Z");

  @Test
  void sbatchGetsWhatBelongsToTheSubmissionAndNothingElse() {
    assertThat(SlurmCommands.sbatch(request("", Optional.empty()), Map.of("PATH", "/bin")))
        .containsExactly(
            "sbatch",
            "--parsable",
            "--job-name=train_1.abc",
            "--output=/w/50%%/%A_%a.out",
            "--chdir=/w/run",
            "--export=ALL",
            "/w/run/job.sbatch",
            "/w/run/submissions/train_1.abc");
  }

  @Test
  void aPartOfAnArrayAndACommentAreArgumentsToo() {
    assertThat(SlurmCommands.sbatch(request("approval 7; x", Optional.of("1,3-5%2")), Map.of()))
        .contains("--comment=approval 7; x", "--array=1,3-5%2");
  }

  /** With a list of names sbatch fetches a login environment, which costs; so only where needed. */
  @Test
  void aTokenOfTheClientsIsKeptFromTheJob() {
    Map<String, String> environment =
        new TreeMap<>(Map.of("PATH", "/bin", "HOME", "/home/ada", "SLURM_JWT", "secret"));

    List<String> argv = SlurmCommands.sbatch(request("", Optional.empty()), environment);

    assertThat(argv).contains("--export=HOME,PATH");
    assertThat(String.join(" ", argv)).doesNotContain("JWT").doesNotContain("secret");
  }

  @Test
  void sacctAsksForEveryAttemptInExactUnits() {
    assertThat(SlurmCommands.sacct(AccountingQuery.byIds(List.of(7L, 8L), NOON), List.of(), "#"))
        .startsWith("sacct")
        .contains("--allocations", "--duplicates", "--noconvert", "--delimiter=#")
        .contains(
            "--format="
                + String.join(",", SacctText.FIELDS)
                + ","
                + String.join(",", SacctText.CHECKS))
        .contains("--starttime=2025-10-31T12:00:00")
        .endsWith("--jobs=7,8");
    assertThat(
            SlurmCommands.sacct(
                AccountingQuery.byNames(List.of("a.x", "b.y"), NOON), List.of(), "#"))
        .endsWith("--name=a.x,b.y");
  }

  @Test
  void aQueryAsksForSomething() {
    assertThatThrownBy(() -> AccountingQuery.byIds(List.of(), NOON))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void scancelTouchesNoOtherJobThatWasGivenTheId() {
    assertThat(SlurmCommands.scancel("train_1.abc", 7, OptionalInt.empty()))
        .containsExactly("scancel", "--name=train_1.abc", "7");
    assertThat(SlurmCommands.scancel("train_1.abc", 7, OptionalInt.of(3)))
        .containsExactly("scancel", "7_3");
  }

  private static SubmitRequest request(String comment, Optional<String> array) {
    return new SubmitRequest(
        "train_1.abc",
        Path.of("/w/run/job.sbatch"),
        Path.of("/w/run/submissions/train_1.abc"),
        "/w/50%%/%A_%a.out",
        comment,
        Path.of("/w/run"),
        array,
        "",
        "");
  }
}
