package dev.nexa.slurm.records.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The reader of samples, their summary, the notes, and the loss curves. */
class TelemetryTest {
  private static final String HEAD =
      "h,1,number=0,nodes=1,interval=10,gpus=2,source=nvidia-smi,activity=none,cpus=4,memory=1000000\n";

  @TempDir Path folder;

  @Test
  void seriesHaveTimesAndFiguresOverTime() throws IOException {
    NodeTelemetry node =
        read(
            HEAD
                + "d,0,GPU-a,1000\nd,1,GPU-b,1000\n"
                + "g,100.00,0,0,,10,100.5,40\nn,100.00,0,500,0,0,0,0\n"
                // The first value held for no time: P50 is that of the later ones.
                + "g,110.00,0,90,,20,300,50\nn,110.00,20000000,600,1000,0,50,0\n"
                + "g,120.00,0,90,,20,300,50\nn,120.00,40000000,700,3000,0,50,0\n"
                + "e,120.00,end,0\n");

    Series use = series(node, Measure.GPU_UTILIZATION);
    assertThat(use.points())
        .extracting(point -> point.at().getEpochSecond())
        .containsExactly(100L, 110L, 120L);
    assertThat(use.spread().quantile(0.5)).hasValue(90);
    assertThat(use.spread().mean()).hasValue(90);
    // 20 s of CPU in 10 s on four CPUs.
    assertThat(series(node, Measure.CPU_UTILIZATION).spread().mean().orElse(0)).isEqualTo(50);
    assertThat(series(node, Measure.DISK_READ).spread().peak()).hasValue(200);
    assertThat(node.totals().readBytes()).hasValue(3000L);
    assertThat(node.facts().memoryBytes()).hasValue(1_000_000L);
    assertThat(node.gpuMemoryBytes()).isEqualTo(2000L << 20);
    assertThat(node.ended()).isTrue();
    assertThat(node.samples()).isEqualTo(3);
  }

  @Test
  void brokenLinesAreCountedAndNeverFatal() throws IOException {
    NodeTelemetry node =
        read(
            HEAD
                + "g,100.00,0,97,,40,,\n"
                + "g,100.00,0,ninety,,40,,\n"
                + "g,100.00,99999,97,,40,,\n"
                + "g,1e99,0,97,,40,,\n"
                + "n,1,2\n"
                + "\u00ff\u0000,\n"
                + "x".repeat(100_000)
                + "\n"
                + "e,101.00,fewer,1\ne,102.00,hang,40\n"
                + "g,110.00,0,9"); // the node lost power

    assertThat(node.brokenLines()).isEqualTo(7);
    assertThat(series(node, Measure.GPU_UTILIZATION).points()).hasSize(1);
    assertThat(node.fewestGpus()).hasValue(1);
    assertThat(node.hangs()).isEqualTo(1);
    assertThat(node.ended()).isFalse();
  }

  @Test
  void aLongFileIsReadInBoundedMemoryAndItsNewestSampleFromItsEnd() throws IOException {
    Path file = folder.resolve("0.0.telemetry.n1.csv");
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      out.write(HEAD);
      for (int i = 0; i < 50_000; i++) {
        out.write("g," + (1000 + i * 10) + ".00,0," + i % 101 + ",,10,,\n");
        out.write("n," + (1000 + i * 10) + ".50," + i * 1000L + ",5,,,,\n");
      }
    }
    TelemetryFile telemetry = file();

