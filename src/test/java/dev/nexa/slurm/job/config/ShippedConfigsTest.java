package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.pipeline.FromRuns;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every file in configs/ is a test case. */
class ShippedConfigsTest {
  private static final Pattern OPTIONS_FILE = Pattern.compile("(?m)^options_file: (\\S+)$");

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void isReadWithoutAProblem(Path file) {
    ConfigReader reader = new ConfigReader(new ConfigSource(Path.of("")), Map.of());
    String name = file.getFileName().toString().replace(".yaml", "");

    assertThatCode(
            () -> {
              switch (schema(file)) {
                case "cluster.schema.json" -> reader.cluster(name);
                case "prices.schema.json" -> reader.prices(name);
                case "policy.schema.json" -> reader.policy();
                case "gpus.schema.json" -> reader.gpus();
                case "failures.schema.json" -> reader.signatures();
                case "pipeline.schema.json" -> reader.pipeline(file.toString());
                default -> run(reader, file);
              }
            })
        .doesNotThrowAnyException();
  }

  /**
   * Reads a run's config; a config of a pipeline as the stage that names it. sync_s3.yaml can stand
   * for sync.yaml.
   */
  private static void run(ConfigReader reader, Path file) {
    Optional<PipelineConfig.Stage> stage =
        Stream.of("demo", "distill", "distill-logits")
            .filter(pipeline -> file.startsWith("configs/" + pipeline.replace("-logits", "")))
            .flatMap(p -> reader.pipeline("configs/pipelines/" + p + ".yaml").stages().stream())
            .filter(one -> one.config().equals(file.toString().replace("sync_s3", "sync")))
            .findFirst();
    boolean ofPipeline = file.startsWith("configs/demo") || file.startsWith("configs/distill");
    assertThat(stage.isPresent()).isEqualTo(ofPipeline);
    reader.run(file.toString(), List.of(), FromRuns.NONE, stage, Optional.empty(), "default");
  }

  @Test
  void eachDefaultPriceSaysWhereItIsFromAndWhen() {
    PriceBook book = new ConfigReader(new ConfigSource(Path.of("")), Map.of()).prices("default");

    assertThat(book.prices().gpuHour().values())
        .extracting(PriceBook.Price::source)
        .allMatch(source -> source.matches(".*\\b20\\d\\d\\b.*"));
    assertThat(book.prices().of(PricedUnit.CPU).orElseThrow().source()).contains("2025-11-01");
    assertThat(book.prices().of(PricedUnit.MEMORY).orElseThrow().source()).contains("2025-11-01");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void fitsItsJsonSchema(Path file) {
    JsonObject schema = JsonSchema.all().get(schema(file));

    assertThat(SchemaCheck.problems(schema, DurableFiles.read(file))).isEmpty();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void tellsTheEditorWhichSchemaItHas(Path file) throws IOException {
    Path schema = file.getParent().relativize(Path.of("docs/schemas", schema(file)));

    assertThat(Files.readAllLines(file).get(0))
        .isEqualTo("# yaml-language-server: $schema=" + schema);
  }

  private static String schema(Path file) {
    if (file.startsWith("configs/clusters")) {
      return "cluster.schema.json";
    }
    if (file.startsWith("configs/prices")) {
      return "prices.schema.json";
    }
    if (file.startsWith("configs/pipelines")) {
      return "pipeline.schema.json";
    }
    if (file.endsWith("gpus.yaml")) {
      return "gpus.schema.json";
    }
    if (file.endsWith("failures.yaml")) {
      return "failures.schema.json";
    }
    return file.endsWith("policy.yaml") ? "policy.schema.json" : "run.schema.json";
  }

  /** Our own configs: a file that one of them names as its runner's is in the runner's form. */
  static List<Path> configs() {
    try (Stream<Path> files = Files.walk(Path.of("configs"), FileVisitOption.FOLLOW_LINKS)) {
      List<Path> all = files.filter(file -> file.toString().endsWith(".yaml")).sorted().toList();
      Set<Path> runners = new HashSet<>();
      for (Path file : all) {
        Matcher named = OPTIONS_FILE.matcher(DurableFiles.read(file));
        if (named.find()) {
          runners.add(file.resolveSibling(named.group(1)));
        }
      }
      assertThat(all).containsAll(runners);
      return all.stream().filter(file -> !runners.contains(file)).toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
