package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.ExplainedFailure;
import dev.nexa.slurm.insight.report.Fact;
import dev.nexa.slurm.insight.report.OutsideLink;
import dev.nexa.slurm.insight.report.ReportedAttempt;
import dev.nexa.slurm.insight.report.ReportedRun;
import dev.nexa.slurm.insight.report.RunDetail;
import dev.nexa.slurm.job.estimate.CostLine;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Writes the page of one run.
 *
 * @param pages the ids of the runs that have a page
 * @param readers for each run, the later runs of the report that read its output
 */
record RunPage(RunDetail detail, Set<String> pages, Map<String, List<String>> readers) {
  private static final int STATIC_ROWS = 100;
  private static final int MICRO_DIGITS = 6;

  private ReportedRun run() {
    return detail.run();
  }

  Tag tag() {
    Tag page = Tag.of("section").with("id", "run/" + run().id()).add(Tag.of("h1", run().id()));
    page.add(
        Tag.styled("p", "sub")
            .add(PageParts.badge(run().state()))
            .text(run().name().isEmpty() ? "" : " \u00b7 " + run().name())
            .text(" \u00b7 " + run().labels().stage())
            .text(run().labels().user().isEmpty() ? "" : " \u00b7 " + run().labels().user()));
    page.add(tiles());
    detail.failure().ifPresent(failure -> page.add(failure(failure)));
    if (!detail.costs().attempts().isEmpty()) {
      page.add(
          PageParts.card("Timeline of attempts").add(Timeline.figure(detail.costs().attempts())));
    }
    if (!detail.charts().isEmpty()) {
      page.add(charts());
    }
    page.add(
        Tag.styled("div", "two").add(PageParts.card("Run").add(PageParts.facts(facts())), money()));
    lineage().ifPresent(page::add);
    if (!detail.costs().attempts().isEmpty()) {
      page.add(attempts());
    }
    if (!detail.metrics().isEmpty()) {
      page.add(PageParts.card("Metrics").add(PageParts.facts(detail.metrics())));
    }
    if (!detail.links().isEmpty()) {
      Tag list = Tag.styled("dl", "facts");
      for (OutsideLink link : detail.links()) {
        Tag outside = Tag.link(link.url(), link.url()).with("rel", "noopener noreferrer");
        list.add(Tag.of("dt", link.label()), Tag.of("dd").add(outside));
      }
      page.add(PageParts.card("Elsewhere").add(list));
    }
    if (!detail.remediation().isEmpty()) {
      page.add(PageParts.card("What was done").add(PageParts.facts(detail.remediation())));
    }
    if (detail.script().isPresent() || detail.config().isPresent()) {
      Tag files = PageParts.card("Script and config");
      detail
          .script()
          .ifPresent(text -> files.add(PageParts.folded("Script that sbatch was given", text)));
      detail
          .config()
          .ifPresent(text -> files.add(PageParts.folded("Config with every key resolved", text)));
      page.add(files);
    }
    return page;
  }

  private Tag tiles() {
    ReportedRun run = detail.run();
    return Tag.styled("dl", "tiles")
        .add(
            PageParts.tile(
                "Cost", Figures.money(run.cost(), run.currency()), run.currency(), reserved()),
            PageParts.tile(
                "Ran",
                Figures.duration(run.times().runSeconds()),
                "",
                "ended " + Figures.time(run.times().ended())),
            PageParts.tile(
                "Waited",
                Figures.duration(run.times().queueSeconds()),
                "",
                "created " + Figures.time(run.times().created())),
            PageParts.tile(
                "GPU-hours",
                Figures.hours(run.gpuSeconds()),
                "h",
                detail
                    .idleShare()
                    .map(share -> "idle " + Figures.percent(share, BigDecimal.ONE) + " of the time")
                    .orElse(run.labels().gpuType().isEmpty() ? "no GPUs" : run.labels().gpuType())),
            PageParts.tile(
                "Tasks",
                Figures.count(run.tasks()),
                "",
                run.tasksFailed() == 0
                    ? "none failed"
                    : Figures.count(run.tasksFailed()) + " failed"));
  }

  private String reserved() {
    return run().reservation().isEmpty()
        ? "nothing was reserved"
        : "of " + Figures.money(run().reservation(), run().currency()) + " reserved";
  }

  private static Tag failure(ExplainedFailure failure) {
    return Tag.styled("div", "failure")
        .add(
            Tag.of("h2", failure.headline()).with("dir", "auto"), PageParts.facts(failure.facts()));
  }

  private List<Fact> facts() {
    Stream<Fact> own =
        Stream.of(
            new Fact("Project", run().labels().project()),
            new Fact("Pipeline", run().labels().pipeline()),
            new Fact("Model", run().labels().model()),
            new Fact("Dataset", run().labels().dataset()),
            new Fact("Account", run().labels().account()),
            new Fact("Partition", run().labels().partition()),
            new Fact("Cluster", run().labels().cluster()),
            new Fact("Started", run().times().started().map(Figures::time).orElse("")));
    return Stream.concat(own.filter(fact -> !fact.value().isEmpty()), detail.facts().stream())
        .toList();
  }

