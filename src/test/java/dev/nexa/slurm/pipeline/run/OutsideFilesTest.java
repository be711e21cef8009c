package dev.nexa.slurm.pipeline.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class OutsideFilesTest {
  private static final Instant RUN = Instant.parse("2026-11-01T10:00:00Z");

  @TempDir Path folder;

  @BeforeEach
  void files() throws IOException {
    file("raw/old.jsonl", -60);
    file("raw/new.jsonl", 60);
    file("raw/new.txt", 60);
    file("raw/below/new.jsonl", 60);
    file("old/a.jsonl", -60);
    Files.createSymbolicLink(folder.resolve("link.jsonl"), folder.resolve("raw/new.jsonl"));
  }

  private void file(String name, int seconds) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, "{}");
    Files.setLastModifiedTime(file, FileTime.from(RUN.plusSeconds(seconds)));
  }

  @ParameterizedTest
  @CsvSource({
    "raw/old.jsonl, ''",
    "raw/new.jsonl, raw/new.jsonl",
    "raw/*.jsonl, raw/new.jsonl",
    "raw/o*.jsonl, ''",
    "raw/*.csv, ''",
    "raw/*/*.jsonl, raw/below/new.jsonl",
    "raw/**/*.jsonl, raw/below/new.jsonl",
    "r?w/[a-n]*.txt, raw/new.txt",
    "raw/below, raw/below/new.jsonl",
    "old, ''",
    "missing, ''",
    "missing/*.jsonl, ''",
    "link.jsonl, link.jsonl",
  })
  void aFileThatIsNewerThanTheRunIsFound(String pattern, String found) {
    OutsideFiles files =
        new OutsideFiles(List.of(folder.resolve("old") + "", folder + "/" + pattern));

    assertThat(files.newerThan(RUN).map(file -> folder.relativize(file).toString()).orElse(""))
        .isEqualTo(found);
  }

  @Test
  void aRunThatReadsNoFilesIsNeverOlder() {
    assertThat(new OutsideFiles(List.of()).newerThan(RUN)).isEmpty();
  }
}
