package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each step that reads what an earlier step wrote in several files, and a file that is gone or cut.
 */
class ListedInputTest {
  private static final String PREPARED = "data_20261126_120000";
  private static final String JUDGED = "eval_20261126_120100";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void earlierSteps() throws IOException {
    terminal = new Terminal(folder);
    StringBuilder rows = new StringBuilder();
    for (int i = 0; i < 9; i++) {
      rows.append("{\"id\":\"r" + i + "\",\"text\":\"text " + i + "\",\"completion\":\"c\"}\n");
    }
    terminal.file("raw.jsonl", rows.toString());
    terminal.file("none.jsonl", "");
    terminal.file(
        "prepare.json",
        "{\"columns\":{\"id\":\"text\",\"text\":\"text\",\"completion\":\"text\"},\"text\":[\"text\"],\"id\":\"id\","
            + "\"rows_per_file\":3,\"requests\":{\"model\":\"m\",\"prompt\":\"{text}\",\"rows_per_file\":3}}");
    terminal.file("filter.json", "{\"columns\":{\"id\":\"text\",\"text\":\"text\"},\"rules\":[]}");
    terminal.file(
        "judge.json",
        "{\"model\":\"m\",\"rows_per_file\":3,\"columns\":{\"id\":\"id\",\"prompt\":\"text\",\"completion\":\"completion\"}}");
    terminal.file("generate.json", "{\"url\":\"http://127.0.0.1:1/v1\",\"retries\":0}");
    terminal.file("score.json", "{}");
    assertThat(
            type("data prepare --settings WORK/prepare.json --input WORK/raw.jsonl --output WORK/"
                    + PREPARED)
                .exit())
        .isZero();
    Terminal.Screen judged =
        type(
            "data judge --settings WORK/judge.json --input WORK/"
                + PREPARED
                + "/train-*.parquet --output WORK/"
                + JUDGED);
    assertThat(judged.exit()).as(judged.err()).isZero();
  }

  private Terminal.Screen type(String command) {
    return terminal.type(command.replace("WORK", terminal.workspace.toString()).split(" "));
  }

  /** The commands, each with the files that it reads. */
  private static List<List<String>> readers() {
    List<List<String>> readers = new ArrayList<>();
    String train = PREPARED + "/train-";
    String requests = PREPARED + "/requests-";
    for (String input : List.of("/train-*.parquet", "")) {
      String in = " --output WORK/out --input WORK/" + PREPARED + input;
      readers.add(List.of("prepare --settings WORK/prepare.json" + in, train));
      readers.add(List.of("filter --settings WORK/filter.json" + in, train));
    }
    readers.add(
        List.of(
            "judge --settings WORK/judge.json --output WORK/out --input WORK/"
                + train
                + "*.parquet",
            train));
    for (String input : List.of("/requests-*.jsonl", "")) {
      String in = " --output WORK/out --requests WORK/" + PREPARED + input;
      readers.add(List.of("generate --settings WORK/generate.json" + in, requests));
      readers.add(List.of("collect --answers WORK/none.jsonl" + in, requests));
    }
    readers.add(
        List.of(
            "score --run-id v1 --settings WORK/score.json --answers WORK/none.jsonl --output WORK/out"
                + " --requests WORK/"
                + JUDGED
                + "/judge-requests-*.jsonl",
            JUDGED + "/judge-requests-"));
    return readers;
  }

  @Test
  void noStepWorksOnLessThanTheEarlierStepWrote() throws IOException {
    for (List<String> reader : readers()) {
      String command = "data " + reader.get(0);
      assertThat(type(command).err()).as(command).doesNotContain("earlier step");
      Path file = lastFile(reader.get(1));
      byte[] whole = Files.readAllBytes(file);
      Files.delete(file);
      refused(
          command, file + " is missing: by report-00000.json, task 0 of the earlier step wrote ");
      byte[] cut = Arrays.copyOf(whole, whole.length / 2);
      Files.write(file, cut);
      refused(command, file + " has " + cut.length + " bytes: by report-00000.json, task 0");
      Files.write(file, whole);
      assertThat(type(command).err()).as(command).doesNotContain("earlier step");
    }
  }

  private void refused(String command, String message) {
    Terminal.Screen screen = type(command);
    assertThat(screen.exit()).as(command).isEqualTo(2);
    assertThat(screen.err())
        .as(command)
        .contains(message)
        .containsPattern("nexa-slurm rerun --tasks 0 (data|eval)_20261126_12")
        .contains("nexa-slurm pipeline resume");
  }

  private Path lastFile(String start) throws IOException {
    Path first = terminal.workspace.resolve(start + "x");
    String name = first.getFileName().toString().replaceFirst("x$", "");
    try (Stream<Path> files = Files.list(first.resolveSibling(""))) {
      List<Path> found =
          files.filter(file -> file.getFileName().toString().startsWith(name)).sorted().toList();
      assertThat(found).hasSize(3);
      return found.get(2);
    }
  }

  @Test
  void aFileThatIsNamedByItselfNeedsNoOther() throws IOException {
    Files.delete(lastFile(PREPARED + "/train-"));
    assertThat(
            type("data filter --settings WORK/filter.json --output WORK/out --input WORK/"
                    + PREPARED
                    + "/train-00000.parquet")
                .exit())
        .isZero();
  }
}
