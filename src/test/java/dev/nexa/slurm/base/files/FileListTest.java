package dev.nexa.slurm.base.files;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which files a list has, and that no change of a tree leaves its list as it was. */
class FileListTest {
  private static final FileTime OLD = FileTime.from(Instant.parse("2020-01-01T00:00:00Z"));

  @TempDir Path folder;

  private Path file(String name, String text) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    return Files.writeString(file, text);
  }

  private FileList list(String pattern) {
    return FileList.of(List.of(folder + "/" + pattern), List.of("left-out"));
  }

  @ParameterizedTest
  @CsvSource({
    "raw/a.jsonl, raw/a.jsonl",
    "raw/*.jsonl, raw/a.jsonl raw/b.jsonl",
    "raw/a*.jsonl, raw/a.jsonl",
    "raw/*.csv, ''",
    "raw/*/*.jsonl, raw/below/c.jsonl raw/{x}/d.jsonl",
    "raw/**/*.jsonl, raw/below/c.jsonl raw/{x}/d.jsonl",
    "r?w/[a-n]*.txt, raw/n.txt",
    "raw/below, raw/below raw/below/c.jsonl",
    "raw/{x}/*, raw/{x}/d.jsonl",
    "**/e.jsonl, ''",
    "odd[1], odd[1] odd[1]/f.jsonl",
    "raw/[, ''",
    "missing, ''",
    "missing/*.jsonl, ''",
    "link.jsonl, link.jsonl",
    "folder, folder folder/c.jsonl",
    "dead.jsonl, dead.jsonl",
  })
  void aPathStandsForTheFilesThatAStageWouldRead(String pattern, String found) throws IOException {
    for (String name : List.of("a.jsonl", "b.jsonl", "n.txt", "below/c.jsonl", "{x}/d.jsonl")) {
      file("raw/" + name, "{}");
    }
    file("raw/below/left-out", "");
    file("left-out/e.jsonl", "");
    file("odd[1]/f.jsonl", "");
    Files.createSymbolicLink(folder.resolve("link.jsonl"), folder.resolve("raw/a.jsonl"));
    Files.createSymbolicLink(folder.resolve("folder"), folder.resolve("raw/below"));
    Files.createSymbolicLink(folder.resolve("dead.jsonl"), folder.resolve("nowhere"));

    assertThat(list(pattern).files().keySet().stream().map(f -> f.substring(folderLength())))
        .containsExactlyElementsOf(found.isEmpty() ? List.of() : List.of(found.split(" ", -1)));
  }

  private int folderLength() {
    return folder.toString().length() + 1;
  }

  /** Random changes of a random file of a tree; beyond the limit, files are not named. */
  @ParameterizedTest
  @ValueSource(ints = {5, FileList.MOST + 1})
  void noChangeLeavesTheListAsItWas(int files) throws IOException {
    for (int i = 0; i < files; i++) {
      file("tree/" + i % 3 + "/" + i, "text " + i);
    }
    Random random = new Random(files);
    for (int trial = 0; trial < 8; trial++) {
      // As it is kept and read back.
      FileList before = FileList.of(Json.parseObject(Json.pretty(list("tree").toJson())));
      assertThat(before.difference(list("tree"))).as("unchanged").isEmpty();
      List<Path> all = files(folder.resolve("tree"));
      Path file = all.get(random.nextInt(all.size()));
      String happened = change(trial % 4, file);
      assertThat(before.difference(list("tree")))
          .as("%s of %s", happened, file)
          .contains(
              files > FileList.MOST
                  ? "one of "
                      + before.count()
                      + " files, now "
                      + list("tree").count()
                      + ", has changed"
                  : happened);
    }
  }

  private static List<Path> files(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(Files::isRegularFile).sorted().toList();
    }
  }

  private static String change(int kind, Path file) throws IOException {
    FileTime time = Files.getLastModifiedTime(file);
    switch (kind) {
      case 0 -> {
        // As rsync -a, cp -p and tar do.
        Path added = Files.writeString(file.resolveSibling("added " + System.nanoTime()), "x");
        Files.setLastModifiedTime(added, OLD);
        return added + " is new";
      }
      case 1, 2 -> {
        Object inode = Files.getAttribute(file, "unix:ctime");
        do { // The clock of a file system has steps of some milliseconds.
          Files.writeString(file, kind == 1 ? "T" + Files.readString(file).substring(1) : "");
          Files.setLastModifiedTime(file, time);
        } while (Files.getAttribute(file, "unix:ctime").equals(inode));
        return file + " has changed";
      }
      default -> {
        Files.delete(file);
        return file + " is gone";
      }
    }
  }

  @Test
  void aPathWithoutFilesIsNeverDifferent() {
    assertThat(list("none").difference(list("none"))).isEmpty();
  }
}
