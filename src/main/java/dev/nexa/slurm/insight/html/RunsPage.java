package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.Report;
import dev.nexa.slurm.insight.report.ReportedRun;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Writes the table of runs: the newest rows as HTML, all rows as data for the program. */
record RunsPage(Report report, Set<String> pages) {
  static final String ID = "runs";

  /** How many rows stand in the HTML, for readers without scripts and for paper. */
  private static final int STATIC_ROWS = 200;

  static final int LONGEST_WORD = 200;

  Tag tag() {
    int all = report.runs().size();
    int shown = Math.min(STATIC_ROWS, all);
    Tag page = PageParts.page(ID, "Runs", Figures.count(all) + (all == 1 ? " run" : " runs"));
    if (all > shown) {
      page.add(
          PageParts.prose(
              Tag.styled("p", "note static-note"),
              "Without scripts the page shows the newest "
                  + shown
                  + " runs. `nexa-slurm runs list` shows all."));
    }
    Tag head =
        Tag.of("tr")
            .add(
                head("run", "run", "Run"),
                head("state", "state", "State"),
                // Before the names, which can be long: a reader sees it without scrolling.
                head("cost", "money", "Cost"));
    boolean mixed = currencies().size() > 1;
    if (mixed) {
      head.add(head("currency", "text", "Currency"));
    }
    head.add(
        head("stage", "text", "Stage"),
        head("project", "text", "Project"),
        head("user", "text", "User"),
        head("model", "text", "Model"),
        head("ended", "time", "Ended, UTC"),
        head("wait", "duration", "Waited"),
        head("time", "duration", "Ran"),
        head("gpu", "hours", "GPU-hours"));
    Tag body = Tag.of("tbody");
    report.runs().subList(0, shown).forEach(run -> body.add(row(run, mixed)));
    String currency = mixed || currencies().isEmpty() ? "" : ", " + currencies().iterator().next();
    Tag table =
        Tag.of("table")
            .with("id", "runs-table")
            .with("data-rows", "runs-data")
            .with("data-name", "runs")
            .with("data-search", "run name stage project user model dataset")
            .with("data-filters", "state:State user:User stage:Stage project:Project month:Month")
            .add(
                Tag.of("caption", "Runs, newest first" + currency),
                Tag.of("thead").add(head),
                body);
    return page.add(Table.scrolling("Runs", table), data().element("runs-data"));
  }

  private Set<String> currencies() {
    Set<String> all = new TreeSet<>();
    report.runs().forEach(run -> all.add(run.currency()));
    all.remove("");
    return all;
  }

  static Tag head(String column, String kind, String title) {
    Tag cell =
        Tag.of("th", title)
            .with("scope", "col")
            .with("data-column", column)
            .with("data-kind", kind);
    return List.of("run", "state", "text").contains(kind) ? cell : cell.with("class", "n");
  }

  private Tag row(ReportedRun run, boolean mixed) {
    Tag name = Tag.of("th").with("scope", "row").add(PageParts.run(run.id(), pages));
    if (!run.name().isEmpty()) {
      name.add(Tag.styled("span", "name").text(DataScript.shortened(run.name(), LONGEST_WORD)));
    }
    Tag row =
        Tag.of("tr")
            .add(
                name,
                Tag.of("td").add(PageParts.badge(run.state())),
                Tag.styled("td", "n").text(Figures.money(run.cost(), run.currency())));
    if (mixed) {
      row.add(Tag.of("td", Figures.word(run.currency())));
    }
    for (String word :
        List.of(
            run.labels().stage(),
            run.labels().project(),
            run.labels().user(),
            run.labels().model())) {
      row.add(Tag.of("td", Figures.word(DataScript.shortened(word, LONGEST_WORD))));
    }
    for (String number :
        List.of(
            Figures.time(run.times().ended()),
            Figures.duration(run.times().queueSeconds()),
            Figures.duration(run.times().runSeconds()),
            Figures.hours(run.gpuSeconds()))) {
      row.add(Tag.styled("td", "n").text(number));
    }
    return row;
  }

  private DataScript data() {
    List<ReportedRun> runs = report.runs();
    DataScript data = new DataScript(runs.size());
    currencies().forEach(data::digits);
    return data.values("run", runs, ReportedRun::id)
        .words("name", runs, run -> DataScript.shortened(run.name(), LONGEST_WORD))
        .words("state", runs, ReportedRun::state)
        .words("stage", runs, run -> run.labels().stage())
        .words("project", runs, run -> DataScript.shortened(run.labels().project(), LONGEST_WORD))
        .words("user", runs, run -> DataScript.shortened(run.labels().user(), LONGEST_WORD))
        .words("model", runs, run -> DataScript.shortened(run.labels().model(), LONGEST_WORD))
        .words("dataset", runs, run -> DataScript.shortened(run.labels().dataset(), LONGEST_WORD))
        .words("month", runs, run -> run.times().month())
        .words("currency", runs, ReportedRun::currency)
        .numbers("ended", runs, run -> run.times().ended().map(at -> at.getEpochSecond()))
        .numbers("wait", runs, run -> run.times().queueSeconds())
        .numbers("time", runs, run -> run.times().runSeconds())
        .numbers("gpu", runs, run -> Optional.of(run.gpuSeconds()))
        // In the currency's smallest unit, which a browser adds exactly.
        .numbers(
            "cost", runs, run -> run.cost().map(one -> DataScript.minorUnits(one, run.currency())));
  }
}
