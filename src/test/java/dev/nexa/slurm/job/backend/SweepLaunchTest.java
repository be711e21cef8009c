package dev.nexa.slurm.job.backend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Plans;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SweepLaunchTest {
  private static final String RUN = "stage: train\nresources: {time: 1h}\n";
  private static final String PYTHON =
      RUN + "backend: python\nentrypoint: {module: m, config: false}\n";

  @Test
  void aFileThatDiffersLiesInTheTasksFolderAndTheCommandNamesItThere() {
    Launch launch =
        launch(
            RUN
                + "backend: hf\nmodel_name: a-1b\ndataset_path: /d.jsonl\nlr: 1\n"
                + "sweep: {lr: [1e-5, 2e-5]}\n");

    assertThat(launch.files())
        .extracting(RunnerFile::name)
        .containsExactly("trl_resume.py", "0/trl.yaml", "1/trl.yaml");
    assertThat(text(launch.files().get(2))).contains("learning_rate: 0.00002\n");
    assertThat(launch.command()).contains("${run_dir}/runner/${task}/trl.yaml");
    assertThat(launch.command()).contains("${checkpoints}");
    assertThat(launch.words()).containsExactly(List.of(), List.of());
  }

  @Test
  void aFileThatIsTheSameIsKeptOnce() {
    Launch launch = launch(RUN + "backend: shell\nrun: echo\nsweep: {seed: [1, 2, 3]}\n");

    assertThat(launch.files()).extracting(RunnerFile::name).containsExactly("run.sh");
    assertThat(launch.command()).containsExactly("bash", "${run_dir}/runner/run.sh");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          options: {a: 1, b: 2}#sweep: {options.a: [3, 4]}    | python3 -m m --a ? --b 2   | 3;4
          sweep: {options.flag: [true, false]}                | python3 -m m ?             | --flag;-
          options: {z: 1}#sweep: {options.flag: [false, true], options.a: [1]} | python3 -m m --z 1 ? --a 1 | -;--flag
          sweep: {options.a.b: [1, 2], options.a.c: [x]}      | python3 -m m --a.b ? --a.c x | 1;2
          sweep: {options.many: [[1, 2], [3, 4]]}             | python3 -m m --many ? ?    | 1 2;3 4
          sweep: {seed: [1, 2]}                               | python3 -m m               | ;
          """)
  void aWordThatDiffersIsEachTasksOwn(String lines, String command, String words) {
    Launch launch = launch(PYTHON + lines.replace("#", "\n") + "\n");

    assertThat(String.join(" ", launch.command()).replace(Launch.VARIED, "?")).isEqualTo(command);
    assertThat(launch.words().stream().map(SweepLaunchTest::shown).toList())
        .containsExactly(words == null ? new String[] {"", ""} : words.split(";", -1));
  }

  @Test
  void theModelMayDiffer() {
    Launch launch =
        launch(
            RUN
                + "backend: vllm\noptions: {input_file: i, output_file: \"o_${task}\"}\n"
                + "sweep: {model_name: [a, \"b c\"]}\n");

    assertThat(launch.command()).containsSequence("--model", Launch.VARIED, "--input-file");
    assertThat(launch.words())
        .containsExactly(List.of(Optional.of("a")), List.of(Optional.of("b c")));
  }

  @Test
  void whatARunnerRefusesIsToldOnceWithThePointAndWhereItStands() {
    assertThatThrownBy(
            () ->
                launch(
                    RUN
                        + "backend: hf\nmodel_name: m-1b\ndataset_path: d\n"
                        + "sweep: {strategy: [ddp, fsdp], seed: [1, 2]}\n"))
        .hasMessage(
            "/home/ada/science/run.yaml:6:19: sweep.strategy: hf keeps the whole model on each"
                + " rank; write backend: accelerate (point 2: {\"strategy\":\"fsdp\",\"seed\":1})");
    assertThatThrownBy(
            () ->
                launch(
                    RUN
                        + "backend: hf\nmodel_name: m-1b\ndataset_path: d\n"
                        + "sweep: {options.learning_rat: [1, 2]}\n"))
        .hasMessageContaining("run.yaml:6:31: sweep.options.learning_rat: trl 1.13.0 has no option")
        .hasMessageContaining("(did you mean 'learning_rate'?)");
    assertThatThrownBy(
            () ->
                launch(
                    RUN
                        + "backend: hf\nmodel_name: m-1b\ndataset_path: d\n"
                        + "sweep: {method: list, points: [{seed: 1}, {options.x: 2}]}\n"))
        .hasMessageContaining("run.yaml:6:55: sweep.points[1].options.x: trl 1.13.0 has no option");
  }

  @Test
  void whatTheRunnerMakesNothingOfIsNotPaidForTwice() {
    assertThatThrownBy(
            () ->
                launch(
                    RUN
                        + "backend: vllm\nmodel_name: a\noptions: {input_file: i, output_file: o}\n"
                        + "sweep: {lr: [1, 2]}\n"))
        .hasMessageEndingWith(
            "run.yaml:6:8: sweep: backend vllm makes the very same of {\"lr\":1} and {\"lr\":2}");
  }

  @Test
  void aValueThatOnlyANodeKnowsCannotDiffer() {
    assertThatThrownBy(() -> launch(PYTHON + "sweep: {options.rank: [\"${node_rank}\", \"0\"]}\n"))
        .hasMessageEndingWith("run.yaml:5:8: sweep: no value of a point may hold ${node_rank}");
  }

  private static Launch launch(String config) {
    Plan plan = Plans.of(config, Plans.CLUSTER);
    return Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow());
  }

  private static String shown(List<Optional<String>> words) {
    return String.join(" ", words.stream().map(word -> word.orElse("-")).toList());
  }

  private static String text(RunnerFile file) {
    return new String(file.content(), StandardCharsets.UTF_8);
  }
}
