package dev.nexa.slurm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.assertj.core.util.diff.DiffUtils;

/**
 * Compares text with a file that a person has looked at. A file that is missing fails like one that
 * differs; {@code mvn test -Dgolden.update=true} accepts what came out, and `git diff` shows what
 * that means.
 */
public final class Golden {
  /** Where golden files lie, one folder a package. */
  public static final Path FOLDER = Path.of("src/test/resources/golden");

  private static final int CONTEXT = 3;

  private Golden() {}

  /** Compares with {@code src/test/resources/golden/NAME}. */
  public static void check(String name, String actual) {
    compare(FOLDER.resolve(name), actual, Boolean.getBoolean("golden.update"));
  }

  /** The same for a file that lies elsewhere, because others read it too. */
  public static void checkFile(Path file, String actual) {
    compare(file, actual, Boolean.getBoolean("golden.update"));
  }

  static void compare(Path file, String actual, boolean update) {
    try {
      if (update) {
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, actual);
      } else if (!Files.exists(file)) {
        throw new AssertionError("There is no " + file + "; " + howTo() + "\n" + actual);
      } else if (!Files.readString(file).equals(actual)) {
        throw new AssertionError(
            file + " differs; " + howTo() + "\n" + diff(file, Files.readString(file), actual));
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private static String howTo() {
    return "if what follows is right, accept it: mvn test -Dgolden.update=true";
  }

  private static String diff(Path file, String expected, String actual) {
    List<String> before = lines(expected);
    return String.join(
        "\n",
        DiffUtils.generateUnifiedDiff(
            file.toString(),
            "what came out",
            before,
            DiffUtils.diff(before, lines(actual)),
            CONTEXT));
  }

  /** A last line without a newline is another line than one with it. */
  private static List<String> lines(String text) {
    return List.of((text.endsWith("\n") ? text + "(end)" : text + "(end, no newline)").split("\n"));
  }
}
