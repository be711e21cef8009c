package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The range of GPU-hours against what others published. */
class PublishedRunsTest {
  private static final Path PAGE = Path.of("src/test/resources/published/README.md");
  private static final double HELD = 0.80;
  private static final double WIDEST = 3.5;

  private static final GpuCatalog GPUS =
      new ConfigReader(new ConfigSource(Path.of("")), Map.of()).gpus();

  private static final List<Map<String, String>> RUNS = PublishedFigures.read("training_runs.csv");

  @Test
  void theRangeHoldsFourOfFivePublishedRuns() {
    assertThat(RUNS).hasSizeGreaterThanOrEqualTo(20);

    assertThat(held(RUNS)).isGreaterThanOrEqualTo(HELD);
  }

  /** The figures that were read again for this table are no kinder to it. */
  @Test
  void soItDoesOfThoseThatWereReadAgain() {
    List<Map<String, String>> read =
        RUNS.stream().filter(run -> !run.get("read").equals("not re-read")).toList();
    assertThat(read).hasSizeGreaterThanOrEqualTo(20);

    assertThat(held(read)).isGreaterThanOrEqualTo(HELD);
  }

  @Test
  void theRangeIsNoWiderThanPromised() {
    assertThat(RUNS)
        .allSatisfy(
            run -> {
              AnalyticEstimate range = estimate(run);
              assertThat(range.highGpuHours() / range.lowGpuHours()).isLessThanOrEqualTo(WIDEST);
              assertThat(range.middleGpuHours())
                  .isBetween(range.lowGpuHours(), range.highGpuHours());
            });
  }

  @Test
  void thePageHasEachRunAndWhatWeWouldHaveSaid() throws IOException {
    String page = Files.readString(PAGE);
    String begin = "<!-- runs: made by PublishedRunsTest -->\n";
    String end = "<!-- end of runs -->";
    assertThat(page).containsOnlyOnce(begin).containsOnlyOnce(end);

    Golden.checkFile(PAGE, PublishedFigures.table(begin, end, table(), page));
    long held = RUNS.stream().filter(PublishedRunsTest::isHeld).count();
    assertThat(Files.readString(Path.of("docs/estimates.md")))
        .contains(held + " of " + RUNS.size() + " published training runs");
  }

  private static double held(List<Map<String, String>> runs) {
    return (double) runs.stream().filter(PublishedRunsTest::isHeld).count() / runs.size();
  }

  private static boolean isHeld(Map<String, String> run) {
    double hours = number(run, "gpu_hours");
    AnalyticEstimate range = estimate(run);
    return hours >= range.lowGpuHours() && hours <= range.highGpuHours();
  }

  /** The shapes are not in the table, so attention is not counted; nor is recomputation. */
  private static AnalyticEstimate estimate(Map<String, String> run) {
    TrainingFlops flops =
        new TrainingFlops((long) number(run, "parameters"), Trains.ALL, 0, false, 0, 0);
    double peak = GPUS.find(run.get("gpu")).orElseThrow().bf16Flops().orElseThrow();
    return AnalyticEstimate.of(
        flops.perToken() * number(run, "tokens"), peak, Mfu.PUBLISHED, List.of());
  }

  private static String table() {
    StringBuilder rows = new StringBuilder();
    long held = RUNS.stream().filter(PublishedRunsTest::isHeld).count();
    rows.append(
        String.format(
            Locale.ROOT,
            "%d of %d runs (%.0f %%) lie in the range.%n%n",
            held,
            RUNS.size(),
            100.0 * held / RUNS.size()));
    rows.append(
        "| run | parameters | tokens | GPU | GPU-hours | our range | MFU | held | source | read |\n");
    rows.append("|---|---|---|---|---|---|---|---|---|---|\n");
    for (Map<String, String> run : RUNS) {
      AnalyticEstimate range = estimate(run);
      double hours = number(run, "gpu_hours");
      double share = range.flops() / (hours * 3600 * range.peak());
      rows.append(
          String.format(
              Locale.ROOT,
              "| %s | %s | %s | %s | %s | %s to %s | %.1f %% | %s | %s | %s |%n",
              run.get("run"),
              count(number(run, "parameters")),
              count(number(run, "tokens")),
              run.get("gpu"),
              hours(hours),
              hours(range.lowGpuHours()),
              hours(range.highGpuHours()),
              100 * share,
              isHeld(run) ? "yes" : "**no**",
              run.get("source"),
              run.get("read")));
    }
    return rows.toString();
  }

  private static String count(double number) {
    double billions = number / 1e9;
    if (billions >= 1000) {
      return trimmed(billions / 1000) + "T";
    }
    return billions >= 1 ? trimmed(billions) + "B" : trimmed(billions * 1000) + "M";
  }

  private static String trimmed(double number) {
    String text = String.format(Locale.ROOT, "%.2f", number);
    return text.replaceAll("\\.?0+$", "");
  }

  private static String hours(double hours) {
    return hours < 100
        ? String.format(Locale.ROOT, "%.1f", hours)
        : String.format(Locale.ROOT, "%,.0f", hours);
  }

  private static double number(Map<String, String> run, String column) {
    return Double.parseDouble(run.get(column));
  }
}
