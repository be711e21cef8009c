package dev.nexa.slurm.job.config.steps;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.data.score.Rubric;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The steps of an evaluation in a config: what they may not say, and what their job runs. */
class EvaluationKeysTest {
  private static final String STAGE =
      "stage: data\nbackend: data\nresources: {time: 5m, memory: 1G}\n";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal = new Terminal(folder);
  }

  private Terminal.Screen render(String config) {
    terminal.file("run.yaml", config);
    return terminal.type("render", "run.yaml", "--cluster", "local", "--files");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "collect: {requests: [/r]} | data.collect.answers: missing",
        "collect: {requests: [r], answers: [/a]} | data.collect.requests: expected an absolute path",
        "collect: {requests: [/r], answers: [/a], max_lost: 2} | data.collect.max_lost: expected a share from 0 to 1",
        "judge: {input: [/i], model: m, rubrics: [safty]} | data.judge.rubrics",
        "judge: {input: [/i], model: m, rubrics: [safety, safety]} | a rubric is there twice",
        "judge: {input: [/i], model: m, scale: {lowest: 5}} | data.judge.scale.highest: must be greater than lowest",
        "judge: {input: [/i], model: m, scale: {highest: 2.5}} | data.judge.scale.integers: lowest or highest is not whole",
        "score: {requests: [/r], run_id: v1} | expected requests and answers of a judge, or lm_eval, and not both",
        "score: {requests: [/r], answers: [/a], lm_eval: /l} | expected requests and answers of a judge, or lm_eval",
        "score: {requests: [/r], answers: [/a], weights: {safety: 0.5, novelty: 0.4}} | data.score.weights: their sum is 0.9; expected 1",
        "gate: {candidate: /c, rules: []} | data.gate.rules: at least one rule is needed",
        "gate: {candidate: /c, rules: [{metric: dss}]} | needs exactly one of at_least, at_most and no_worse",
        "gate: {candidate: /c, rules: [{metric: dss, at_least: 1, at_most: 2}]} | needs exactly one of at_least",
        "gate: {candidate: /c, rules: [{metric: dss, no_worse: regression}]} | no_worse: needs data.gate.baseline",
        "gate: {candidate: /c, baseline: /b, rules: [{metric: dss, no_worse: non_inferiority}]} | non_inferiority needs a minimum_effect above 0",
        "gate: {candidate: /c, alpha: 0.5, rules: [{metric: dss, at_least: 1}]} | data.gate.alpha: expected a number between 0 and 0.5",
        "gate: {candidate: /c, rules: [{metric: dss, at_least: 1, minimum_effect: 1}]} | minimum_effect: goes with no_worse only",
      })
  void aWrongKeyIsNamed(String keys, String message) {
    Terminal.Screen screen = render(STAGE + "data: {" + keys + "}\n");

    assertThat(screen.exit()).as(screen.out()).isEqualTo(2);
    assertThat(screen.err()).contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "collect: {requests: [/r], answers: [/a]}",
        "judge: {input: [/i], model: m}",
        "score: {lm_eval: /l}",
        "gate: {candidate: /c, rules: [{metric: dss, at_least: 1}]}",
      })
  void anArrayIsRefused(String keys) {
    Terminal.Screen screen = render(STAGE + "array: {shards: 2}\ndata: {" + keys + "}\n");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("so it needs one task, not 2");
  }

  @Test
  void pathsAreWordsOfTheCommandAndTheOtherKeysAreSettings() {
    Terminal.Screen screen =
        render(
            STAGE
                + "data: {gate: {candidate: '${durable}/a b', baseline: /b, rules: [{metric: dss,"
                + " no_worse: regression}]}}\n");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .containsPattern(
            "data gate --settings \\S+ --candidate \\S*NEXA_DURABLE\\S*.a b\\S* --baseline /b")
        .contains("\"rules\": [\n    {\"metric\":\"dss\",\"no_worse\":\"regression\"}\n  ]")
        .contains("\"alpha\": 0.05")
        .doesNotContain("\"candidate\"");
  }

  /** The room {@code data} lies behind the room {@code job}, which therefore repeats the names. */
  @Test
  void theConfigKnowsEachBuiltInRubric() {
    assertThat(JudgeKeys.RUBRICS).isEqualTo(Rubric.BUILT_IN.stream().map(Rubric::name).toList());
  }

  @Test
  void theConfigOnThePageIsValid() throws IOException {
    String page = Files.readString(Path.of("docs/evaluation.md"));
    int at = page.indexOf("```yaml\n") + 8;

    Terminal.Screen screen = render(page.substring(at, page.indexOf("```", at)));

    assertThat(screen.exit()).as(screen.err()).isZero();
  }
}
