package dev.nexa.slurm.insight.html;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.text.VisibleText;
import java.io.InputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A reader opens a report with hostile texts in Chromium, sorts, filters, and goes to a run. */
@Tag("long")
class ReportInBrowserTest {
  private static final String HOSTILE =
      "</script><img src=x onerror=\"document.title='run'\"><b>\"'&lt; \u2028\u202e";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** The rows that the table of runs shows: the last words of their names. */
  private static final String NAMES =
      "return [...document.querySelectorAll('#runs-table tbody .name')]"
          + ".map((name) => name.textContent.split(' ').pop()).join(' ')";

  @TempDir Path folder;

  private Browser browser;

  private void until(String expected, String program) throws InterruptedException {
    Instant end = Instant.now().plus(PATIENCE);
    String got = browser.text(program);
    while (!got.equals(expected) && Instant.now().isBefore(end)) {
      Thread.sleep(50);
      got = browser.text(program);
    }
    assertThat(got).as(program).isEqualTo(expected);
  }

  @Test
  void nothingRunsButTheReportsOwnProgram() throws Exception {
    HostileReport made = new HostileReport(HOSTILE, 120);
    Path file = folder.resolve("report.html");
    Files.writeString(file, ReportPage.html(made.report(3)));
    try (Browser opened = new Browser(folder.resolve("profile"))) {
      browser = opened;
      browser.open(file, "");
      until("overview", shown());

      browser.run("document.querySelector('header nav a[href=\"#runs\"]').click()");
      until("runs", shown());
      until(name() + " more-0 more-1 more-2", NAMES);

      // The costs are 10, 30, 20 and 10.
      click("cost");
      until("more-0 more-1 " + name() + " more-2", NAMES);
      click("cost");
      until(name() + " more-2 more-1 more-0", NAMES);
      assertThat(browser.text("return document.querySelector('[data-column=cost]').ariaSort"))
          .isEqualTo("ascending");

      type("runs-table-search", "MORE-1");
      until("more-1", NAMES);
      assertThat(browser.text("return document.querySelector('#runs .count').textContent"))
          .isEqualTo("1 of 4 runs \u00b7 20.00 USD \u00b7 1.0 GPU-hours");
      type("runs-table-search", "<img");
      until(name() + " more-2 more-1 more-0", NAMES);
      browser.run(
          "const state = document.getElementById('runs-table-state');"
              + "state.value = [...state.options].find((one) => one.text === 'failed').value;"
              + "state.dispatchEvent(new Event('change'))");
      until(name(), NAMES);

      browser.run("document.querySelector('#runs-table tbody a').click()");
      until("run/" + HostileReport.RUN, shown());
      browser.run("history.back()");
      until("runs", shown());
      assertThat(browser.text(NAMES)).as("Back finds the filters").isEqualTo(name());
      browser.run("location.hash = 'runs?search=more-1%26%2B'");
      until("more-1&+", "return document.getElementById('runs-table-search').value");
      browser.run("document.querySelector('header nav a[href=\"#runs\"]').click()");
      until(name() + " more-2 more-1 more-0", NAMES);
      browser.run("document.querySelector('#runs-table tbody a').click()");
      until("run/" + HostileReport.RUN, shown());
      assertThat(
              browser.text(
                  "return document.querySelector('section.shown .failure h2').textContent"))
          .isEqualTo(VisibleText.line("headline " + HOSTILE));
      assertThat(browser.text("return document.querySelector('section.shown .count').textContent"))
          .startsWith("1\u2013100 of 120 attempts");

      assertThat(browser.text("return document.querySelectorAll('img, b, iframe, object').length"))
          .isEqualTo("0");
      assertThat(browser.text("return document.title")).startsWith(HostileReport.RUN);
      assertThat(browser.console()).isEmpty();
      String address = file.toUri().toString();
      assertThat(browser.requests(address)).isNotEmpty().containsOnly(address);
    }
  }

  /** Long names of models and projects push no figure out of sight, on a screen or on paper. */
  @Test
  void theCostIsInSightWhateverTheNames() throws Exception {
    HostileReport made =
        new HostileReport("meta-llama/Meta-Llama-3.1-70B-Instruct-customer-support-assistant", 3);
    Path file = folder.resolve("report.html");
    Files.writeString(file, ReportPage.html(made.report(3)));
    try (Browser opened = new Browser(folder.resolve("profile"))) {
      browser = opened;
      browser.open(file, "#runs");
      until("runs", shown());
      for (int width : new int[] {1440, 1280, 1024, 390}) {
        browser.width(width, "screen");
        assertThat(browser.text(rightOf("cost"))).as(width + " pixels").isEqualTo("in sight");
      }
      browser.width(718, "print");
      for (String column : new String[] {"cost", "model", "wait", "time", "gpu"}) {
        assertThat(browser.text(rightOf(column))).as(column + " on paper").isEqualTo("in sight");
      }
    }
  }

  /** The program writes the figures of long tables, Java those of all other places. */
  @Test
  void theProgramWritesFiguresAsJavaDoes() throws Exception {
    String program;
    try (InputStream in = ReportPage.class.getResourceAsStream("report.js")) {
      program = new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
    String figures =
        "const DASH = '\u2013';"
            + program.substring(
                program.indexOf("/* Numbers and times"), program.indexOf("const isNumber"));
    List<String> calls = new ArrayList<>();
    List<String> expected = new ArrayList<>();
    Random random = new Random(2026);
    for (int i = 0; i < 400; i++) {
      long value = random.nextLong(1L << (1 + random.nextInt(38)));
      calls.add("show(data, 'hours', %d, 0)".formatted(value));
      expected.add(Figures.hours(value));
      calls.add("show(data, 'duration', %d, 0)".formatted(value));
      expected.add(Figures.duration(value));
      calls.add("show(data, 'time', %d, 0)".formatted(value));
      expected.add(Figures.time(Instant.ofEpochSecond(value)));
      calls.add("show(data, 'count', %d, 0)".formatted(value));
      expected.add(Figures.count(value));
      calls.add("show(data, 'money', %d, 0)".formatted(value));
      expected.add(Figures.money(BigDecimal.valueOf(value, 2), "USD"));
    }
    try (Browser opened = new Browser(folder.resolve("profile"))) {
      String written =
          opened.text(
              figures
                  + " const data = {columns: {}, digits: {}}; return ["
                  + String.join(",", calls)
                  + "].join('|')");
      assertThat(List.of(written.split("\\|", -1))).isEqualTo(expected);
    }
  }

  /** Says where the right end of a column's first cell is. */
  private static String rightOf(String column) {
    return "const at = [...document.querySelectorAll('#runs-table thead th')].findIndex((one) =>"
        + " one.dataset.column === '"
        + column
        + "'); const cell = document.querySelector('#runs-table tbody tr').children[at];"
        + " const right = cell.getBoundingClientRect().right;"
        + " const room = document.querySelector('#runs-table').closest('.scroll').getBoundingClientRect().right;"
        + " return right <= Math.min(room, innerWidth) + 1 ? 'in sight' : right + ' of ' + room";
  }

  private static String shown() {
    return "return document.querySelector('section.shown')?.id";
  }

  private static String name() {
    String all = VisibleText.line("name " + HOSTILE);
    return all.substring(all.lastIndexOf(' ') + 1);
  }

  private void click(String column) {
    browser.run(
        "document.querySelector('#runs-table [data-column=" + column + "] button').click()");
  }

  private void type(String input, String words) {
    browser.run(
        "const input = document.getElementById(arguments[0]);"
            + "input.value = arguments[1]; input.dispatchEvent(new Event('input'))",
        input,
        words);
  }
}
