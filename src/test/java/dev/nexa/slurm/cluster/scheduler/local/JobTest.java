package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class JobTest {

  /** What sbatch 22.05 printed for the same directive. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      delimiter = '→',
      value = {
        "--time=abc → error: Invalid --time specification",
        "--time=12h → error: Invalid --time specification",
        "--mem=abc → error: Invalid --mem specification",
        "--array=5-1 → error: Batch job submission failed: Invalid job array specification",
        "--array=x → error: Batch job submission failed: Invalid job array specification",
        "--signal=FOO@3 → error: Invalid --signal specification",
        "--cpus-per-task=abc → error: Invalid numeric value \"abc\" for --cpus-per-task.",
        "--cpus-per-task=0 → error: Invalid numeric value \"0\" for --cpus-per-task.",
        "--nodes=abc → error: \"abc\" is not a valid node count",
        "--open-mode=x → error: Invalid --open-mode specification",
        "--exclusive=zz → error: Invalid --exclusive specification",
        "--dependency=afterok → error: Batch job submission failed: Job dependency problem",
        "--dependency=afterok:x → error: Batch job submission failed: Job dependency problem",
        "--dependency=afterok:1:,afterany:2 → error: Batch job submission failed: Job dependency problem",
        "--kill-on-invalid-dep=maybe → error: Invalid --kill-on-invalid-dep specification",
        "foo bar → error: Invalid directive found in batch script: foo",
        "--job-name → option '--job-name' requires an argument",
        "--requeue=5 → option '--requeue' doesn't allow an argument",
        "-Z → invalid option -- 'Z'",
      })
  void refusesAsSbatchDoes(String directive, String said) {
    assertThatThrownBy(() -> Jobs.of("#SBATCH " + directive)).hasMessage("sbatch: " + said);
  }

  @Test
  void namesTheNearestOption() {
    assertThatThrownBy(() -> Jobs.of("#SBATCH --cpus-per-tsk=2"))
        .hasMessageStartingWith("sbatch: unrecognized option '--cpus-per-tsk=2'")
        .hasMessageContaining("cpus-per-task");
    assertThatThrownBy(() -> Jobs.of("#SBATCH --nodes=2"))
        .hasMessageContaining("Requested node configuration is not available");
  }

  @ParameterizedTest
  @CsvSource({"45, 2700", "30:00, 1800", "12:00:00, 43200", "1-12, 129600", "0:30, 60"})
  void readsSlurmsTimes(String text, long seconds) {
    assertThat(Jobs.of("#SBATCH --time=" + text).limit()).contains(Duration.ofSeconds(seconds));
  }

  @Test
  void hasNoLimitUnlessItIsGiven() {
    assertThat(Jobs.of("").limit()).isEmpty();
    assertThat(Jobs.of("#SBATCH --time=UNLIMITED").limit()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--cpus-per-task=2 --mem=1G; billing=2,cpu=2,mem=1024M,node=1",
        "--ntasks=3 -c2 --mem=1500; billing=6,cpu=6,mem=1500M,node=1",
        "--ntasks-per-node=2 --mem=2048K; billing=2,cpu=2,mem=2M,node=1",
        "--gres=gpu:h100:2 --mem=0; billing=1,cpu=1,gres/gpu:h100=2,gres/gpu=2,node=1",
        "--gres=tmpdisk:5,gpu:3; billing=1,cpu=1,gres/gpu=3,node=1",
        "--gres=gpu; billing=1,cpu=1,gres/gpu=1,node=1",
        "--gres=gpu:a100_3g.20gb; billing=1,cpu=1,gres/gpu:a100_3g.20gb=1,gres/gpu=1,node=1",
        "--gpus-per-node=h100:4; billing=1,cpu=1,gres/gpu:h100=4,gres/gpu=4,node=1",
        "--exclusive; billing=8,cpu=8,node=1",
      })
  void countsResourcesAsSacctPrintsThem(String options, String tres) {
    assertThat(Jobs.of("#SBATCH " + options).resources().tres()).isEqualTo(tres);
  }

  @Test
  void runsAsManyTasksAtOnceAsItIsToldOrAsFit() {
    assertThat(Jobs.of("#SBATCH --array=0-99%3").atOnce()).isEqualTo(3);
    assertThat(Jobs.of("#SBATCH --array=0-99").atOnce()).isEqualTo(8);
    assertThat(Jobs.of("#SBATCH --array=0-99 -c3").atOnce()).isEqualTo(2);
    assertThat(Jobs.of("#SBATCH --array=0-99 -c30").atOnce()).isEqualTo(1);
    assertThat(Jobs.of("#SBATCH --array=0-99 --gres=gpu:1").atOnce()).isEqualTo(1);
  }

  @Test
  void takesTheRequestOverTheScript() {
    Job job = Jobs.of("#SBATCH --job-name=a --array=0-9 --chdir=/x --output=o", "7-8");
    assertThat(job.name()).isEqualTo("key");
    assertThat(job.tasks().indices()).isEqualTo(List.of(7, 8));
    assertThat(job.options().text(SbatchOption.OUTPUT)).isEqualTo("/logs/%A_%a.out");
    assertThat(job.options().text(SbatchOption.CHDIR)).isEqualTo("/work");
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "B:USR1@90, true, USR1, 90",
        "SIGTERM, false, TERM, 60",
        "RB:10@5, true, 10, 5",
      })
  void readsWarnings(String text, boolean toScript, String signal, int seconds) {
    assertThat(Jobs.of("#SBATCH --signal=" + text).warning())
        .isEqualTo(Optional.of(new TimeWarning(toScript, signal, seconds)));
  }
}
