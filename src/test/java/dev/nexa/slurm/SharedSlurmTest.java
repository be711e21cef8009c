package dev.nexa.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * A test on the shared development cluster holds its lock, because other tests stop its daemons.
 */
class SharedSlurmTest {
  private static final Path TESTS = Path.of("src/test/java");
  private static final Pattern TAGGED = Pattern.compile("@Tag\\(\"slurm\"\\)((?:\\s*@[^\\n]*)*)");

  @Test
  void everyTestOfTheSharedSlurmHoldsItsLock() throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(TESTS)) {
      files = all.filter(file -> file.toString().endsWith("Test.java")).toList();
    }
    assertThat(files).filteredOn(SharedSlurmTest::lacksTheLock).isEmpty();
    assertThat(files).filteredOn(file -> TAGGED.matcher(text(file)).find()).isNotEmpty();
  }

  private static boolean lacksTheLock(Path file) {
    String text = text(file);
    return !text.contains("PrivateSlurm")
        && !text.contains("\n@ResourceLock")
        && TAGGED
            .matcher(text)
            .results()
            .anyMatch(tagged -> !tagged.group(1).contains("@ResourceLock"));
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
