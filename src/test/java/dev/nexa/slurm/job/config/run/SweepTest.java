package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.ConfigFolder;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SweepTest {
  private static final String RUN =
      "stage: train\nbackend: shell\nrun: echo\nresources: {time: 10m}\nsweep: ";

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {lr: [1e-5, 2e-5], seed: [1, 2]}    | {"lr":0.00001,"seed":1} {"lr":0.00001,"seed":2} {"lr":0.00002,"seed":1} {"lr":0.00002,"seed":2}
          {seed: [1, 2], lr: [1e-5, 2e-5]}    | {"seed":1,"lr":0.00001} {"seed":1,"lr":0.00002} {"seed":2,"lr":0.00001} {"seed":2,"lr":0.00002}
          {method: grid, seed: [3]}           | {"seed":3}
          {method: zip, seed: [1, 2], options.a.b: [x, [y, z]]} | {"seed":1,"options.a.b":"x"} {"seed":2,"options.a.b":["y","z"]}
          {method: list, points: [{fp16: true}, {seed: 7, options.x: {y: 1}}]}  | {"fp16":true} {"seed":7,"options.x":{"y":1}}
          """)
  void thePointsAreTheTasksInOrder(String sweep, String points) {
    assertThat(String.join(" ", texts(points(sweep)))).isEqualTo(points);
  }

  /** Written down once: whoever runs the same sweep in ten years gets these. */
  @Test
  void aRandomSweepDrawsTheSamePointsForEver() {
    String sweep =
        "{method: random, samples: 4, random_seed: 7, lr: {min: 1e-6, max: 1e-3, scale: log},"
            + " seed: {min: 1, max: 100}, kd_temperature: {min: 1, max: 2.5}, model_name: [a, b, c]}";

    assertThat(texts(points(sweep)))
        .containsExactly(
            "{\"lr\":0.00005459,\"seed\":27,\"kd_temperature\":2.450,\"model_name\":\"a\"}",
            "{\"lr\":0.00005732,\"seed\":57,\"kd_temperature\":2.264,\"model_name\":\"b\"}",
            "{\"lr\":0.000006272,\"seed\":95,\"kd_temperature\":1.001,\"model_name\":\"c\"}",
            "{\"lr\":0.00001175,\"seed\":15,\"kd_temperature\":1.115,\"model_name\":\"c\"}");
  }

  @Test
  void anotherKeyOrMoreSamplesChangeNoneOfTheOthersValues() {
    List<JsonObject> few = points("{method: random, samples: 5, seed: {min: 0, max: 1000000}}");
    List<JsonObject> more =
        points(
            "{method: random, samples: 50, epochs: {min: 1, max: 9}, seed: {min: 0, max: 1000000}}");

    assertThat(few)
        .extracting(point -> point.number("seed"))
        .isEqualTo(more.subList(0, 5).stream().map(point -> point.number("seed")).toList());
  }

  @Test
  void drawsStayInTheirRangeAndReachAllOfIt() {
    Set<Long> whole = new HashSet<>();
    int low = 0;
    for (JsonObject point :
        points(
            "{method: random, samples: 600, seed: {min: 3, max: 5},"
                + " lr: {min: 1e-6, max: 1e-2, scale: log}, epochs: {min: 1, max: 3}}")) {
      whole.add(point.number("seed"));
      assertThat(point.decimal("lr")).isBetween(new BigDecimal("0.000001"), new BigDecimal("0.01"));
      assertThat(point.decimal("epochs").scale()).isZero();
      low += point.decimal("lr").compareTo(new BigDecimal("0.0001")) < 0 ? 1 : 0;
    }
    assertThat(whole).containsExactlyInAnyOrder(3L, 4L, 5L);
    assertThat(low).isBetween(250, 350);
  }

  @Test
  void samplesDifferFromEachOtherAndWhereThereAreTooFewItSaysSo() {
    assertThat(points("{method: random, samples: 6, seed: [1, 2, 3], fp16: [true, false]}"))
        .hasSize(6);
    assertThat(problems("{method: random, samples: 7, seed: [1, 2, 3], fp16: [true, false]}"))
        .containsExactly(
            "run.yaml:5:34: sweep.samples: only 6 different points were drawn; ask for fewer");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {}                                         | run.yaml:5:8: sweep: names no values to try, such as lr: [1e-5, 2e-5]
          {lr: []}                                   | run.yaml:5:13: sweep.lr: is empty: name the values to try
          {lr: 1e-5}                                 | run.yaml:5:13: sweep.lr: expected a list of numbers, or {min: …, max: …, scale: log}, got a number '1e-5'; write lr: [1e-5]
          {seed: [1, 1.5]}                           | run.yaml:5:19: sweep.seed[1]: expected a whole number from 0 to 2000000000, got '1.5': write 1 or 2
          {lrr: [1]}                                 | run.yaml:5:9: sweep.lrr: unknown key (did you mean 'lr'?)
          {option.x: [1]}                            | run.yaml:5:9: sweep.option.x: unknown key; the nearest known keys are points, options.NAME, method; `nexa-slurm explain config` lists all
          {seed: {min: 1, max: 2}}                   | run.yaml:5:15: sweep.seed: a range needs method: random; grid takes a list
          {method: zip, seed: [1], lr: [1, 2]}       | run.yaml:5:37: sweep.lr: has 2 values, but seed has 1
          {method: list, seed: [1], points: [{lr: 1}]} | run.yaml:5:29: sweep.seed: method: list takes its values from points
          {points: [{lr: 1}]}                        | run.yaml:5:17: sweep.points: needs method: list
          {seed: [1], samples: 2}                    | run.yaml:5:29: sweep.samples: needs method: random
          {method: random, seed: [1]}                | run.yaml:5:17: sweep: method: random needs samples: how many points
          {method: random, samples: 2, lr: {min: 0, max: 1, scale: log}} | run.yaml:5:41: sweep.lr: expected min below max, and above 0 where scale: log
          {method: random, samples: 2, seed: {min: 2, max: 1}} | run.yaml:5:43: sweep.seed: expected min below max, and above 0 where scale: log
          {lr: [1e-5, 0.00001]}                      | run.yaml:5:8: sweep: points 0 and 1 (from 0) are the same: {"lr":0.00001}
          {lr: [1], options.lr: [2]}                 | run.yaml:5:8: sweep: lr and options.lr would both be NEXA_SWEEP_LR
          {fp16: [false, true], bf16: [true]}        | run.yaml:5:36: bf16: fp16 is true too; a run has one precision (point 1: {"fp16":true,"bf16":true})
          {method: list, points: [{seed: 1}, {lora_r: 8}]} | run.yaml:5:52: lora_r: needs adapter: lora or qlora (point 1: {"lora_r":8})
          """)
  void whatIsWrongIsToldWithItsPlace(String sweep, String problem) {
    assertThat(problems(sweep)).containsExactly(problem);
  }

  @Test
  void tenThousandPointsAreTheMost() {
    String hundred = String.join(", ", numbers(100));
    String more = String.join(", ", numbers(101));

    assertThat(points("{seed: [" + hundred + "], save_steps: [" + hundred + "]}")).hasSize(10_000);
    assertThat(problems("{seed: [" + hundred + "], save_steps: [" + more + "]}"))
        .containsExactly(
            "run.yaml:5:8: sweep: has more than 10000 points; try fewer values, or method: random");
  }

  @Test
  void aSweepsTasksAreItsPointsSoItHasNoShardsButMayHaveMaxParallel() {
    assertThat(problems("{seed: [1]}\narray: {shards: 2}"))
        .containsExactly(
            "run.yaml:6:17: array.shards: a sweep's tasks are its points; leave it out, or divide"
                + " each point's work itself");
    assertThat(config("{seed: [1, 2]}\narray: {max_parallel: 1}").array().maxParallel())
        .contains(1);
  }

  @Test
  void whatTheRunItselfSaysIsOnlyCheckedTogetherWithThePoint() {
    assertThat(config("{adapter: [lora, qlora]}\nlora_r: 8").array().points()).hasSize(2);
  }

  @Test
  void theCommandLineMaySetItsValues() {
    RunConfig config =
        new ConfigFolder().with("run.yaml", RUN + "{seed: [1]}\n").run("sweep.seed=[4, 5, 6]");

    assertThat(config.array().points()).hasSize(3);
  }

  private static List<String> numbers(int count) {
    List<String> numbers = new ArrayList<>();
    for (int i = 1; i <= count; i++) {
      numbers.add("" + i);
    }
    return numbers;
  }

  private static List<String> texts(List<JsonObject> points) {
    return points.stream().map(JsonObject::toString).toList();
  }

  private static List<JsonObject> points(String sweep) {
    return config(sweep).array().points();
  }

  private static RunConfig config(String sweep) {
    return new ConfigFolder().with("run.yaml", RUN + sweep + "\n").run();
  }

  private static List<String> problems(String sweep) {
    return new ConfigFolder().with("run.yaml", RUN + sweep + "\n").problems();
  }
}
