package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.program.PackedFile;
import dev.nexa.slurm.insight.report.Report;
import dev.nexa.slurm.insight.report.RunDetail;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Writes the report as one HTML document that loads nothing. Its content security policy allows
 * only the program and the style sheet that are in it, by their digests.
 */
public final class ReportPage {
  private ReportPage() {}

  /** Returns the document. */
  public static String html(Report report) {
    String program = PackedFile.text(ReportPage.class, "report.js");
    return document(
        "nexa-slurm report of " + report.workspace(),
        program,
        Tag.of("body")
            .add(
                Tag.of("a", "Skip to the content")
                    .with("class", "skip")
                    .with("href", "#" + first(report)),
                header(report),
                Tag.of("main").with("id", "content").add(sections(report)),
                footer(report),
                Tag.of("script").raw(program)));
  }

  /**
   * Returns a document with our style sheet.
   *
   * @param program the only program that may run; empty for none
   */
  static String document(String title, String program, Tag body) {
    String style = PackedFile.text(ReportPage.class, "report.css");
    Tag head =
        Tag.of("head")
            .add(
                Tag.of("meta").with("charset", "utf-8"),
                Tag.of("meta")
                    .with("http-equiv", "Content-Security-Policy")
                    .with("content", policy(program, style)),
                Tag.of("meta").with("name", "referrer").with("content", "no-referrer"),
                Tag.of("meta")
                    .with("name", "viewport")
                    .with("content", "width=device-width, initial-scale=1"),
                Tag.of("title", title),
                Tag.of("style").raw(style));
    return "<!doctype html>\n" + Tag.of("html").with("lang", "en").add(head, body) + "\n";
  }

  /** Returns the sentence below the title of the first page. */
  static String about(Report report) {
    return "%s%s, as of %s UTC; unfinished runs as of the last reconcile"
        .formatted(
            report.workspace(),
            report.scope().map(", "::concat).orElse(""),
            Figures.time(report.made()));
  }

  private static String policy(String program, String style) {
    String programs = program.isEmpty() ? "none" : "sha256-" + digest(program);
    return ("default-src 'none'; script-src '%s'; style-src 'sha256-%s'; base-uri "
            + "'none'; form-action 'none'; require-trusted-types-for 'script'")
        .formatted(programs, digest(style));
  }

  private static String digest(String text) {
    byte[] sum = Sha256.digest().digest(text.getBytes(StandardCharsets.UTF_8));
    return Base64.getEncoder().encodeToString(sum);
  }

  private static String first(Report report) {
    return report.overview().isPresent()
        ? FirstPage.ID
        : !report.pipelines().isEmpty()
            ? "pipeline/" + report.pipelines().get(0).id()
            : report.details().isEmpty()
                ? RunsPage.ID
                : "run/" + report.details().get(0).run().id();
  }

  private static Tag header(Report report) {
    Tag nav = Tag.of("nav").with("aria-label", "Pages");
    if (report.overview().isPresent()) {
      nav.add(link(FirstPage.ID, "Overview", ""));
    }
    nav.add(link(RunsPage.ID, "Runs", "run/"));
    if (report.overview().isPresent() || !report.pipelines().isEmpty()) {
      nav.add(link(PipelinePages.ID, "Pipelines", "pipeline/"));
    }
    if (report.overview().isPresent()) {
      nav.add(link(ReleasePages.ID, "Releases", "release/"));
    }
    return Tag.of("header")
        .add(
            Tag.of("strong", "nexa-slurm"),
            nav.add(link("about", "About", "")),
            Tag.of("button", "Dark")
                .with("id", "theme")
                .with("type", "button")
                .with("aria-label", "Switch between the light and the dark theme")
                .with("hidden"));
  }

  private static Tag link(String id, String words, String of) {
    Tag link = Tag.link(words, "#" + id);
    return of.isEmpty() ? link : link.with("data-of", of);
  }

  private static List<Tag> sections(Report report) {
    Set<String> pages = new HashSet<>();
    Map<String, List<String>> readers = new HashMap<>();
    for (RunDetail detail : report.details()) {
      pages.add(detail.run().id());
      for (String input : detail.inputs()) {
        readers.computeIfAbsent(input, id -> new ArrayList<>()).add(detail.run().id());
      }
    }
    List<Tag> runs =
        report.details().stream().map(detail -> new RunPage(detail, pages, readers).tag()).toList();
    List<Tag> pipelines = new PipelinePages(report.pipelines(), pages).tags();
    Tag table = new RunsPage(report, pages).tag();
    List<Tag> sections = new ArrayList<>();
    if (report.overview().isPresent()) {
      sections.add(new FirstPage(report, report.overview().get()).tag());
      sections.add(table);
      sections.addAll(pipelines);
      sections.addAll(new ReleasePages(report.releases(), pages).tags());
      sections.addAll(runs);
    } else if (!report.pipelines().isEmpty()) {
      sections.addAll(pipelines.subList(1, pipelines.size()));
      sections.add(pipelines.get(0));
      sections.add(table);
      sections.addAll(runs);
    } else {
      sections.addAll(runs);
      sections.add(table);
    }
    sections.add(elsewhere(report));
    sections.add(about(report, pages.size()));
    return sections;
  }

  /** Returns the page that the program shows for a run without a page of its own. */
  private static Tag elsewhere(Report report) {
    String sub =
        "This report has pages of the newest %s runs. This command writes the page of this run:"
            .formatted(report.mostDetails());
    return PageParts.page("run-elsewhere", "A run without a page", sub)
        .add(Tag.of("p").add(Tag.of("code", "nexa-slurm report --run RUN")));
  }

  private static Tag about(Report report, int pages) {
    Tag page =
        PageParts.page("about", "About this report", about(report))
            .add(
                PageParts.prose(
                    Tag.of("p"),
                    "`nexa-slurm report` wrote this file from the manifests, cost files and the"
                        + " ledger of the workspace. The file holds everything: it loads nothing"
                        + " from a network, and its program sends nothing."),
                PageParts.prose(
                    Tag.of("p"),
                    ("The table of runs has %s runs; %s of them have a page: the "
                            + "newest %s at most (--details N). `nexa-slurm report --run RUN` "
                            + "writes the page of any other run.")
                        .formatted(
                            Figures.count(report.runs().size()),
                            Figures.count(pages),
                            Figures.count(report.mostDetails()))),
                PageParts.prose(
                    Tag.of("p"),
                    "Sums count the runs that are settled, in the month in which they ended. States"
                        + " of unfinished runs and pipelines are those of the last pass of"
                        + " `nexa-slurm reconcile`."));
    if (report.redacted()) {
      page.add(
          PageParts.prose(
              Tag.of("p"),
              "This report was written with --redact. Names of people, projects, models, machines"
                  + " and others are replaced: the same number stands for the same name in this"
                  + " file only. Paths, scripts, configs, log lines, metrics and links are left"
                  + " out. Amounts, times, states and GPU types are as they were."));
    }
    if (!report.problems().isEmpty()) {
      List<Tag> items = report.problems().stream().map(one -> Tag.of("li", one)).toList();
      page.add(PageParts.card("Records that could not be read").add(Tag.of("ul").add(items)));
    }
    return page;
  }

  private static Tag footer(Report report) {
    return Tag.of("footer")
        .text(
            "nexa-slurm report of %s. Amounts of different currencies are never added."
                .formatted(about(report)));
  }
}
