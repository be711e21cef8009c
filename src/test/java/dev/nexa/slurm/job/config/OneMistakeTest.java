package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A value of a wrong type is one problem: no second problem follows from it. */
class OneMistakeTest {
  private static final Pattern VALUE = Pattern.compile("(\\s*[a-z_]+: )([^#|>{\\[\\s][^#]*)");

  @TempDir Path folder;

  static Stream<Path> configs() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("configs"))) {
      return files
          .filter(
              file ->
                  file.toString().matches("configs/(acc|axolotl|data|eval|serve|train)/[^/]*yaml"))
          .filter(file -> !file.endsWith("acc/fsdp_4gpu.yaml")) // accelerate's own file
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("configs")
  void eachWrongValueIsOneProblem(Path file) throws IOException {
    List<String> lines = Files.readAllLines(file);
    List<String> more = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Matcher value = VALUE.matcher(lines.get(i));
      if (value.matches()) {
        List<String> wrong = new ArrayList<>(lines);
        wrong.set(i, value.group(1) + "[[wrong]]");
        int line = i + 1;
        List<Problem> problems = problems(String.join("\n", wrong));
        problems.stream()
            .filter(problem -> problem.at().line() != line)
            .forEach(problem -> more.add(lines.get(line - 1) + " -> " + problem));
      }
    }
    assertThat(more).isEmpty();
  }

  private List<Problem> problems(String text) {
    try {
      Files.writeString(folder.resolve("run.yaml"), text);
      new ConfigReader(new ConfigSource(Path.of("")), Map.of())
          .run(folder.resolve("run.yaml").toString(), List.of());
      return List.of();
    } catch (ConfigException refused) {
      return refused.problems();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
