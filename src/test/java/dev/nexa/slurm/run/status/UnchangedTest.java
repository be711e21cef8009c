package dev.nexa.slurm.run.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UnchangedTest {
  private static final RunId RUN = new RunId("train_20261124_101500");
  private static final FileTime TIME = FileTime.from(Instant.parse("2026-11-24T10:15:00Z"));

  @TempDir Path folder;
  private final Unchanged<String> unchanged = new Unchanged<>();
  private Path file = Path.of("");
  private int reads;

  @BeforeEach
  void write() throws IOException {
    file = folder.resolve("plan.json");
    Files.writeString(file, "one");
    Files.setLastModifiedTime(file, TIME);
  }

  private String read() {
    return unchanged.of(
        RUN,
        List.of(file, folder.resolve("other")),
        () -> {
          reads++;
          try {
            return Files.readString(file);
          } catch (IOException failed) {
            throw new IllegalStateException(failed);
          }
        });
  }

  @Test
  void aFileIsReadOnceWhileItStaysTheSame() {
    assertThat(read()).isEqualTo("one");
    assertThat(read()).isEqualTo("one");
    assertThat(reads).isEqualTo(1);
  }

  @Test
  void aLongerFileIsReadAgain() throws IOException {
    read();
    Files.writeString(file, "three");
    Files.setLastModifiedTime(file, TIME);

    assertThat(read()).isEqualTo("three");
  }

  @Test
  void aFileOfTheSameLengthWithALaterTimeIsReadAgain() throws IOException {
    read();
    Files.writeString(file, "two");
    Files.setLastModifiedTime(file, FileTime.from(TIME.toInstant().plusNanos(1_000_000)));

    assertThat(read()).isEqualTo("two");
  }

  @Test
  void aFileThatWasReplacedIsReadAgain() throws IOException {
    read();
    Path next = Files.writeString(folder.resolve("next"), "two");
    Files.setLastModifiedTime(next, TIME);
    Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);

    assertThat(read()).isEqualTo("two");
  }

  @Test
  void aFileThatAppearsBesideItCounts() throws IOException {
    read();
    Files.writeString(folder.resolve("other"), "");

    read();

    assertThat(reads).isEqualTo(2);
  }

  @Test
  void aFailureIsNotKept() throws IOException {
    Files.delete(file);
    assertThatThrownBy(this::read).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(this::read).isInstanceOf(IllegalStateException.class);

    assertThat(reads).isEqualTo(2);
  }
}
