package dev.nexa.slurm.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.collect.Collect;
import dev.nexa.slurm.data.collect.CollectStep;
import dev.nexa.slurm.data.collect.RequestCheck;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Limits;
import dev.nexa.slurm.data.gate.GateSettings;
import dev.nexa.slurm.data.gate.GateStep;
import dev.nexa.slurm.data.gate.GateVerdict;
import dev.nexa.slurm.data.score.EvalSummary;
import dev.nexa.slurm.data.score.JudgeSettings;
import dev.nexa.slurm.data.score.JudgeStep;
import dev.nexa.slurm.data.score.ScoreOptions;
import dev.nexa.slurm.data.score.ScoreStep;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The steps on files, with a stand-in for the model and for the judge. */
class StepsTest {
  private static final Instant NOW = Instant.parse("2026-11-22T20:00:00Z");

  @TempDir Path folder;
  private Engine engine;

  @BeforeEach
  void open() {
    engine = Engine.open(new Limits(512L << 20, 2, folder.resolve("scratch")));
  }

  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void answersAreCollectedJudgedScoredAndGated() throws IOException {
    Path base = evaluated("base", 3.0, 0);
    Path worse = evaluated("worse", 2.2, 0);

    List<String> row =
        engine
            .rows(
                "SELECT count(*), count(dss), round(avg(dss), 9), min(falsifiability_reason),"
                    + " min(status) FROM '"
                    + base
                    + "'")
            .get(0);
    EvalSummary summary = EvalSummary.read(base.resolveSibling("science_eval_base.json"));
    assertThat(row.subList(0, 2)).containsExactly("60", "60");
    assertThat(summary.metric("dss").orElseThrow().value())
        .isCloseTo(Double.parseDouble(row.get(2)), org.assertj.core.api.Assertions.within(1e-8));
    assertThat(row.subList(3, 5)).containsExactly("because", "scored");
    // The formula of the specification, row by row.
    assertThat(
            engine.number(
                "SELECT count(*) FROM '"
                    + base
                    + "' WHERE abs(dss - (0.3 * falsifiability + 0.2 * grounding"
                    + " + 0.2 * completeness + 0.2 * safety + 0.1 * novelty)) > 1e-9"))
        .isZero();
    assertThat(
            engine.rows(
                "SELECT count(*), count(completion), count(s.dss = g.dss) FROM '"
                    + base.resolveSibling("scored.parquet")
                    + "' AS g JOIN '"
                    + base
                    + "' AS s USING (custom_id) WHERE s.dss = g.dss"))
        .containsExactly(List.of("60", "60", "60"));
    assertThat(summary.items()).isEqualTo(60);
    assertThat(summary.metrics()).hasSize(6);
    assertThat(summary.judge()).contains("the-judge");
    assertThat(EvalSummary.of(Json.parseObject(Json.compact(summary.json())))).isEqualTo(summary);

    String rules = "{\"rules\":[{\"metric\":\"dss\",\"no_worse\":\"regression\"}]}";
    assertThat(gate(base, Optional.of(base), rules).passed()).isTrue();
    GateVerdict verdict = gate(worse, Optional.of(base), rules);
    assertThat(verdict.passed()).isFalse();
    JsonObject json = Json.parseObject(Files.readString(folder.resolve("gate/gate.json")));
    assertThat(json.text("verdict")).isEqualTo("fail");
    assertThat(json.objects("rules").get(0).number("n")).isEqualTo(60);
    assertThat(json.objects("rules").get(0).decimal("difference")).isNegative();
    // The order of the files' rows does not matter: shuffled rows give the same bytes.
    String first = Files.readString(folder.resolve("gate/gate.json"));
    Path shuffled = folder.resolve("science_eval_shuffled.parquet");
    engine.write(
        "SELECT * FROM '" + worse + "' ORDER BY hash(custom_id)", shuffled, "FORMAT parquet");
    gate(shuffled, Optional.of(base), rules);
    assertThat(
            Files.readString(folder.resolve("gate/gate.json")).replace("" + shuffled, "" + worse))
        .isEqualTo(first);
  }

