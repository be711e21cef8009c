package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Each library in the jar is named with its version and its licence, and its text is there. */
class LicencesTest {
  private static final Path CLASSES = Path.of("target/classes/META-INF");

  /** Licences whose text is in META-INF/libraries for the libraries whose own jar holds none. */
  private static final List<String> TEXTS = List.of("Apache-2.0", "MIT-0");

  private static final Pattern LINE =
      Pattern.compile("(\\S+) (\\S+), ([^:]+): (.*), (\\S+)(, .*)?");

  /** By {@code artifact version}. */
  static Map<String, String> named(String text) {
    Map<String, String> licences = new TreeMap<>();
    for (String line : text.lines().filter(each -> !each.isBlank()).toList()) {
      Matcher parts = LINE.matcher(line);
      assertThat(parts.matches()).as(line).isTrue();
      licences.put(parts.group(1) + " " + parts.group(2), parts.group(3));
    }
    return licences;
  }

  private static String list() throws IOException {
    return Files.readString(CLASSES.resolve("THIRD-PARTY.txt"));
  }

  /** What Maven puts on the class path of the program, by its own list of dependencies. */
  private static Set<String> dependencies() throws IOException {
    TreeSet<String> libraries = new TreeSet<>();
    Pattern dependency =
        Pattern.compile("\\s+[^:]+:([^:]+):jar:(?:[a-z][a-z0-9_]*:)?([^:]+):(compile|runtime).*");
    for (String line : Files.readAllLines(Path.of("target/libraries.txt"))) {
      Matcher parts = dependency.matcher(line);
      if (parts.matches()) {
        libraries.add(parts.group(1) + " " + parts.group(2));
      }
    }
    return libraries;
  }

  @Test
  void eachDependencyIsNamedWithALicenceAndItsTextIsThere() throws IOException {
    Map<String, String> named = named(list());

    assertThat(named.keySet()).isEqualTo(dependencies()).hasSizeGreaterThan(30);
    for (Map.Entry<String, String> library : named.entrySet()) {
      Path folder = CLASSES.resolve("libraries").resolve(library.getKey().replace(' ', '-'));
      boolean own;
      try (var files = Files.walk(folder)) {
        own = files.anyMatch(file -> file.getFileName().toString().startsWith("LICENSE"));
      }
      assertThat(own || TEXTS.contains(library.getValue())).as("%s", library).isTrue();
      assertThat(library.getValue()).isIn("Apache-2.0", "BSD-3-Clause", "MIT", "MIT-0");
    }
    for (String text : TEXTS) {
      assertThat(CLASSES.resolve("libraries/" + text + ".txt")).isNotEmptyFile();
    }
  }

  @Test
  void theOptionPrintsThem(@TempDir Path folder) throws IOException {
    Terminal terminal = new Terminal(folder);

    assertThat(terminal.type("--version", "--licenses").out())
        .startsWith("nexa-slurm ")
        .contains("META-INF/libraries")
        .contains(list().strip().lines().toList());
    assertThat(terminal.type("--licenses").out()).contains("picocli ", "costexplorer ");
    assertThat(terminal.type("--version").out()).doesNotContain("picocli");
  }
}
