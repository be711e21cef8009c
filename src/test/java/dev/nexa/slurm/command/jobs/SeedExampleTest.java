package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example training YAML of the documents that specified nexa-slurm, typed unchanged. */
class SeedExampleTest {
  private static final String FROM = "from configs/clusters/default.yaml: defaults.resources[3]";

  private static final List<String> NOTES =
      List.of(
          "stage train: from seed.yaml: lr",
          "backend axolotl: from seed.yaml: kd_lambda. Of the runners, only axolotl has a weight"
              + " between the teacher's loss and the data's own loss. It reads the teacher's"
              + " log-probabilities from the dataset's column `logprobs` and loads no teacher model",
          "resources gpus_per_node 4, cpus_per_task 32, memory 256G, time 12h: "
              + FROM
              + ", up_to 9B; mistral-7b-instruct has 7B parameters",
          "strategy fsdp: " + FROM + ".strategy");

  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void theExampleInAWorkspaceOfTheJarsProfile() {
    terminal = new Terminal(folder).withSlurm();
    terminal.file("seed.yaml", DurableFiles.read(Path.of("src/test/resources/seed/train.yaml")));
    terminal.file("configs/policy.yaml", "approval_over: {amount: 1000, currency: USD}\n");
  }

  private static String told() {
    return "note: " + String.join("\nnote: ", NOTES) + "\n";
  }

  /** Returns the notes without the one that only a machine with the seeds' folders prints. */
  private static String anywhere(String notes) {
    return notes.replaceAll("(?m)^note: dataset_path: there is no .*\\R", "");
  }

  @Test
  void estimatePricesItAndSaysWhatFollowedFromWhat() {
    Screen screen = terminal.type("estimate", "seed.yaml");

    assertThat(screen.exit()).isZero();
    assertThat(anywhere(screen.err())).isEqualTo(told());
    assertThat(screen.out())
        .startsWith(
            "At most 295.33 USD: 1 task, 1 node with 4 h100, 32 CPUs and 256 GiB, 12 hours ")
        .contains("Memory of a GPU: fits: 42 of 80 GiB");
  }

  @Test
  void jsonHasTheNotesToo() {
    assertThat(terminal.type("estimate", "seed.yaml", "--json").json().texts("notes"))
        .isEqualTo(NOTES);
    assertThat(terminal.type("submit", "seed.yaml", "--dry-run", "--json").json().texts("notes"))
        .isEqualTo(NOTES);
    assertThat(terminal.type("submit", "seed.yaml", "--json").json().texts("notes"))
        .containsAll(NOTES);
  }

  @Test
  void renderWritesAxolotlsConfigWithBothLosses() {
    Screen screen = terminal.type("render", "seed.yaml", "--files");

    assertThat(screen.exit()).isZero();
    assertThat(anywhere(screen.err())).isEqualTo(told());
    assertThat(screen.out())
        .contains("#SBATCH --gpus-per-node=h100:4\n", "#SBATCH --time=0-12:00:00\n")
        .contains("kd_trainer: true", "kd_temperature: 1.5", "kd_alpha: 0.5", "kd_ce_alpha: 0.5")
        .contains("base_model: \"mistral-7b-instruct\"", "fsdp_version: 2", "fp16: true");
  }

  @Test
  void submitSaysItAndKeepsTheNotesInThePlan() {
    assertThat(terminal.type("submit", "seed.yaml", "--dry-run").out())
        .contains("# note: " + String.join("\n# note: ", NOTES) + "\n");

    Screen screen = terminal.type("submit", "seed.yaml");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains(told()).contains("job 4711");
    assertThat(terminal.type("runs", "list").out()).contains("train_");
    String plan = DurableFiles.read(terminal.workspace.resolve("runs/latest/plan.json"));
    NOTES.forEach(note -> assertThat(plan).contains(note));
  }

  @Test
  void aRefusalForItsCostSaysItToo() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 1, currency: USD}\n");

    Screen screen = terminal.type("submit", "seed.yaml");

    assertThat(screen.exit()).isEqualTo(3);
    NOTES.forEach(note -> assertThat(screen.err()).contains(note));
    assertThat(terminal.type("submit", "seed.yaml", "--json").json().object("error").toString())
        .contains(NOTES.get(0), NOTES.get(3));
  }

  @Test
  void aRunnerThatCannotDistilLikeThisIsRefusedWithTheOneThatCan() {
    assertThat(terminal.type("estimate", "seed.yaml", "--set", "backend=hf").err())
        .contains(
            "teacher_model: missing; backend hf needs it to distil; or write backend: axolotl,"
                + " which reads the teacher's log-probabilities from the dataset")
        .contains(
            "kd_lambda: TRL's distillation has no weight between the losses; leave it out, or write"
                + " backend: axolotl");
  }

  @Test
  void onThisMachineAloneTheModelIsTooLargeForTheProfilesDefaults() {
    assertThat(terminal.type("estimate", "seed.yaml", "--local").err())
        .contains(
            "no entry of defaults.resources in configs/clusters/local.yaml is for 7B parameters;"
                + " the largest is up_to 500M: write resources");
  }
}
