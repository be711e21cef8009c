package dev.nexa.slurm.cluster.scheduler.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--time=abc",
        "--time=0",
        "--mem=abc",
        "--array=5-1",
        "--array=x",
        "--array=0-3%x",
        "--signal=FOO@3",
        "--signal=USR1@60",
        "--cpus-per-task=abc",
        "--cpus-per-task=0",
        "--ntasks-per-node=-1",
        "--nodes=abc",
        "--open-mode=x",
      })
  void refusesAValueThatItCannotRead(String directive) {
    assertThatThrownBy(() -> Jobs.of("#SBATCH " + directive))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("expected ");
  }

  /**
   * An option that would be left out is refused: each of sbatch's that our templates never write.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "-p cpu",
        "--mem 5G",
        "--error=x",
        "--dependency=afterok:5",
        "--ntasks=2",
        "--partition",
        "--requeue=5",
        "--exclusive=user",
        "word",
        ":",
      })
  void knowsNoOtherOptionOrForm(String directive) {
    String script = "#!/bin/bash\n#SBATCH --time=5\n#SBATCH " + directive + "\ntrue\n";
    assertThatThrownBy(() -> SbatchOptions.requireKnown(script))
        .hasMessageStartingWith("line 3: ")
        .hasMessageContaining(directive.split(" ", 2)[0]);
  }

  @Test
  void namesTheNearestOption() {
    assertThatThrownBy(() -> SbatchOptions.requireKnown("#!/bin/sh\n#SBATCH --cpus-per-tsk=2\n"))
        .hasMessageContaining("cpus-per-task");
    assertThatThrownBy(() -> SbatchOptions.requireKnown("#!/bin/sh\n#PBS -l nodes=2\n"))
        .hasMessageContaining("#PBS -l nodes=2");
  }

  @Test
  void takesTheLastOfTwoThatSayTheOpposite() {
    assertThat(Jobs.of("#SBATCH --no-requeue\n#SBATCH --requeue").requeue()).isTrue();
    assertThat(Jobs.of("#SBATCH --requeue\n#SBATCH --no-requeue").requeue()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"45, 2700", "30:00, 1800", "12:00:00, 43200", "1-12, 129600", "0:30, 60"})
  void readsSlurmsTimes(String text, long seconds) {
    assertThat(Jobs.of("#SBATCH --time=" + text).limit()).contains(Duration.ofSeconds(seconds));
  }

  @Test
  void hasNoLimitUnlessItIsGiven() {
    assertThat(Jobs.of("").limit()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "--cpus-per-task=2 --mem=1G; billing=2,cpu=2,mem=1024M,node=1",
        "--ntasks-per-node=3 --cpus-per-task=2 --mem=1500; billing=6,cpu=6,mem=1500M,node=1",
        "--ntasks-per-node=2 --mem=2048K; billing=2,cpu=2,mem=2M,node=1",
        "--mem=0; billing=1,cpu=1,node=1",
        "--exclusive; billing=8,cpu=8,node=1",
      })
  void countsResourcesAsSacctPrintsThem(String options, String tres) {
    assertThat(Jobs.of("#SBATCH " + options).resources().tres()).isEqualTo(tres);
  }

  @Test
  void runsAsManyTasksAtOnceAsItIsToldOrAsFit() {
    assertThat(Jobs.of("#SBATCH --array=0-99%3").atOnce()).isEqualTo(3);
    assertThat(Jobs.of("#SBATCH --array=0-99").atOnce()).isEqualTo(8);
    assertThat(Jobs.of("#SBATCH --array=0-99 --cpus-per-task=3").atOnce()).isEqualTo(2);
    assertThat(Jobs.of("#SBATCH --array=0-99 --cpus-per-task=30").atOnce()).isEqualTo(1);
  }

  @Test
  void takesTheRequestOverTheScript() {
    Job job = Jobs.of("#SBATCH --job-name=a --array=0-9 --chdir=/x --output=o", "7-8");
    assertThat(job.name()).isEqualTo("key");
    assertThat(job.tasks().indices()).isEqualTo(List.of(7, 8));
    assertThat(job.output(7)).hasToString("/logs/100%/12_7.out");
    assertThat(Jobs.of("#SBATCH --time=5").output(0)).hasToString("/logs/100%/12_4294967294.out");
  }

  @Test
  void readsWarnings() {
    assertThat(Jobs.of("#SBATCH --signal=B:USR1@90").warning())
        .contains(new Job.Warning("USR1", Duration.ofSeconds(90)));
    assertThat(Jobs.of("#SBATCH --signal=B:SIGTERM@5").warning())
        .contains(new Job.Warning("TERM", Duration.ofSeconds(5)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"afterok", "afterok:x", "afterok:1:,afterany:2", "after:1", "singleton"})
  void refusesOtherDependencies(String text) {
    assertThatThrownBy(() -> Dependency.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("afternotok");
  }
}
