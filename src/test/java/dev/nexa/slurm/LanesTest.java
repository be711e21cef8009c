package dev.nexa.slurm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * What ./check has in a short form, or not at all, is in dev/full, and the pages name real tests.
 */
class LanesTest {
  private static final Path TESTS = Path.of("src/test/java/dev/nexa/slurm");
  private static final Pattern CLASS = Pattern.compile("\\b[A-Z]\\w+Test\\b");

  private static Set<String> classes(String wanted) throws IOException {
    Set<String> classes = new TreeSet<>();
    try (Stream<Path> files = Files.walk(TESTS)) {
      for (Path file : files.filter(one -> one.toString().endsWith("Test.java")).toList()) {
        String text = Files.readString(file);
        if (Pattern.compile(wanted).matcher(text).find() && !file.endsWith("LanesTest.java")) {
          classes.add(file.getFileName().toString().replace(".java", ""));
        }
      }
    }
    return classes;
  }

  private static Set<String> named(String file) throws IOException {
    return CLASS
        .matcher(Files.readString(Path.of(file)))
        .results()
        .map(MatchResult::group)
        .filter(name -> !name.equals("TimeLimitTest"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void devFullHasEachSuiteThatCheckHasNotInFull() throws IOException {
    Set<String> there = named("dev/full");

    assertThat(classes("@Tag\\(\"(full|stops-slurm)\"\\)|\\bSuiteSize\\.")).isSubsetOf(there);
    assertThat(there).isSubsetOf(classes("\\bclass "));
  }

  @Test
  void eachTestThatHoldsAPromiseExists() throws IOException {
    assertThat(named("CONTRIBUTING.md")).hasSizeGreaterThan(40).isSubsetOf(classes("\\bclass "));
  }

  @Test
  void eachPromiseHasATestInCheck() throws IOException {
    Set<String> elsewhere = classes("(?m)^@Tag\\(\"(long|full|stops-slurm)\"\\)");
    List<String> rows =
        Files.readAllLines(Path.of("CONTRIBUTING.md")).stream()
            .dropWhile(line -> !line.startsWith("| promise |"))
            .skip(2)
            .takeWhile(line -> line.startsWith("|"))
            .filter(line -> CLASS.matcher(line).find())
            .toList();

    assertThat(rows)
        .hasSizeGreaterThan(30)
        .allSatisfy(
            row ->
                assertThat(CLASS.matcher(row).results().map(MatchResult::group))
                    .as(row)
                    .anyMatch(name -> !elsewhere.contains(name)));
  }

  /** The guard shows what ./check and ./check --long protect. */
  @Test
  void eachFaultOfTheGuardIsFoundByTestsOfCheck() throws IOException {
    Set<String> full = classes("(?m)^@Tag\\(\"(full|stops-slurm)\"\\)");
    try (Stream<Path> patches = Files.list(Path.of("src/test/mutants"))) {
      for (Path patch : patches.toList()) {
        String tests = Files.readString(patch).split("\n\n", 2)[0];
        Set<String> named =
            CLASS
                .matcher(tests)
                .results()
                .map(MatchResult::group)
                .collect(Collectors.toCollection(TreeSet::new));
        assertThat(named).as("%s", patch).isNotEmpty().doesNotContainAnyElementsOf(full);
        assertThat(appliesToThisTree(patch)).as("%s applies", patch).isTrue();
      }
    }
  }

  private static boolean appliesToThisTree(Path patch) throws IOException {
    Path checkout = Path.of("pom.xml").toRealPath().resolveSibling("");
    List<String> argv = List.of("git", "apply", "--check", patch.toRealPath().toString());
    Command command = new Command(argv, System.getenv(), checkout, Duration.ofMinutes(1));
    return new CommandRunner().run(command).succeeded();
  }
}