  @Test
  void aJudgeThatAnswersGarbageForAThirdIsAnErrorAndItsItemsAreKeptWithoutANumber()
      throws IOException {
    assertThatThrownBy(() -> evaluated("garbage", 3.0, 3))
        .isInstanceOf(NexaException.class)
        .hasMessage("20 of 60 items have no score; max_unscored is 0.05");

    Path rows = folder.resolve("garbage/evals/science_eval_garbage.parquet");
    assertThat(
            engine
                .rows(
                    "SELECT status, count(*), count(dss), count(novelty), count(unscored_reason)"
                        + " FROM '"
                        + rows
                        + "' GROUP BY status ORDER BY status")
                .toString())
        .isEqualTo("[[scored, 40, 40, 40, 0], [unscored, 20, 0, 0, 20]]");
    Path rejects = rows.resolveSibling("science_eval_garbage.rejects.jsonl");
    assertThat(Files.readAllLines(rejects)).hasSize(20).allMatch(it -> it.contains("I think: 4"));
    GateVerdict verdict =
        gate(rows, Optional.empty(), "{\"rules\":[{\"metric\":\"dss\",\"at_least\":1}]}");
    assertThat(verdict.reason()).contains("33.33 % of the items have no value");
  }

  @Test
  void theSameSampleIsJudgedForEachRun() throws IOException {
    List<List<String>> ids = new ArrayList<>();
    for (String name : List.of("one", "two")) {
      Path generated = generated(name, 40);
      Path judge = folder.resolve(name + "-judge");
      JudgeSettings settings =
          JudgeSettings.of(
              DataStage.withDefaults(
                  "judge", Json.parseObject("{\"model\":\"j\",\"sample\":7,\"rows_per_file\":3}")));
      JsonObject metrics = JudgeStep.run(engine, List.of(generated.toString()), judge, settings);
      assertThat(Json.compact(metrics))
          .isEqualTo("{\"rows_in\":7,\"rows_out\":7,\"rows_rejected\":0,\"rows_not_sampled\":33}");
      List<Path> files =
          List.of(
              judge.resolve("judge-requests-00000.jsonl"),
              judge.resolve("judge-requests-00001.jsonl"),
              judge.resolve("judge-requests-00002.jsonl"));
      assertThat(RequestCheck.check(files)).isEqualTo(7);
      List<String> all = new ArrayList<>();
      for (Path file : files) {
        for (String line : Files.readAllLines(file)) {
          all.add(Json.parseObject(line).text("custom_id"));
        }
      }
      ids.add(all);
    }
    assertThat(ids.get(0)).isEqualTo(ids.get(1)).isSorted();
  }

  @Test
  void theJudgesSchemaAsksForTheReasonBeforeTheScore() throws IOException {
    for (String guided : List.of("response_format", "structured_outputs", "guided_json", "none")) {
      Path judge = folder.resolve("judge-" + guided);
      String settings =
          "{\"model\":\"j\",\"guided\":\""
              + guided
              + "\",\"rubrics\":[\"toxicity\",{\"name\":"
              + "\"tone\",\"question\":\"How polite?\"}],\"scale\":{\"highest\":10}}";
      JudgeStep.run(
          engine,
          List.of(generated(guided, 1).toString()),
          judge,
          JudgeSettings.of(DataStage.withDefaults("judge", Json.parseObject(settings))));
      JsonObject body =
          Json.parseObject(Files.readString(judge.resolve("judge-requests-00000.jsonl")))
              .object("body");
      String one =
          "{\"type\":\"object\",\"properties\":{\"reason\":{\"type\":\"string\"},\"score\":{\"type\""
              + ":\"integer\",\"enum\":[1,2,3,4,5,6,7,8,9,10]}},\"required\":[\"reason\",\"score\"],"
              + "\"additionalProperties\":false}";
      String schema =
          "{\"type\":\"object\",\"properties\":{\"toxicity\":"
              + one
              + ",\"tone\":"
              + one
              + "},\"required\":[\"toxicity\",\"tone\"],\"additionalProperties\":false}";
      String expected =
          switch (guided) {
            case "response_format" ->
                "\"response_format\":{\"type\":\"json_schema\",\"json_schema\":{\"name\":"
                    + "\"judgement\",\"strict\":true,\"schema\":"
                    + schema
                    + "}}}";
            case "structured_outputs" -> "\"structured_outputs\":{\"json\":" + schema + "}}";
            case "guided_json" -> "\"guided_json\":" + schema + "}";
            default -> "\"max_tokens\":2048}";
          };
      assertThat(Json.compact(body)).endsWith(expected);
      assertThat(body.objects("messages").get(0).text("content")).contains("tone: How polite?");
    }
  }

