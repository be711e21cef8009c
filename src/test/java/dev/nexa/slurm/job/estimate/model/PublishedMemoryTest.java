package dev.nexa.slurm.job.estimate.model;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Offload;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Optimizer;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Sharding;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Trains;
import dev.nexa.slurm.job.estimate.model.MemorySetup.Weights;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The memory model against what others measured. */
class PublishedMemoryTest {
  private static final Path PAGE = Path.of("src/test/resources/published/README.md");
  private static final double NEAR = 0.15;
  private static final double SHARE = 0.80;
  private static final double GIB = 1L << 30;

  private static final List<Map<String, String>> FIGURES = PublishedFigures.read("memory.csv");

  @Test
  void fourOfFiveMeasuredFiguresAreWithin15Percent() {
    assertThat(measured()).hasSizeGreaterThanOrEqualTo(15);

    assertThat(near(measured())).isGreaterThanOrEqualTo(SHARE);
  }

  @Test
  void soAreThoseThatWereReadAgain() {
    List<Map<String, String>> read =
        measured().stream().filter(row -> !row.get("read").equals("not re-read")).toList();
    assertThat(read).hasSizeGreaterThanOrEqualTo(15);

    assertThat(near(read)).isGreaterThanOrEqualTo(SHARE);
  }

  static List<Map<String, String>> outOfMemory() {
    return FIGURES.stream().filter(row -> row.get("published").equals("OOM")).toList();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("outOfMemory")
  void whatRanOutOfMemoryIsNotSaidToFit(Map<String, String> row) {
    MemorySetup setup = setup(row);
    long memory = (long) (number(row, "gpu_gib") * GIB);

    assertThat(MemoryFit.judge(setup, MemoryParts.of(setup), memory))
        .isNotEqualTo(Optional.of(true));
  }

  /** What ran is not refused: that would send people to larger GPUs than they need. */
  @Test
  void whatRanIsNotSaidNotToFit() {
    assertThat(measured())
        .filteredOn(row -> !row.get("gpu_gib").isEmpty())
        .filteredOn(row -> isNear(row))
        .allSatisfy(
            row -> {
              MemorySetup setup = setup(row);
              long memory = (long) (number(row, "gpu_gib") * GIB);
              assertThat(MemoryFit.judge(setup, MemoryParts.of(setup), memory))
                  .isNotEqualTo(Optional.of(false));
            });
  }

  @Test
  void thePageHasEachFigureAndOurError() throws IOException {
    String page = Files.readString(PAGE);
    String begin = "<!-- memory: made by PublishedMemoryTest -->\n";
    String end = "<!-- end of memory -->";
    assertThat(page).containsOnlyOnce(begin).containsOnlyOnce(end);

    Golden.checkFile(PAGE, PublishedFigures.table(begin, end, table(), page));
    long near = measured().stream().filter(PublishedMemoryTest::isNear).count();
    assertThat(Files.readString(Path.of("docs/estimates.md")))
        .contains(near + " of " + measured().size() + " published figures")
        .contains("of " + outOfMemory().size() + " configurations that ran out of memory");
  }

  private static List<Map<String, String>> measured() {
    return FIGURES.stream().filter(row -> !row.get("published").equals("OOM")).toList();
  }

  private static double near(List<Map<String, String>> rows) {
    return (double) rows.stream().filter(PublishedMemoryTest::isNear).count() / rows.size();
  }

  private static boolean isNear(Map<String, String> row) {
    return Math.abs(error(row)) <= NEAR;
  }

  private static double error(Map<String, String> row) {
    return ours(row) / number(row, "published") - 1;
  }

  /** What the figure counts, in its own unit. */
  private static double ours(Map<String, String> row) {
    MemoryParts parts = MemoryParts.of(setup(row));
    long bytes =
        switch (row.get("counts")) {
          case "states" -> parts.states();
          case "weights" -> parts.weights();
          case "kv_cache" -> parts.kvCache();
          case "allocated" -> parts.allocated();
          case "device" -> parts.total();
          default -> throw new IllegalArgumentException(row.get("counts"));
        };
    return bytes / (row.get("unit").equals("GB") ? 1e9 : GIB);
  }

  private static MemorySetup setup(Map<String, String> row) {
    Trains trains =
        switch (row.get("trains")) {
          case "all" -> Trains.ALL;
          case "lora" -> Trains.ADAPTER;
          case "nothing" -> Trains.NOTHING;
          default -> throw new IllegalArgumentException(row.get("trains"));
        };
    long parameters = (long) number(row, "parameters");
    return new MemorySetup(
        new MemorySetup.Model(parameters, shape(row, parameters), 0),
        switch (row.get("weights")) {
          case "fp32" -> Weights.FP32;
          case "nf4" -> Weights.NF4;
          default -> Weights.HALF;
        },
        new MemorySetup.Tuning(
            trains,
            trains == Trains.ALL ? parameters : (long) number(row, "trained_parameters"),
            row.get("optimizer").equals("none")
                ? Optimizer.SGD
                : Optimizer.valueOf(row.get("optimizer").toUpperCase(Locale.ROOT)),
            row.get("copy").equals("yes")),
        new MemorySetup.Spread(
            Sharding.valueOf(row.get("strategy").toUpperCase(Locale.ROOT)),
            switch (row.get("offload")) {
              case "optimizer" -> Offload.OPTIMIZER;
              case "cpu" -> Offload.ALL;
              default -> Offload.NONE;
            },
            (int) number(row, "gpus"),
            1,
            (long) number(row, "bucket")),
        new MemorySetup.Batch((int) number(row, "micro_batch"), (int) number(row, "sequence")),
        row.get("checkpointing").equals("yes"),
        row.get("loss").equals("chunked"));
  }

  private static Optional<ModelShape> shape(Map<String, String> row, long parameters) {
    if (row.get("shape").isEmpty()) {
      return Optional.empty();
    }
    List<String> cells = List.of(row.get("shape").split("/", -1));
    int[] sizes = cells.stream().limit(6).mapToInt(Integer::parseInt).toArray();
    return Optional.of(
        new ModelShape(
            row.get("case"),
            parameters,
            sizes[0],
            sizes[1],
            sizes[2],
            sizes[3],
            sizes[4],
            sizes[5],
            cells.get(6).equals("gated")));
  }

  private static String table() {
    StringBuilder rows = new StringBuilder();
    long near = measured().stream().filter(PublishedMemoryTest::isNear).count();
    rows.append(
        String.format(
            Locale.ROOT,
            "%d of %d figures (%.0f %%) are within 15 %%; of %d that ran out of memory none is said to fit.%n%n",
            near,
            measured().size(),
            100.0 * near / measured().size(),
            outOfMemory().size()));
    rows.append(
        "| case | published | ours | error | counts | source | read |\n|---|---|---|---|---|---|---|\n");
    for (Map<String, String> row : FIGURES) {
      rows.append("| ").append(row.get("case")).append(" | ");
      rows.append(row.get("published").equals("OOM") ? oom(row) : figure(row));
      rows.append(" | ").append(row.get("counts")).append(" | ").append(row.get("source"));
      rows.append(" | ").append(row.get("read")).append(" |\n");
    }
    return rows.toString();
  }

  private static String figure(Map<String, String> row) {
    String error = String.format(Locale.ROOT, "%+.0f %%", 100 * error(row));
    return String.format(
        Locale.ROOT,
        "%s %s | %.2f | %s",
        row.get("published"),
        row.get("unit"),
        ours(row),
        isNear(row) ? error : "**" + error + "**");
  }

  private static String oom(Map<String, String> row) {
    MemorySetup setup = setup(row);
    long memory = (long) (number(row, "gpu_gib") * GIB);
    Optional<Boolean> fits = MemoryFit.judge(setup, MemoryParts.of(setup), memory);
    String said =
        fits.isPresent() ? (fits.get() ? "**fits**" : "does not fit") : "not judged to fit";
    return String.format(
        Locale.ROOT,
        "out of memory on %s GiB | %.2f GiB | %s",
        row.get("gpu_gib"),
        MemoryParts.of(setup).total() / GIB,
        said);
  }

  private static double number(Map<String, String> row, String column) {
    return Double.parseDouble(row.get(column));
  }
}
