package dev.nexa.slurm.data.rows;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The portions of all tasks are all bytes of all files, cut at the ends of lines. */
class PortionTest {
  @TempDir Path folder;

  private InputFile file(String name, String content, InputFile.Format format) throws IOException {
    return new InputFile(Files.writeString(folder.resolve(name), content).toString(), format);
  }

  private static String lines(Random random) {
    StringBuilder lines = new StringBuilder();
    for (int i = random.nextInt(30); i > 0; i--) {
      lines.append("x".repeat(random.nextInt(8) == 0 ? 200_000 : random.nextInt(9))).append('\n');
    }
    return lines + (random.nextBoolean() ? "no end" : "");
  }

  @Test
  void everyByteIsInOnePortionAndEachBeginsALine() throws IOException {
    Random random = new Random(1);
    for (int round = 0; round < 8; round++) {
      List<InputFile> files = new ArrayList<>();
      for (int f = 0; f < 4; f++) {
        files.add(file(f + ".jsonl", lines(random), InputFile.Format.JSONL));
      }
      files.add(file("4.csv", "a\nb\n".repeat(50_000), InputFile.Format.CSV));
      files.add(file("5.jsonl.gz", "packed\nbytes\n", InputFile.Format.JSONL));
      files.add(file("6.parquet", "", InputFile.Format.PARQUET));
      List<Long> sizes = Portion.sizes(files);
      for (int tasks : List.of(1, 2, 3, 7, 40)) {
        List<StringBuilder> read = new ArrayList<>();
        files.forEach(each -> read.add(new StringBuilder()));
        List<Integer> wholes = new ArrayList<>();
        for (int task = 0; task < tasks; task++) {
          for (Portion portion : Portion.of(files, sizes, new Share(task, tasks))) {
            String path = files.get(portion.file()).path();
            Path copy = folder.resolve("copy");
            long ends = portion.copy(path, copy);
            String text = Files.readString(copy);
            assertThat(ends).isEqualTo(text.chars().filter(c -> c == '\n').count());
            StringBuilder before = read.get(portion.file());
            assertThat(before.isEmpty() || before.charAt(before.length() - 1) == '\n').isTrue();
            before.append(text);
            if (portion.file() > 3) {
              assertThat(portion.whole()).isTrue();
              wholes.add(portion.file());
            }
          }
        }
        assertThat(wholes).as("%d tasks", tasks).containsExactly(4, 5, 6);
        for (int f = 0; f < files.size(); f++) {
          assertThat(read.get(f)).hasToString(Files.readString(Path.of(files.get(f).path())));
        }
      }
    }
  }

  @Test
  void oneBigFileIsDividedEvenly() throws IOException {
    List<InputFile> files =
        List.of(file("a.jsonl", "123456789\n".repeat(1000), InputFile.Format.JSONL));

    for (int task = 0; task < 8; task++) {
      assertThat(Portion.of(files, Portion.sizes(files), new Share(task, 8)))
          .singleElement()
          .satisfies(portion -> assertThat(portion.to() - portion.from()).isBetween(1240L, 1260L));
    }
  }
}