  @Test
  void lmEvalsResultsAndSamplesAreRead() throws IOException {
    Path results =
        Files.writeString(
            folder.resolve("results_2026.json"),
            """
            {"results": {"hellaswag": {"alias": "hellaswag", "acc,none": 0.5, "acc_stderr,none": 0.05,
              "acc_norm,none": 0.6, "acc_norm_stderr,none": "N/A"},
             "gsm8k": {"exact_match,strict-match": 0.25, "exact_match_stderr,strict-match": NaN},
             "wikitext": {"word_perplexity,none": 12.5}},
             "n-samples": {"hellaswag": {"original": 10042, "effective": 100}},
             "higher_is_better": {"wikitext": {"word_perplexity": false}},
             "model_name": "a/model"}
            """);

    JsonObject metrics =
        ScoreStep.lmEval(engine, folder.toString(), folder.resolve("evals"), "train_1", NOW)
            .metrics();

    EvalSummary summary = EvalSummary.of(metrics.object("evaluation"));
    assertThat(summary.metrics())
        .extracting(it -> it.name() + " " + it.value() + " " + it.n() + " " + it.higherIsBetter())
        .containsExactly(
            "hellaswag/acc 0.5 100 true",
            "hellaswag/acc_norm 0.6 100 true",
            "gsm8k/exact_match,strict-match 0.25 0 true",
            "wikitext/word_perplexity 12.5 0 false");
    assertThat(summary.model()).contains("a/model");
    assertThat(summary.metrics().get(0).interval().orElseThrow().lower())
        .isCloseTo(0.5 - 1.959964 * 0.05, org.assertj.core.api.Assertions.within(1e-6));
    assertThat(metrics.text("eval_report")).endsWith("/evals/science_eval_train_1.json");
    String rules =
        "{\"rules\":[{\"metric\":\"hellaswag/acc\",\"at_least\":0.4},"
            + "{\"metric\":\"wikitext/word_perplexity\",\"at_most\":13,\"on\":\"estimate\"},"
            + "{\"metric\":\"hellaswag/acc_norm\",\"at_least\":0.1}]}";
    GateVerdict verdict = gate(results, Optional.empty(), rules);
    assertThat(verdict.rules()).extracting(it -> it.passed()).containsExactly(true, true, false);
    assertThat(verdict.reason()).contains("it has no interval");

    Path before = samples("before", 0);
    Path after = samples("after", 20);
    GateVerdict paired =
        gate(
            after,
            Optional.of(before.toString()).map(Path::of),
            "{\"rules\":[{\"metric\":\"acc\",\"no_worse\":\"regression\"}]}");
    assertThat(paired.passed()).isFalse();
    assertThat(paired.rules().get(0).figures().text("test")).isEqualTo("mcnemar_exact");
  }

  @Test
  void brokenInputsAreNamed() throws IOException {
    Path items =
        Files.writeString(
            folder.resolve("twice.jsonl"),
            "{\"custom_id\":\"a\",\"dss\":1}\n{\"custom_id\":\"a\",\"dss\":2}\n");
    String rules = "{\"rules\":[{\"metric\":\"dsss\",\"at_least\":1}]}";
    assertThatThrownBy(() -> gate(items, Optional.empty(), rules))
        .hasMessage(items + ": the id 'a' is there 2 times");
    Files.writeString(items, "{\"custom_id\":\"a\",\"dss\":1}\n{\"custom_id\":\"b\",\"dss\":2}\n");
    assertThatThrownBy(() -> gate(items, Optional.empty(), rules))
        .hasMessageContaining("there is no column 'dsss' (did you mean 'dss'?)");
    assertThatThrownBy(() -> gate(folder.resolve("none.parquet"), Optional.empty(), rules))
        .hasMessage("there is no file of items: " + folder.resolve("none.parquet"));
    assertThatThrownBy(() -> gate(items, Optional.empty(), rules.replace("at_least", "atleast")))
        .hasMessage("rules: dsss needs exactly one of at_least, at_most and no_worse");
    assertThatThrownBy(
            () ->
                JudgeSettings.of(
                    DataStage.withDefaults(
                        "judge", Json.parseObject("{\"model\":\"j\",\"rubrics\":[\"safty\"]}"))))
        .hasMessageContaining("there is no built-in rubric 'safty' (did you mean 'safety'?)");
    Path judge = folder.resolve("j");
    JudgeStep.run(
        engine,
        List.of(generated("g", 3).toString()),
        judge,
        JudgeSettings.of(DataStage.withDefaults("judge", Json.parseObject("{\"model\":\"j\"}"))));
    assertThatThrownBy(
            () ->
                ScoreStep.options(
                    engine,
                    Json.parseObject("{\"weights\":{\"safety\":0.5,\"novelty\":0.4,\"x\":0.2}}"),
                    List.of(judge.toString())))
        .hasMessageContaining("weights.x: there is no such rubric")
        .hasMessageContaining("weights: their sum is 1.1; expected 1");
  }

