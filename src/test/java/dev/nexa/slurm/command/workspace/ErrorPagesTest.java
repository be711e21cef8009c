package dev.nexa.slurm.command.workspace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class ErrorPagesTest {
  private static final Path PAGES = Path.of("docs/errors");

  @TempDir Path folder;

  @Test
  void eachPageIsOfACode() throws IOException {
    try (Stream<Path> files = Files.list(PAGES)) {
      assertThat(files.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrderElementsOf(
              Arrays.stream(ErrorCode.values()).map(code -> code.text() + ".md").toList());
    }
  }

  @ParameterizedTest
  @EnumSource
  void eachCodeHasAPageWithItsExampleAndItsExitStatus(ErrorCode code) throws IOException {
    String page = Files.readString(PAGES.resolve(code.text() + ".md"));

    assertThat(page.lines().count()).isBetween(12L, 30L);
    assertThat(page).startsWith("# " + code.text() + "\n\n");
    assertThat(page.split("\n\n", -1)[1]).doesNotContain("\n").endsWith(".");
    assertThat(page)
        .containsSubsequence(
            "```text\n$ nexa-slurm ",
            "\nnexa-slurm: ",
            " [" + code.text() + "]\n",
            "Exit status " + code.exitCode().status() + ". Group `" + code.group().text() + "`:",
            "## Why\n\n",
            "## What to do\n\n- ");
  }

  @Test
  void eachCodeIsUsed() throws IOException {
    String main;
    try (Stream<Path> files = Files.walk(Path.of("src/main/java"))) {
      List<Path> sources =
          files
              .filter(file -> file.toString().endsWith(".java") && !file.endsWith("ErrorCode.java"))
              .toList();
      StringBuilder all = new StringBuilder();
      for (Path source : sources) {
        all.append(Files.readString(source));
      }
      main = all.toString();
    }
    assertThat(ErrorCode.values())
        .allSatisfy(code -> assertThat(main).containsPattern("ErrorCode\\." + code + "\\b"));
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          runs show latest --josn                          | option-unknown
          cancel                                           | argument-missing
          reconcile --watch soon                           | option-invalid
          runs list --limit 0                              | option-invalid
          estimate run.yaml --local --cluster x            | options-conflict
          render run.yaml --set a=1                        | config-unknown-key
          render run.yaml --set resources.time=soon        | config-invalid-value
          render run.yaml --set stage=[a]                  | config-wrong-type
          render run.yaml --set backend=python             | config-conflict
          render run.yaml --set cluster=nowhere            | file-not-found
          render nosuch.yaml                               | file-not-found
          render broken.yaml                               | config-syntax
          render empty.yaml                                | config-missing-key
          render runs.d                                    | file-not-regular
          --workspace /nowhere runs list                   | workspace-not-found
          status train_20251101_143200                     | run-unknown
          approvals list                                   | policy-incomplete
          usage 4711                                       | slurm-not-found
          submit run.yaml                                  | slurm-not-found
          usage --from nosuch                              | file-unreadable
          usage --from broken.yaml                         | accounting-file-unusable
          costs import csv bill.csv --provider gcp         | bill-unreadable
          """)
  void aFailurePrintsItsCodeAndEndsWithItsStatus(String command, String text) throws IOException {
    Terminal terminal = new Terminal(folder);
    terminal.file("run.yaml", "stage: data\nbackend: shell\nrun: 'true'\nresources: {time: 5m}\n");
    terminal.file("broken.yaml", "a: [1\n");
    terminal.file("empty.yaml", "backend: shell\n");
    terminal.file("bill.csv", "x,y\n1,2\n");
    terminal.file("runs.d/run.yaml", "");
    ErrorCode code = ErrorCode.of(text).orElseThrow();

    Screen screen = terminal.type(inWorkspace(command, terminal.workspace));

    assertThat(screen.err()).contains(" [" + text + "]\n");
    assertThat(screen.exit()).isEqualTo(code.exitCode().status());
    assertThat(screen.out()).isEmpty();
  }

  /** Files of other programs are named from the process's folder. */
  private static String[] inWorkspace(String command, Path workspace) {
    return Arrays.stream(command.split(" +", -1))
        .map(word -> word.matches("(broken.yaml|bill.csv)") ? workspace + "/" + word : word)
        .toArray(String[]::new);
  }

  @Test
  void explainPrintsThePageAndListsAllCodes() {
    Terminal terminal = new Terminal(folder);

    Screen page = terminal.type("explain", "run-unknown");
    Screen all = terminal.type("explain");

    assertThat(page.exit()).isZero();
    assertThat(page.out()).startsWith("# run-unknown\n").endsWith("\n");
    assertThat(all.out().lines().map(line -> line.split(" ", 2)[0]).collect(Collectors.toSet()))
        .contains("USER", "APPROVER", "CLUSTER", "DEFECT")
        .containsAll(Arrays.stream(ErrorCode.values()).map(ErrorCode::text).toList());
  }

  @Test
  void explainHasADocument() {
    Terminal terminal = new Terminal(folder);

    assertThat(terminal.type("explain", "over-budget", "--json").json().text("page"))
        .startsWith("# over-budget\n");
    assertThat(terminal.type("explain", "--json").json().objects("codes"))
        .hasSize(ErrorCode.values().length)
        .allSatisfy(code -> assertThat(code.text("summary")).endsWith("."));
  }

  @Test
  void explainSuggestsTheNearestCode() {
    Screen screen = new Terminal(folder).type("explain", "run-unknwon");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains(
            "there is no error code, no key and no page 'run-unknwon' (did you mean 'run-unknown'?)");
    assertThat(new Terminal(folder).type("explain", "resorces.memory").err())
        .contains("no page 'resorces.memory' (did you mean 'resources.memory'?)");
  }

  /** A login node has the jar and no repository, so a text names a page by the command. */
  @Test
  void noTextNamesAPageThatTheUserCannotOpen() throws IOException {
    Pattern page = Pattern.compile("(.{0,12})(docs/[a-z][a-z0-9-]*\\.md(?:#[a-z0-9-]+)?)");
    List<String> bare = new ArrayList<>();
    Set<String> named = new TreeSet<>();
    for (String folder : List.of("src/main/java", "docs/errors", "configs")) {
      for (Path file : files(Path.of(folder))) {
        for (String line : Files.readAllLines(file)) {
          boolean comment =
              file.toString().endsWith(".java") && line.strip().matches("(\\*|//|/\\*).*");
          Matcher found = page.matcher(comment ? "" : line);
          while (found.find()) {
            named.add(found.group(2));
            if (!found.group(1).matches("(?s).*explain(\", \"| )")) {
              bare.add(file + ": " + line.strip());
            }
          }
        }
      }
    }

    // The option's example, and the list of pages.
    bare.removeIf(line -> line.contains("command/workspace/"));
    assertThat(bare).isEmpty();
    assertThat(named).hasSizeGreaterThan(15).contains("docs/recovery.md");
    for (String name : named) {
      assertThat(new Terminal(folder).type("explain", name).out()).as(name).startsWith("#");
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(Files::isRegularFile).toList();
    }
  }

  @Test
  void explainListsThePages() {
    assertThat(new Terminal(folder).type("explain", "docs").out())
        .contains("nexa-slurm explain docs/first-run.md\n", "nexa-slurm explain docs/policy.md\n");
    assertThat(new Terminal(folder).type("explain", "docs/nope.md").err())
        .contains("there is no error code, no key and no page 'docs/nope.md'");
  }
}
