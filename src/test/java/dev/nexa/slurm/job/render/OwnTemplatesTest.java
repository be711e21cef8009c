package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A workspace's template runs the job that was priced and approved, and no other. */
class OwnTemplatesTest {
  private static final String INCLUDED = "<#include \"lib/directives.ftl\">\n";

  @TempDir Path folder;
  private Terminal ada;

  @BeforeEach
  void workspace() {
    ada = new Terminal(folder).withSlurm();
    ada.file("configs/clusters/default.yaml", "storage: {scratch: /s, durable: /d, shared: /h}\n")
        .file("run.yaml", "stage: data\nbackend: shell\nrun: echo a\nresources: {time: 1m}\n")
        .file(
            "two.yaml",
            "stage: data\nbackend: shell\ngroups:\n"
                + "  a: {run: echo a, resources: {cpus_per_task: 1, time: 1m}}\n"
                + "  b: {run: echo b, resources: {cpus_per_task: 2, time: 1m}}\n");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "#SBATCH --gres=gpu:8\\nINCLUDED             | would also read --gres=gpu:8",
        "INCLUDED#SBATCH --time=2-0                  | would also read --time=2-0",
        "INCLUDED\\n\\n#SBATCH -N4                   | would also read -N4",
        "INCLUDED#SLURM --exclusive                  | would also read --exclusive",
        "INCLUDED#PBS -l nodes=8                     | would also read",
        "INCLUDED#BSUB -n 8                          | would also read",
        "true\\nINCLUDED                              | would not read --",
        "sleep 5                                     | would not read --",
        "INCLUDEDINCLUDED                            | they come in another order",
      })
  void otherDirectivesAreRefused(String text, String why) {
    ada.file(
        "templates/task.sbatch.ftl",
        "#!/bin/bash\n" + text.replace("\\n", "\n").replace("INCLUDED", INCLUDED) + "\ntrue\n");

    for (String command : new String[] {"submit", "render"}) {
      Screen screen = ada.type(command, ada.workspace + "/run.yaml");
      assertThat(screen.exit()).as(command).isEqualTo(2);
      assertThat(screen.err())
          .contains("templates/task.sbatch.ftl: the script's #SBATCH lines", why);
    }
    assertThat(ada.argv("sbatch")).isEmpty();
  }

  @Test
  void anOwnListOfDirectivesIsRefusedToo() {
    ada.file("templates/lib/directives.ftl", "#SBATCH --time=2-0\n");

    assertThat(ada.type("submit", ada.workspace + "/run.yaml").err())
        .contains("sbatch would also read --time=2-0");
    assertThat(ada.argv("sbatch")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"run.yaml", "two.yaml"})
  void theJobThatWasPricedIsTaken(String config) {
    ada.file(
        "templates/task.sbatch.ftl",
        "#!/bin/bash\n# ours\n" + INCLUDED + "\n# nexa_group\necho '\n#SBATCH --gres=gpu:8'\n");

    Screen screen = ada.type("render", ada.workspace + "/" + config);

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("# ours\n#SBATCH --");
  }
}