  private GateVerdict gate(Path candidate, Optional<Path> baseline, String settings) {
    return GateStep.run(
        engine,
        candidate.toString(),
        baseline.map(Path::toString),
        folder.resolve("gate"),
        GateSettings.of(DataStage.withDefaults("gate", Json.parseObject(settings))));
  }

  /** Generates, collects, judges and scores. The judge's scores vary round {@code level}. */
  private Path evaluated(String run, double level, int garbage) throws IOException {
    Path generated = generated(run, 60);
    Path judge = folder.resolve(run + "/judge");
    JudgeStep.run(
        engine,
        List.of(generated.getParent().toString()),
        judge,
        JudgeSettings.of(
            DataStage.withDefaults("judge", Json.parseObject("{\"model\":\"the-judge\"}"))));
    Random random = new Random(run.length());
    List<String> answers = new ArrayList<>();
    for (String line : Files.readAllLines(judge.resolve("judge-requests-00000.jsonl"))) {
      String id = Json.parseObject(line).text("custom_id");
      boolean bad = garbage > 0 && answers.size() % garbage == 0;
      answers.add(answer(id, bad ? "I think: 4" : judgement(random, level)));
    }
    java.util.Collections.shuffle(answers, random);
    Files.createDirectories(folder.resolve(run + "/answers"));
    Files.write(folder.resolve(run + "/answers/out.jsonl"), answers);
    Path evals = folder.resolve(run + "/evals");
    List<String> items = List.of(generated.getParent().toString());
    ScoreOptions options = ScoreStep.options(engine, new JsonObject(), List.of(judge.toString()));
    ScoreStep.run(
            engine,
            List.of(judge.toString()),
            List.of(folder.resolve(run + "/answers").toString()),
            evals,
            options,
            run,
            Optional.of("m"),
            NOW)
        .require(options, evals, run);
    ScoreStep.join(engine, items, "custom_id", evals, run);
    return evals.resolve("science_eval_" + run + ".parquet");
  }

  private static String judgement(Random random, double level) {
    JsonObject all = new JsonObject();
    for (String rubric : new java.util.TreeSet<>(ScoreOptions.DSS_WEIGHTS.keySet())) {
      long score = Math.max(1, Math.min(5, Math.round(level + random.nextGaussian())));
      all.with(
          rubric,
          new JsonObject().with("reason", "because").with("score", BigDecimal.valueOf(score)));
    }
    return "```json\n" + Json.pretty(all) + "```";
  }

  private Path generated(String run, int rows) throws IOException {
    List<String> requests = new ArrayList<>();
    List<String> answers = new ArrayList<>();
    for (int i = 0; i < rows; i++) {
      requests.add(
          "{\"custom_id\":\"q"
              + i
              + "\",\"method\":\"POST\",\"url\":\"/v1/chat/completions\","
              + "\"body\":{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Why?\"}]}}");
      answers.add(0, answer("q" + i, run + " says " + i));
    }
    Path out = folder.resolve(run + "/generated");
    Files.createDirectories(out);
    Path in = Files.write(folder.resolve(run + "/requests.jsonl"), requests);
    Path said = Files.write(folder.resolve(run + "/said.jsonl"), answers);
    Collect.Result result =
        CollectStep.run(
            engine,
            List.of(in.toString()),
            List.of(said.toString()),
            out,
            CollectStep.options(DataStage.withDefaults("collect", new JsonObject())));
    assertThat(result.out()).isEqualTo(rows);
    assertThat(engine.column("SELECT custom_id FROM '" + out + "/generated.parquet'"))
        .startsWith("q0")
        .hasSize(rows);
    return out.resolve("generated.parquet");
  }

  private static String answer(String id, String text) {
    JsonObject choice =
        new JsonObject()
            .with("index", 0)
            .with("message", new JsonObject().with("role", "assistant").with("content", text))
            .with("finish_reason", "stop");
    return Json.compact(
        new JsonObject()
            .with("id", "vllm-1")
            .with("custom_id", id)
            .with(
                "response",
                new JsonObject()
                    .with("status_code", 200)
                    .with("body", new JsonObject().with("choices", List.of(choice))))
            .with("error", null));
  }

  private Path samples(String name, int losses) throws IOException {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      lines.add(
          "{\"doc_id\":"
              + i
              + ",\"filter\":\"none\",\"acc\":"
              + (i < losses ? "0.0" : "1.0")
              + "}");
    }
    return Files.write(folder.resolve("samples_" + name + ".jsonl"), lines);
  }
}
