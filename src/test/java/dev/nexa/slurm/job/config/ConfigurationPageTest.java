package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.RunConfig;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.site.GpuCatalog;
import dev.nexa.slurm.job.config.site.Policy;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.ListOf;
import dev.nexa.slurm.job.config.yaml.Schema.MapOf;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The lists of keys in docs are made from the very tables that check the files, one page for each
 * kind of file. {@code mvn -Dtest=ConfigurationPageTest -Dgolden.update=true test} writes them
 * anew.
 */
class ConfigurationPageTest {
  private static final Path FOLDER = Path.of("docs");

  @ParameterizedTest
  @CsvSource({
    "run, run-config.md",
    "cluster, profile.md",
    "pipeline, pipelines.md",
    "prices, price-book.md",
    "gpus, gpu-catalog.md",
    "failures, why.md",
    "policy, policy-file.md"
  })
  void keysAreThoseThatCheckTheFiles(String kind, String name) throws IOException {
    Path file = FOLDER.resolve(name);
    String begin = "<!-- " + kind + ": made by ConfigurationPageTest -->\n";
    String end = "<!-- end of " + kind + " -->";
    String page = Files.readString(file);
    assertThat(page).containsOnlyOnce(begin).containsOnlyOnce(end);
    String before = page.substring(0, page.indexOf(begin) + begin.length());
    String after = page.substring(page.indexOf(end));
    StringBuilder keys = new StringBuilder("\n");
    keys(keys, section(kind), "", true);
    Golden.checkFile(file, before + keys + after);
    assertThat(Files.readAllLines(file).stream().filter(line -> line.startsWith("##")))
        .extracting(heading -> heading.toLowerCase(Locale.ROOT).replaceAll("[^\\w -]", "").strip())
        .doesNotHaveDuplicates();
  }

  private static Section section(String kind) {
    return switch (kind) {
      case "run" -> RunConfig.SPEC;
      case "pipeline" -> PipelineConfig.SPEC;
      case "cluster" -> ClusterProfile.SPEC;
      case "prices" -> PriceBook.SPEC;
      case "gpus" -> GpuCatalog.SPEC;
      case "failures" -> FailurePatterns.SPEC;
      case "policy" -> Policy.SPEC;
      default -> throw new IllegalArgumentException(kind);
    };
  }

  /**
   * One heading for each key, and below it those of the mapping that it holds. The anchor of a
   * heading is the whole key without its dots, whatever stands beside it.
   */
  private static void keys(StringBuilder text, Section section, String prefix, boolean certain) {
    String level = prefix.isEmpty() ? "### `" : "#### `";
    for (KnownKey key : section.keys()) {
      if (isOneOfMany(section, key)) {
        continue;
      }
      boolean required = key.required();
      String name = prefix + key.name();
      text.append(level).append(name).append("`\n\nValue: ").append(value(key.shape()));
      text.append(key.fallback().isEmpty() ? "." : ". Default: `" + key.fallback() + "`.");
      text.append(required(key, prefix, certain)).append("\n\n").append(key.doc()).append("\n\n");
      below(text, key.shape(), name, required && certain);
    }
    if (section.others().isPresent()) {
      String value = value(section.others().get().value());
      String what = "a training key or " + section.others().get().name().expected();
      text.append(level).append(prefix).append("KEY`\n\nValue: ").append(value);
      text.append(".\n\nKEY is ").append(what).append(".\n\n");
    }
  }

  private static String required(KnownKey key, String prefix, boolean certain) {
    String inferable = key.inferable() ? "; see [defaults](configuration.md#defaults)" : "";
    String within = certain ? "" : " within " + parent(prefix);
    return key.required() ? " Required" + within + inferable + "." : "";
  }

  /** A sweep has them all again: one heading stands for them. */
  private static boolean isOneOfMany(Section section, KnownKey key) {
    return section.others().isPresent()
        && Training.KEYS.keys().stream().anyMatch(known -> known.name().equals(key.name()));
  }

  private static void below(StringBuilder text, Schema shape, String name, boolean certain) {
    if (shape instanceof Section section) {
      keys(text, section, name + ".", certain);
    } else if (shape instanceof MapOf map) {
      below(text, map.value(), name + ".NAME", false);
    } else if (shape instanceof ListOf list) {
      below(text, list.element(), name + ".0", false);
    }
  }

  private static String parent(String prefix) {
    return "`" + prefix.substring(0, prefix.length() - 1) + "`";
  }

  private static String value(Schema shape) {
    if (shape instanceof ValueType type) {
      return type.expected();
    }
    if (shape instanceof ListOf list) {
      return "a list, each " + value(list.element());
    }
    if (shape instanceof Schema.Axis) {
      return "a list of values, or of numbers {min, max, scale}";
    }
    if (shape instanceof Schema.Anything) {
      return "a value";
    }
    if (shape instanceof Schema.Free) {
      return "a mapping, kept without changes";
    }
    return shape instanceof MapOf map
        ? "a mapping from " + map.name().expected() + " to " + value(map.value())
        : "a mapping";
  }
}
