package dev.nexa.slurm.run.reconcile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.records.documents.RunCost;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.records.runs.Workspaces;
import dev.nexa.slurm.run.results.TaskResults;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Metrics that money depends on: each number counts in each form, and the rest is reported. */
class ChargedMetricsTest {
  private static final int RUNS = SuiteSize.of("charged.runs", 120, 4000);
  private static final int TASKS = 6;

  private static final List<String> NO_BYTES =
      List.of(
          "-1",
          "\"-1\"",
          "1.5",
          "\"0.25\"",
          "1e-3",
          "9223372036854775808",
          "1e30",
          "\"1e999999999\"",
          "\"many\"",
          "\"\"",
          "\"  \"",
          "\"NaN\"",
          "\"Infinity\"",
          "\"0x10\"",
          "\"1_000\"",
          "\"1,000\"",
          "\"12 GB\"",
          "true",
          "[5]",
          "{\"bytes\": 5}");
  private static final List<String> NO_PART =
      List.of("-0.1", "1.01", "85", "\"85%\"", "\"high\"", "\"\"", "false", "[0.5]", "\"NaN\"");

  private final Random random = new Random(20261122);

  @Test
  void theSumIsExactOrWhatIsMissingIsReported() throws IOException {
    for (int i = 0; i < RUNS; i++) {
      RunFolder run = Workspaces.inMemory().claim("train", Rows.NOON.plusSeconds(i));
      BigDecimal sent = BigDecimal.ZERO;
      int told = 0;
      int wrongBytes = 0;
      int wrongParts = 0;
      int broken = 0;
      for (int task = 0; task < TASKS; task++) {
        List<String> members = new ArrayList<>(List.of("\"loss\": 0.5"));
        switch (random.nextInt(8)) {
          case 0 -> {}
          case 1 -> {
            members.add("\"egress_bytes\": " + oneOf(NO_BYTES));
            wrongBytes++;
          }
          case 2 -> {
            // Python's json writes this; it is no JSON.
            members.add("\"egress_bytes\": " + oneOf(List.of("NaN", "Infinity", "-Infinity")));
            broken++;
          }
          default -> {
            BigDecimal bytes = BigDecimal.valueOf(random.nextLong() >>> (1 + random.nextInt(60)));
            members.add("\"egress_bytes\": " + written(bytes));
            sent = sent.add(bytes);
            told++;
          }
        }
        if (random.nextBoolean() && !members.get(members.size() - 1).matches(".*(NaN|-?Inf\\w+)")) {
          boolean wrong = random.nextInt(4) == 0;
          members.add(
              "\"gpu_utilization\": "
                  + (wrong ? oneOf(NO_PART) : oneOf(List.of("0.5", "\"0.5\"", "5e-1", "1", "0"))));
          wrongParts += wrong ? 1 : 0;
        }
        write(run, task, "{" + String.join(", ", members) + "}");
      }
      List<String> problems = new ArrayList<>();
      RunState journal = Facts.journal(TASKS, "created submitting submitted confirmed");
      TaskResults results = TaskResults.read(run, journal, false, problems);

      assertThat(results.charged().egress().orElse(BigDecimal.ZERO)).isEqualByComparingTo(sent);
      assertThat(results.charged().egress().isPresent()).isEqualTo(told > 0);
      problems.removeIf(
          problem -> problem.contains("NaN or Infinity")); // that it is kept as a text
      assertThat(problems).hasSize(wrongBytes + wrongParts + broken);
      RunFacts facts = Facts.of(TASKS, 0);
      RunCost sum = CostRecord.cost(facts, journal, over(), results);
      JsonObject cost =
          CostRecord.of(facts, journal, over(), sum, results, EnumSet.of(JobState.NODE_FAIL))
              .json();
      assertThat(cost.texts("not_measured").contains("egress_gb"))
          .isEqualTo(told == 0 || wrongBytes + broken > 0);
      assertThat(cost.texts("not_measured").contains("idle_gpus")).isEqualTo(wrongParts > 0);
      assertThat(cost.members().containsKey("limits")).isEqualTo(!problems.isEmpty());
      if (wrongBytes + broken == 0 && told > 0) {
        assertThat(results.metrics().decimal("egress_bytes")).isEqualByComparingTo(sent);
      }
    }
  }

  /** The case of the issue: 3.5 of 5.5 GB were charged, and nothing was said. */
  @Test
  void aWholeNumberCountsInEachForm() throws IOException {
    RunFolder run = Workspaces.inMemory().claim("train", Rows.NOON);
    write(run, 0, "{\"egress_bytes\": 3500000000}");
    write(run, 1, "{\"egress_bytes\": 1000000000.0}");
    write(run, 2, "{\"egress_bytes\": \"1000000000\"}");
    List<String> problems = new ArrayList<>();

    TaskResults results =
        TaskResults.read(run, Facts.journal(3, "created submitting submitted"), false, problems);

    assertThat(problems).isEmpty();
    assertThat(results.charged().egress()).contains(new BigDecimal("5500000000"));
    assertThat(results.metrics()).hasToString("{\"egress_bytes\":5500000000}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"-5", "\"twelve\"", "0.5", "1e300", "true"})
  void whatIsNoNumberOfBytesNamesTaskKeyAndValue(String written) throws IOException {
    RunFolder run = Workspaces.inMemory().claim("train", Rows.NOON);
    write(run, 2, "{\"egress_bytes\": " + written + "}");
    List<String> problems = new ArrayList<>();

    TaskResults.read(run, Facts.journal(3, "created submitting submitted"), false, problems);

    assertThat(problems).hasSize(1);
    assertThat(problems.get(0))
        .startsWith(
            run.id()
                + ": task 2: egress_bytes: expected a whole number of bytes from 0 to"
                + " 9223372036854775807, got ")
        .endsWith(": the cost does not hold what the task sent out");
  }

  private static RunOutcome over() {
    return RunOutcome.of(
        Facts.of(TASKS, 0),
        Facts.journal(TASKS, "created submitting submitted confirmed"),
        Rows.accounting("0-5 COMPLETED 10-3610"),
        List.of(),
        Map.of(),
        Rows.NOON.plusSeconds(10_000));
  }

  /** The number as some program would write it. */
  private String written(BigDecimal bytes) {
    String plain = bytes.toPlainString();
    String form =
        switch (random.nextInt(5)) {
          case 0 -> plain + ".0";
          case 1 -> plain + ".000000";
          case 2 -> bytes.unscaledValue() + (random.nextBoolean() ? "e0" : "E+0");
          case 3 -> bytes.movePointLeft(3).toPlainString() + "e3";
          default -> plain;
        };
    return switch (random.nextInt(4)) {
      case 0 -> "\"" + form + "\"";
      case 1 -> "\" " + form + "\\n\"";
      case 2 -> "\"+" + form + "\"";
      default -> form;
    };
  }

  private String oneOf(List<String> values) {
    return values.get(random.nextInt(values.size()));
  }

  private static void write(RunFolder run, int task, String json) throws IOException {
    Path results = Files.createDirectories(run.submission(Rows.KEY).resolve("results"));
    Files.writeString(results.resolve(task + ".0.metrics.json"), json);
  }
}