  private Tag money() {
    Tag card = PageParts.card("Money");
    Table sums = new Table("Reserved and actual", run().currency()).words("Sum").numbers("Amount");
    detail.costs().sums().forEach(sum -> sums.row(sum.label(), new BigDecimal(sum.value())));
    if (!sums.isEmpty()) {
      card.add(sums.tag());
    }
    Table lines =
        new Table("Priced lines", run().currency())
            .breaking()
            .words("What")
            .numbers("Quantity", "Unit price", "Amount")
            .words("Price from");
    for (CostLine line : detail.costs().lines()) {
      lines.row(
          line.what(),
          line.quantity().toPlainString() + " " + line.unit().replace('_', ' '),
          line.unitPrice().toPlainString(),
          Figures.money(line.amount().amount(), line.amount().currency()),
          Tag.styled("span", "long").text(line.source()));
    }
    return lines.isEmpty()
        ? card.add(PageParts.note("The run has no cost file yet."))
        : card.add(lines.tag());
  }

  private Tag charts() {
    return PageParts.card("Telemetry and loss")
        .add(
            PageParts.note(
                "Of task 0: its newest attempt, on its first node. `nexa-slurm monitor show "
                    + run().id()
                    + "` shows others."),
            Tag.styled("div", "two").add(detail.charts().stream().map(Curves::figure).toList()));
  }

  private Optional<Tag> lineage() {
    List<String> later = readers.getOrDefault(run().id(), List.of());
    if (detail.inputs().isEmpty() && later.isEmpty()) {
      return Optional.empty();
    }
    Tag list = Tag.styled("dl", "facts");
    add(list, "Read the output of", detail.inputs());
    add(list, "Its output was read by", later);
    return Optional.of(PageParts.card("Lineage").add(list));
  }

  private void add(Tag list, String label, List<String> runs) {
    if (!runs.isEmpty()) {
      list.add(Tag.of("dt", label));
      runs.forEach(id -> list.add(Tag.of("dd").add(PageParts.run(id, pages))));
    }
  }

  private Tag attempts() {
    List<ReportedAttempt> all = detail.costs().attempts();
    int shown = Math.min(STATIC_ROWS, all.size());
    Tag card =
        PageParts.card("Cost, traced to the rows of sacct")
            .add(
                PageParts.note(
                    "Each row is an attempt that held an allocation, as `sacct --duplicates` lists it. The costs add up to"
                        + " the priced lines before rounding."));
    if (all.size() > shown) {
      card.add(
          PageParts.prose(
              Tag.styled("p", "note static-note"),
              ("Without scripts the page shows the first %s attempts. `nexa-slurm "
                      + "costs show %s` shows all.")
                  .formatted(shown, run().id())));
    }
    Tag head =
        Tag.of("tr")
            .add(
                RunsPage.head("task", "count", "Task"),
                RunsPage.head("job", "text", "Job"),
                RunsPage.head("state", "state", "State"),
                RunsPage.head("exit", "text", "Exit"),
                RunsPage.head("start", "time", "Started, UTC"),
                RunsPage.head("elapsed", "duration", "Elapsed"),
                RunsPage.head("nodes", "text", "Nodes"),
                RunsPage.head("cpus", "count", "CPUs"),
                RunsPage.head("gpus", "text", "GPUs"),
                RunsPage.head("cost", "micro", "Cost"));
    Tag body = Tag.of("tbody");
    for (ReportedAttempt one : all.subList(0, shown)) {
      body.add(
          Tag.of("tr")
              .add(
                  Tag.styled("td", "n").text(Figures.count(one.task())),
                  Tag.of("td", one.job()),
                  Tag.of("td").add(PageParts.badge(one.word())),
                  Tag.of("td", one.exitCode()),
                  Tag.styled("td", "n").text(Figures.time(one.started())),
                  Tag.styled("td", "n").text(Figures.duration(one.elapsedSeconds())),
                  Tag.of("td", Figures.word(one.nodes())),
                  Tag.styled("td", "n").text(Figures.count(one.cpus())),
                  Tag.of("td", Figures.word(one.gpus())),
                  Tag.styled("td", "n").text(one.cost().toPlainString())));
    }
    String id = "attempts-" + run().id();
    Tag table =
        Tag.of("table")
            .with("id", id)
            .add(
                Tag.of("caption", "Attempts, " + run().currency()),
                Tag.of("thead").add(head),
                body);
    if (all.size() > shown) {
      table
          .with("data-rows", id + "-data")
          .with("data-name", "attempts")
          .with("data-search", "job state nodes")
          .with("data-sum", "micro")
          .with("data-filters", "state:State exit:Exit");
      card.add(Table.scrolling("Attempts", table), data(all).element(id + "-data"));
    } else {
      card.add(Table.scrolling("Attempts", table));
    }
    return card;
  }

  private DataScript data(List<ReportedAttempt> all) {
    return new DataScript(all.size())
        .digits(run().currency())
        .numbers("task", all, one -> Optional.of(one.task()))
        .values("job", all, ReportedAttempt::job)
        .words("state", all, ReportedAttempt::word)
        .words("exit", all, ReportedAttempt::exitCode)
        .numbers("start", all, one -> one.started().map(at -> at.getEpochSecond()))
        .numbers("elapsed", all, one -> Optional.of(one.elapsedSeconds()))
        .words("nodes", all, ReportedAttempt::nodes)
        .numbers("cpus", all, one -> Optional.of(one.cpus()))
        .words("gpus", all, ReportedAttempt::gpus)
        .numbers(
            "cost", all, one -> Optional.of(one.cost().movePointRight(MICRO_DIGITS).longValue()));
  }
}