    NodeTelemetry node = telemetry.read().orElseThrow();
    assertThat(series(node, Measure.GPU_UTILIZATION).points())
        .hasSizeLessThanOrEqualTo(Points.MOST);
    assertThat(series(node, Measure.GPU_UTILIZATION).spread().mean().orElse(0))
        .isCloseTo(50, within(0.5));
    NodeTelemetry.Sample newest = telemetry.newest().orElseThrow();
    assertThat(newest.at().getEpochSecond()).isEqualTo(1000 + 49_999 * 10);
    assertThat(newest.values())
        .contains(
            new NodeTelemetry.Sample.Value(Measure.GPU_UTILIZATION, Optional.of(0), 49_999 % 101));
  }

  @Test
  void theSummaryIsTheSameAfterAReadAndNamesTheKeyToChange() throws IOException {
    TelemetrySummary.Sum sum = new TelemetrySummary.Sum();
    sum.add(
        read(
            HEAD
                + "d,0,GPU-a,1000\nd,1,GPU-b,1000\n"
                + "g,100.00,0,10,,10,200,40\ng,100.00,1,10,,10,200,40\n"
                + "g,110.00,0,20,,30,200,40\ng,110.00,1,0,,30,200,40\n"
                + "e,111.00,fewer,1\n"));
    TelemetrySummary summary = sum.summary().orElseThrow();

    assertThat(read(Json.parseObject(Json.pretty(Codec.write(summary))))).isEqualTo(summary);
    assertThat(summary.sampled().idle().orElseThrow().all()).isEqualByComparingTo("0.9");
    assertThat(summary.gpuJoules()).hasToString("Optional[4000]");
    assertThat(UseNotes.of(summary, 2, false)).hasSize(1);
    assertThat(UseNotes.of(summary, 2, true))
        .as("an attempt with two samples says nothing about idle GPUs")
        .hasSize(1);
    TelemetrySummary longer = sampled(summary, 6);
    assertThat(UseNotes.of(longer, 2, true))
        .containsExactly(
            "node n1 showed 1 of 2 GPUs while task 0 ran. Report it to the administrators; another"
                + " attempt avoids the node: try requeues=1",
            "the GPUs were idle 90 % of the time, and 30.0 MiB of the 1000.0 MiB of each were used:"
                + " try a larger batch_size, or fewer resources.gpus_per_node");
  }

  /** A task that failed may never have begun; a short one mostly starts and ends. */
  @ParameterizedTest
  @CsvSource({
    "completed, 10:10:00, true",
    "completed, 10:01:59, false",
    "failed, 10:10:00, false",
    "cancelled, 10:10:00, false",
    "timeout, 10:10:00, false",
    "out_of_memory, 10:10:00, false"
  })
  void onlyALongRunThatCompletedIsToldThatItsGpusWereIdle(String state, String end, boolean told)
      throws IOException {
    RunFolder run =
        new Workspace(folder, DurableFiles.onDisk()).run(new RunId("train_20261126_100000"));
    TelemetrySummary.Sum sum = new TelemetrySummary.Sum();
    sum.add(read(HEAD + "g,100.00,0,10,,10,200,40\ng,110.00,0,10,,10,200,40\n"));
    JsonObject manifest =
        new JsonObject()
            .with("state", state)
            .with("started", "2026-11-26T10:00:00Z")
            .with("ended", "2026-11-26T" + end + "Z")
            .with("telemetry", Codec.write(sampled(sum.summary().orElseThrow(), 60)));
    Files.createDirectories(run.manifest().getParent());
    Files.writeString(run.manifest(), Json.pretty(manifest));

    assertThat(UseNotes.of(run)).hasSize(told ? 1 : 0);
  }

  private static TelemetrySummary sampled(TelemetrySummary summary, int samples) {
    return read(Codec.write(summary).with("samples", samples));
  }

  private static TelemetrySummary read(JsonObject json) {
    return Codec.read(json, TelemetrySummary.class);
  }

  /** With one GPU there are no fewer, and nothing is to be filled that is full. */
  @ParameterizedTest
  @CsvSource({
    "1, 100, try a larger batch_size",
    "1, 900, more resources.cpus_per_task",
    "2, 100, or fewer resources.gpus_per_node",
    "2, 900, try fewer resources.gpus_per_node"
  })
  void theNoteOnIdleGpusNamesWhatCanBeChanged(int gpus, int used, String change)
      throws IOException {
    StringBuilder file = new StringBuilder(HEAD);
    for (int gpu = 0; gpu < gpus; gpu++) {
      file.append("d,").append(gpu).append(",GPU-").append(gpu).append(",1000\n");
    }
    for (int at = 100; at < 200; at += 10) {
      for (int gpu = 0; gpu < gpus; gpu++) {
        file.append("g,").append(at).append(".00,").append(gpu);
        file.append(",10,,").append(used).append(",200,40\n");
      }
      file.append("n,").append(at).append(".50,1000,5,,,,\n");
    }
    TelemetrySummary.Sum sum = new TelemetrySummary.Sum();
    sum.add(read(file.toString()));

    List<String> notes = UseNotes.of(sum.summary().orElseThrow(), gpus, true);

    assertThat(notes).singleElement().asString().contains("idle 90 %", change);
    if (gpus == 1) {
      assertThat(notes.get(0)).doesNotContain("gpus_per_node");
    }
  }

  /**
   * A program starts and writes its last checkpoint with idle GPUs: only the time between is
   * judged. Each word is the use of the GPUs of a node in one sample.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          0*20 95*12 0*20           | -    | a long start and a long last checkpoint
          0*5 3*15 95*12 2*20       | -    | libraries that run a first kernel are no work
          0*20 95*6 0*30 95*6 0*20  | 73 % of the time from their first to their last work | waits for data
          95*20 0*10 95*20          | -    | short pauses
          30*40                     | 70 % of the time: | never busy enough
          0*40                      | 100 % of the time: | GPUs that nobody used
          0*40 95*2 0*40            | 98 % of the time: | too short to be judged alone
          95/0*40                   | 53 % of the time: | one of two GPUs is not used
          0/0*10 95/0*20 0/0*10     | 53 % of the time from their first to their last work | the same with a start
          0/0*10 95/0*6 0/95*6      | 53 % of the time from their first to their last work | one after the other
          """)
  void idleIsMeasuredFromTheFirstToTheLastWork(String uses, String told, String why)
      throws IOException {
    StringBuilder file = new StringBuilder(HEAD);
    int at = 1000;
    for (String use : uses.split(" ", -1)) {
      String[] times = use.split("\\*", -1);
      for (int i = 0; i < Integer.parseInt(times[1]); i++) {
        String[] gpus = times[0].split("/", -1);
        for (int gpu = 0; gpu < gpus.length; gpu++) {
          file.append("g,").append(at).append(".00,").append(gpu).append(',').append(gpus[gpu]);
          file.append(",,900,200,40\n");
        }
        file.append("n,").append(at).append(".00,1000,5,,,,\n");
        at += 10;
      }
    }
    TelemetrySummary.Sum sum = new TelemetrySummary.Sum();
    sum.add(read(file.toString()));

    List<String> notes = UseNotes.of(sum.summary().orElseThrow(), 2, true);

    if (told.equals("-")) {
      assertThat(notes).as(why).isEmpty();
    } else {
      assertThat(notes).as(why).singleElement().asString().contains("idle " + told);
    }
    TelemetrySummary old =
        read(
            Json.parseObject(
                Json.pretty(Codec.write(sum.summary().orElseThrow()))
                    .replaceAll("\\s*\"gpu_idle_share_at_work\": [0-9.]+,", "")));
    assertThat(UseNotes.of(old, 2, true)).as("a manifest of before does not say it").isEmpty();
  }

  @Test
  void lossesComeFromTheNewestTrainerStateAndAreSmoothed() throws IOException {
    state("checkpoint-10", "{\"loss\": 4, \"step\": 10}");
    state(
        "checkpoint-20",
        "{\"loss\": 4, \"step\": 10}, {\"eval_loss\": 3, \"step\": 10}, {\"loss\": NaN, \"step\": 15},"
            + " {\"loss\": 2, \"step\": 20}, {\"train_loss\": 3, \"train_runtime\": 9, \"step\": 20}");
    Files.createDirectories(folder.resolve("checkpoint-30"));
    Files.writeString(folder.resolve("checkpoint-30/trainer_state.json"), "{\"log_history\": [");

    List<LossCurve> curves = LossCurve.ofTrainer(folder);

    assertThat(curves).extracting(LossCurve::name).containsExactly("eval_loss", "loss");
    List<LossCurve.Point> loss = curves.get(1).points();
    assertThat(loss).extracting(LossCurve.Point::loss).containsExactly(4.0, 2.0);
    assertThat(loss.get(0).smoothed()).isCloseTo(4, within(1e-9));
    // (0.9 * 0.4 + 0.1 * 2) / (1 - 0.9 * 0.9)
    assertThat(loss.get(1).smoothed()).isCloseTo(0.56 / 0.19, within(1e-9));
  }

  @Test
  void lossesComeFromMlflowsFileStoreToo() throws IOException {
    Path metrics = Files.createDirectories(folder.resolve("mlruns/0/3fe0/metrics"));
    Files.writeString(metrics.resolve("loss"), "1700000000000 2.5 1\n1700000001000 1.5 2\n17000");
    Files.writeString(metrics.resolve("lr"), "1700000000000 0.1 1\n");

    List<LossCurve> curves = LossCurve.ofMlflow(folder.resolve("mlruns"));

    assertThat(curves).singleElement().satisfies(curve -> assertThat(curve.points()).hasSize(2));
  }

  /** The same curve, with losses that are not numbers at the end, in the middle, and everywhere. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          2 1.5 1       | 3 | -
          2 NaN NaN     | 1 | not a number from step 20 on
          2 NaN 1 NaN   | 2 | not a number from step 40 on
          2 NaN 1       | 2 | not a number at step 20
          NaN NaN 1     | 1 | not a number at step 10
          NaN NaN       | 0 | not a number from step 10 on
          2 inf -inf    | 1 | not a number from step 20 on
          """)
  void aLossThatIsNotANumberIsTold(String values, int points, String words) throws IOException {
    Path metrics = Files.createDirectories(folder.resolve("mlruns/0/3fe0/metrics"));
    StringBuilder history = new StringBuilder();
    StringBuilder lines = new StringBuilder();
    int step = 0;
    for (String value : values.split(" ", -1)) {
      step += 10;
      String json = value.replace("inf", "Infinity");
      history.append(step == 10 ? "" : ", ");
      history.append("{\"loss\": ").append(json).append(", \"step\": ").append(step).append('}');
      lines.append("1 ").append(value.replace("NaN", "nan")).append(' ').append(step).append('\n');
    }
    Files.writeString(metrics.resolve("loss"), lines);
    state("checkpoint-10", history.toString());

    for (List<LossCurve> curves :
        List.of(LossCurve.ofTrainer(folder), LossCurve.ofMlflow(folder.resolve("mlruns")))) {
      assertThat(curves).hasSize(1);
      LossCurve curve = curves.get(0);
      if (words.equals("-")) {
        assertThat(curve.gap()).isEmpty();
      } else {
        assertThat(curve.points()).hasSize(points);
        assertThat(curve.gap().orElseThrow().words()).isEqualTo(words);
        assertThat(curve.gap().orElseThrow().last()).isEqualTo(step);
      }
    }
  }

  private void state(String checkpoint, String history) throws IOException {
    Files.createDirectories(folder.resolve(checkpoint));
    Files.writeString(
        folder.resolve(checkpoint).resolve("trainer_state.json"),
        "{\"global_step\": 10, \"log_history\": [" + history + "]}");
  }

  private static Series series(NodeTelemetry node, Measure measure) {
    return node.series().stream().filter(one -> one.measure() == measure).findFirst().orElseThrow();
  }

  private NodeTelemetry read(String text) throws IOException {
    Files.write(folder.resolve("0.0.telemetry.n1.csv"), text.getBytes(StandardCharsets.ISO_8859_1));
    return file().read().orElseThrow();
  }

  private TelemetryFile file() {
    return new TelemetryFile(folder.resolve("0.0.telemetry.n1.csv"), "key", 0, 0, "n1");
  }
}
