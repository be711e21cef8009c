package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import org.junit.jupiter.api.Test;

class BackendsTest {

  @Test
  void shellStagesItsTextAsItIs() {
    Launch launch = launch("backend: shell\nrun: |\n  echo \"$NEXA_TASK\"\n  \techo '${x}' # y\n");

    assertThat(launch.template()).isEqualTo(Launch.TASK);
    assertThat(launch.command()).containsExactly("bash", "${run_dir}/runner/run.sh");
    RunnerFile only = launch.files().get(0);
    assertThat(only.name()).isEqualTo("run.sh");
    assertThat(only.content()).asString().isEqualTo("echo \"$NEXA_TASK\"\n\techo '${x}' # y\n");
  }

  @Test
  void pythonGetsItsTrainingKeysAsJsonAndThenItsArguments() {
    Launch launch =
        launch(
            "backend: python\nentrypoint: {script: lib/train.py, args: [--fast, 1e-3, \"a b\"]}\n"
                + "model_name: m\nlr: 2e-5\nuse_kd: true\nsave_steps: 500\n");

    assertThat(launch.template()).isEqualTo(Launch.TASK);
    assertThat(launch.command())
        .containsExactly(
            "python3",
            "${run_dir}/runner/train.py",
            "--config",
            "${run_dir}/runner/config.json",
            "--fast",
            "1e-3",
            "a b");
    assertThat(
            Json.parseObject(
                new String(
                    launch.files().get(0).content(), java.nio.charset.StandardCharsets.UTF_8)))
        .hasToString("{\"model_name\":\"m\",\"lr\":0.00002,\"use_kd\":true,\"save_steps\":500}");
  }

  /** A program reads the file, not the shell. */
  @Test
  void storageTiersAreWrittenOutForAProgram() {
    Launch launch =
        launch("backend: python\nentrypoint: {module: m}\ndataset_path: ${durable}/a/${shared}\n");

    assertThat(launch.files().get(0).content())
        .asString()
        .contains("\"dataset_path\": \"/durable/a//shared\"");
  }

  @Test
  void aModuleIsRunByItsName() {
    assertThat(launch("backend: python\nentrypoint: {module: nexa.train}\n").command())
        .startsWith("python3", "-m", "nexa.train", "--config");
  }

  @Test
  void withSeveralNodesTorchrunStartsTheRanks() {
    Launch launch =
        launch(
            "backend: python\nentrypoint: {script: lib/train.py}\n",
            "resources: {time: 1m, nodes: 2}\n");

    assertThat(launch.template()).isEqualTo(Launch.DISTRIBUTED);
    assertThat(launch.command())
        .startsWith("torchrun", "--nnodes=2", "--nproc_per_node=1")
        .contains("--rdzv_endpoint=${master_addr}:${master_port}", "${run_dir}/runner/train.py");
  }

  @Test
  void aBackendSaysWhatItLacks() {
    assertThatThrownBy(() -> launch("backend: shell\n"))
        .hasMessageEndingWith(
            "run.yaml:1:1: run: missing; backend shell runs the text under this key");
    assertThatThrownBy(() -> launch("backend: python\n"))
        .hasMessageEndingWith(
            "run.yaml:1:1: entrypoint: missing; backend python starts its script or module");
  }

  private static Launch launch(String lines) {
    return launch(lines, "resources: {time: 1m}\n");
  }

  private static Launch launch(String lines, String resources) {
    Plan plan =
        Plans.of(
            new ConfigFolder()
                .with("run.yaml", "stage: train\n" + lines + resources)
                .with("lib/train.py", "")
                .with("configs/clusters/mine.yaml", Plans.CLUSTER));
    return Backends.builtIn(plan.backend()).orElseThrow().launch(plan);
  }
}
