package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a config with groups may say, and which job follows from it. */
class GroupsTest {
  private static final String FIRST =
      "  a:\n    resources: {cpus_per_task: 2, gpus_per_node: 0, memory: 1G, time: 10m}\n    run: echo a\n";
  private static final String SECOND =
      "  b:\n    resources: {nodes: 2, cpus_per_task: 4, gpus_per_node: 0, memory: 2G, time: 20m}\n";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal = new Terminal(folder).withSlurm();
  }

  private Terminal.Screen type(String command, String config) {
    terminal.file("run.yaml", config);
    return terminal.type(command, "run.yaml");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "''|a: {resources: {time: 5m, gpus_per_node: 0}, run: x}| groups: expected 2 to 32 groups",
        "array: {shards: 2}| ''| array: a job with groups has none",
        "chain: 2| ''| chain: a job with groups has none",
        "watchdog: 5m| ''| watchdog: a job with groups has none",
        "backend: python| ''| backend: groups are for backend shell",
        "''|B: {resources: {time: 5m}}| expected a name such as trainer",
        "''|b: {run: x}| groups.b.resources: missing; each group has its own",
        "''|b: {resources: {time: 5m, gpus_per_node: 0, ntasks: 4}, run: x}| groups.b.resources.ntasks: a further group runs its command once on each of its nodes",
        "''|b: {resources: {time: 5m, gpus_per_node: 0, nodez: 4}}| groups.b.resources.nodez: unknown key (did you mean 'nodes'?)",
        "''|b: {resources: {time: 5m, gpus_per_node: 0}, env: {NEXA_X: 1}}| NEXA_X: names that begin with NEXA_ are the job script's own",
      })
  void aWrongKeyIsNamed(String key, String group, String message) {
    boolean one = group.startsWith("a:");
    String groups =
        "groups:\n" + (one ? "" : FIRST) + (group.isEmpty() ? SECOND : "  " + group + "\n");
    Terminal.Screen screen = type("render", "stage: train\n" + groups + key + "\n");

    assertThat(screen.exit()).as(screen.out()).isEqualTo(2);
    assertThat(screen.err()).contains("run.yaml:").contains(message);
  }

  @Test
  void thePriceIsTheSumOfTheGroupsEachForItsOwnTime() {
    Terminal.Screen screen = type("estimate", "stage: train\ngroups:\n" + FIRST + SECOND);

    // 10 min and 20 min, each 90 s more: 2 x 690 s + 8 x 1290 s = 11700 s of CPUs.
    assertThat(screen.out())
        .contains(
            ": 2 groups\n  a: 1 node with 2 CPUs and 1 GiB, 10 minutes\n"
                + "  b: 2 nodes with 4 CPUs and 2 GiB each, 20 minutes (+90 s that Slurm may take to end it)",
            "if each group uses its whole time limit")
        .containsPattern("cpu +3[.]25 ")
        .contains("past runs are compared by one task, and this job has groups");
  }

  @Test
  void theConfigsOwnCommandIsTheFirstGroup() {
    String own =
        "stage: train\nresources: {cpus_per_task: 2, gpus_per_node: 0, memory: 1G, time: 10m}\nrun: echo a\ngroups:\n";

    assertThat(type("render", own + SECOND).out())
        .isEqualTo(
            type("render", "stage: train\ngroups:\n" + FIRST + SECOND)
                .out()
                .replace("( a b )", "( main b )")
                .replace("( A B )", "( MAIN B )"))
        .contains(
            "#SBATCH hetjob\n#SBATCH --cpus-per-task=4\n#SBATCH --mem=2048M\n#SBATCH --nodes=2\n")
        .doesNotContain("--array");
  }

  @Test
  void aScriptWithComponentsIsNoArray() {
    terminal.file("pair.sh", "#!/bin/bash\n#SBATCH -t 5 --array=1-2\n#SBATCH hetjob\ntrue\n");

    assertThat(terminal.type("submit", "pair.sh"))
        .returns(2, Terminal.Screen::exit)
        .extracting(Terminal.Screen::err)
        .asString()
        .contains("pair.sh: array: a job with groups has none");
  }

  @Test
  void aMachineAloneHasNoGroups() {
    terminal.file("run.yaml", "stage: train\ngroups:\n" + FIRST + SECOND);

    assertThat(terminal.type("render", "run.yaml", "--local").err())
        .contains("groups: needs Slurm, which starts groups together; leave --local out");
  }
}
