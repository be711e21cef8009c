package dev.nexa.slurm.command.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.insight.html.Browser;
import dev.nexa.slurm.insight.html.ManyReportedRuns;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * axe-core looks at a page of each kind in both themes, in Chromium: contrast, names of controls,
 * tables, headings, landmarks. {@code -Dpictures=DIR} keeps a picture of each.
 */
@Tag("full")
class AccessibilityTest {
  private static final String PICTURES = System.getProperty("pictures", "");

  /** Returns a line for each violation: the rule, and the first element. */
  private static final String VIOLATIONS =
      """
      return axe.run(document).then((found) => found.passes.length < 10
        ? 'axe looked at nothing' : found.violations.map((one) =>
        one.id + ': ' + one.nodes.length + ' x ' + one.nodes[0].target + ' ' + one.nodes[0].failureSummary
      ).join('\\n'));
      """;

  @TempDir Path folder;

  @Test
  void noPageOfTheReportHasAViolation() throws IOException {
    Terminal terminal = new Terminal(folder).withSlurm();
    ManyReportedRuns.write(terminal.workspace, 20, 30, Instant.now());
    terminal.file(
        "configs/policy.yaml",
        "approval_over: {amount: 100, currency: USD}\nbudgets:\n"
            + "  - {scope: project, name: assistant, amount: 2000, currency: USD, period: month}\n");
    pipeline(terminal);
    Path file = folder.resolve("report.html");
    Screen screen = terminal.type("report", "--out", file.toString());
    assertThat(screen.exit()).as(screen.err()).isZero();
    String axe = axe();

    List<String> violations = new ArrayList<>();
    try (Browser browser = new Browser(folder.resolve("profile"))) {
      browser.open(file, "");
      browser.run(axe + "\nwindow.axe = axe;");
      String ids =
          browser.text(
              "return [...document.querySelectorAll('section')].map((s) => s.id).join(' ')");
      for (String theme : List.of("light", "dark")) {
        browser.run("document.documentElement.dataset.theme = arguments[0]", theme);
        for (String page : oneOfEachKind(ids)) {
          browser.run("location.hash = '#' + arguments[0]", page);
          browser.text("return new Promise((done) => requestAnimationFrame(() => done('')))");
          assertThat(browser.text("return document.querySelector('section.shown').id"))
              .isEqualTo(page);
          String found = browser.text(VIOLATIONS);
          if (!found.isEmpty()) {
            violations.add(theme + " " + page + "\n" + found);
          }
          if (!PICTURES.isEmpty()) {
            browser.picture(Path.of(PICTURES, theme + "-" + page.split("/", 2)[0] + ".png"));
          }
        }
      }
    }
    assertThat(violations).isEmpty();
  }

  private static void pipeline(Terminal terminal) {
    String stage = "stage: %s\nbackend: shell\nrun: 'true'\nresources: {time: 10m, memory: 1G}\n";
    terminal
        .file("one.yaml", stage.formatted("data"))
        .file("two.yaml", stage.formatted("train"))
        .file(
            "life.yaml",
            "stages:\n  first: {config: one.yaml}\n  second: {config: two.yaml, after: [first]}\n");
    Screen made =
        terminal.type("pipeline", "run", terminal.workspace.resolve("life.yaml").toString());
    assertThat(made.exit()).as(made.err()).isZero();
  }

  private static List<String> oneOfEachKind(String ids) {
    List<String> chosen = new ArrayList<>();
    List<String> kinds = new ArrayList<>();
    for (String id : ids.split(" ", -1)) {
      // The newest runs have not ended: their pages have no timeline.
      String kind = id.split("/", 2)[0] + id.contains("/") + id.endsWith("_3");
      if (!kinds.contains(kind)) {
        kinds.add(kind);
        chosen.add(id);
      }
    }
    return chosen;
  }

  private static String axe() throws IOException {
    try (InputStream in = AccessibilityTest.class.getResourceAsStream("/axe.min.js")) {
      return new String(Objects.requireNonNull(in).readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}
