package dev.nexa.slurm.job.config;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitOption;
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
import org.junit.jupiter.params.provider.ValueSource;

/** A value of a wrong type is one problem: no second problem follows from it. */
class OneMistakeTest {
  private static final Pattern VALUE =
      Pattern.compile("(\\s*(?:- )?[a-z_0-9]+: )([^#|>{\\[\\s][^#]*)");

  @TempDir Path folder;

  static Stream<Path> configs() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("configs"), FileVisitOption.FOLLOW_LINKS)) {
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

  static Stream<Path> others() throws IOException {
    try (Stream<Path> files = Files.walk(Path.of("configs"), FileVisitOption.FOLLOW_LINKS)) {
      return files
          .filter(
              file -> file.toString().matches("configs/(policy|(clusters|prices)/[^/]*)[.]yaml"))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("others")
  void soItIsInAPolicyAPriceBookAndAProfile(Path file) throws IOException {
    eachWrongValueIsOneProblem(file, Files.readAllLines(file));
  }

  /** The keys that the files of the jar do not have, one on each line. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "configs/policy.yaml;approval_over:;  amount: 1;  currency: USD;budgets:;"
            + "  - scope: all;    amount: 1;    currency: USD;    period: month;"
            + "  - scope: project;    name: nlp;    amount: 1;    currency: USD;    period: month;"
            + "approvals:;  directory: /a;  allowed_signers: /b;slurm:;  gpu_hours_over: 1",
        "configs/clusters/mine.yaml;default_partition: gpu;partitions:;  gpu:;"
            + "    exclusive: true;    cpus_per_node: 8;    memory_per_node: 8G;"
            + "    gpus_per_node: 0;    default_memory_per_cpu: 1G;storage:;"
            + "  scratch: /a;  durable: /b;  shared: /c",
        "configs/prices/mine.yaml;currency: USD;as_of: 2026-01-01;gpu_hour:;  h100:;"
            + "    price: 1.00;    source: x;  mig:;    share: 1/7;    of: h100;    source: x;"
            + "overrides:;  - match:;      account: low;    discount:;      percent: 10;"
            + "      source: x"
      })
  void theKeysThatDependOnEachOther(String text) throws IOException {
    List<String> words = List.of(text.split(";", -1));
    eachWrongValueIsOneProblem(Path.of(words.get(0)), words.subList(1, words.size()));
  }

  private void eachWrongValueIsOneProblem(Path file, List<String> lines) throws IOException {
    List<String> more = new ArrayList<>();
    for (int i = 0; i < lines.size(); i++) {
      Matcher value = VALUE.matcher(lines.get(i));
      if (value.matches()) {
        List<String> wrong = new ArrayList<>(lines);
        wrong.set(i, value.group(1) + "[[wrong]]");
        int line = i + 1;
        List<Problem> problems = problems(file, String.join("\n", wrong));
        if (problems.isEmpty()) {
          more.add(lines.get(i) + " -> no problem");
        }
        problems.stream()
            .filter(problem -> problem.at().line() != line)
            .forEach(problem -> more.add(lines.get(line - 1) + " -> " + problem));
      }
    }
    assertThat(more).isEmpty();
  }

  private List<Problem> problems(Path file, String text) throws IOException {
    Path written = folder.resolve(file);
    Files.createDirectories(written.getParent());
    Files.writeString(written, text);
    ConfigReader reader = new ConfigReader(new ConfigSource(folder), Map.of());
    String name = file.getFileName().toString().replace(".yaml", "");
    try {
      if (name.equals("policy")) {
        reader.policy(new ConfigSource(folder).product("configs/policy.yaml"));
      } else if (file.startsWith("configs/clusters")) {
        reader.cluster(name);
      } else {
        reader.prices(name);
      }
      return List.of();
    } catch (ConfigException refused) {
      return refused.problems();
    }
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
