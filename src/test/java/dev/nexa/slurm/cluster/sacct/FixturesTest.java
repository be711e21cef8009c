package dev.nexa.slurm.cluster.sacct;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.Golden;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Every dump of the folder, to the last figure; where each comes from says its README.md. */
class FixturesTest {
  private static final List<String> NO_HEADER =
      List.of("JobID", "State", "NCPUS", "Elapsed", "AllocTRES", "ReqTRES", "JobName");

  static Stream<String> dumps() throws IOException {
    try (Stream<Path> files = Files.list(Dumps.FOLDER)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> !name.equals("README.md"))
          .sorted()
          .toList()
          .stream();
    }
  }

  @ParameterizedTest
  @MethodSource("dumps")
  void isReadToTheLastFigure(String name) {
    Dumps.Read read = read(name);

    StringBuilder text = new StringBuilder();
    read.lines().forEach(line -> text.append(line).append('\n'));
    read.problems().forEach(problem -> text.append(problem).append('\n'));
    Golden.check("usage/" + name + ".golden", text.toString());
  }

  @ParameterizedTest
  @MethodSource("dumps")
  void hasAnOrigin(String name) throws IOException {
    assertThat(Files.readString(Dumps.FOLDER.resolve("README.md"))).contains("| `" + name + "` |");
  }

  @Test
  void aTableTheSameReorderedAndJsonAgree() {
    List<String> table = read("22.05.8-all.txt").lines();

    assertThat(read("22.05.8-all-reordered.txt").lines()).isEqualTo(table);
    // 22.05's JSON holds no CPUs for what never ran, and an exit code of 0 for all that ended.
    String odd = "18371|18374|18381";
    assertThat(without(odd, read("22.05.8-all.json").lines())).isEqualTo(without(odd, table));
  }

  private static List<String> without(String ids, List<String> lines) {
    return lines.stream().filter(line -> !line.matches(".*\"job_id\":(" + ids + "),.*")).toList();
  }

  private static Dumps.Read read(String name) {
    return Dumps.file(name, name.contains("no-header") ? NO_HEADER : List.of());
  }
}
