package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.insight.look.Change;
import dev.nexa.slurm.insight.look.FirstLook;
import dev.nexa.slurm.insight.look.FirstLook.Line;
import dev.nexa.slurm.insight.look.JobTotals;
import dev.nexa.slurm.insight.look.Waits;
import java.util.ArrayList;
import java.util.List;

/** Writes a first look as one HTML document that loads nothing and has no program. */
public final class LookPage {
  private final FirstLook look;

  private LookPage(FirstLook look) {
    this.look = look;
  }

  /** Returns the document. */
  public static String html(FirstLook look) {
    Tag body =
        Tag.of("body")
            .add(
                Tag.of("header").add(Tag.of("strong", "nexa-slurm")),
                Tag.of("main").add(new LookPage(look).section()),
                Tag.of("footer").text("nexa-slurm look"));
    return ReportPage.document("nexa-slurm look", "", body);
  }

  private Tag section() {
    FirstLook.Period period = look.period();
    String user = period.user().isEmpty() ? "all users" : period.user();
    String sub =
        "Jobs of %s that ended from %s to %s UTC. Prices: %s"
            .formatted(
                user,
                Figures.time(period.since()),
                Figures.time(period.until()),
                look.prices().source());
    JobTotals total = look.total();
    Tag page =
        Tag.of("section").with("id", "look").add(Tag.of("h1", "What the jobs used, cost and lost"));
    page.add(PageParts.prose(Tag.styled("p", "sub"), sub));
    page.add(
        Tag.styled("dl", "tiles")
            .add(
                PageParts.tile("Cost", money(total), currency(), "of the jobs that ended"),
                PageParts.tile("GPU-hours", Figures.hours(total.gpuSeconds()), "", "held by jobs"),
                PageParts.tile("CPU-hours", Figures.hours(total.cpuSeconds()), "", "held by jobs"),
                PageParts.tile(
                    "Jobs",
                    Figures.count(total.jobs()),
                    "",
                    "not ended: " + Figures.count(look.open()))));
    page.add(changes());
    page.add(PageParts.card("How they ended").add(table("State", "How jobs ended", look.ended())));
    if (!look.lost().isEmpty()) {
      page.add(
          PageParts.card("Without a result, or not used")
              .add(
                  table("Jobs", "What jobs lost", look.lostInWords()),
                  PageParts.note("A job may be in several lines, so they must not be added up.")));
    }
    page.add(waits());
    if (!look.users().isEmpty()) {
      page.add(PageParts.card("Who spent most").add(table("User", "Users", look.users())));
    }
    if (!look.notes().isEmpty()) {
      List<Tag> notes = look.notes().stream().map(one -> Tag.of("li", one + ".")).toList();
      page.add(PageParts.card("Notes").add(Tag.of("ul").add(notes)));
    }
    return page;
  }

  private Tag changes() {
    List<Tag> items = new ArrayList<>();
    for (Change change : look.changes()) {
      String what =
          "%s: %s: %s, %s %s; job %s"
              .formatted(
                  change.who(),
                  change.loss().words(),
                  Plural.of(change.spent().jobs(), "job"),
                  money(change.spent()),
                  currency(),
                  change.example());
      items.add(
          Tag.of("li")
              .add(
                  Tag.of("p", what),
                  Tag.of("p").add(Tag.of("code", change.command())),
                  PageParts.prose(Tag.styled("p", "note"), change.effect())));
    }
    Tag card = PageParts.card("Changes that would save most");
    return items.isEmpty()
        ? card.add(PageParts.note("No job lost anything that accounting shows."))
        : card.add(Tag.of("ol").add(items));
  }

  private Tag table(String first, String caption, List<Line> lines) {
    Table table =
        new Table(caption, currency())
            .words(first)
            .numbers("Jobs", "GPU-hours", "CPU-hours", "Cost");
    for (Line line : lines) {
      JobTotals spent = line.spent();
      table.row(
          line.name(),
          spent.jobs(),
          Figures.hours(spent.gpuSeconds()),
          Figures.hours(spent.cpuSeconds()),
          spent.cost());
    }
    return table.tag();
  }

  private Tag waits() {
    Table table =
        new Table("From the submission to the start")
            .words("Jobs")
            .numbers("Started", "Half waited at most", "Nine in ten at most", "Longest");
    row(table, "with GPUs", look.gpuWaits());
    row(table, "without GPUs", look.cpuWaits());
    return PageParts.card("Waits").add(table.tag());
  }

  private static void row(Table table, String name, Waits waits) {
    table.row(
        name,
        waits.jobs(),
        waits.jobs() == 0 ? Figures.NONE : Figures.duration(waits.half()),
        waits.jobs() == 0 ? Figures.NONE : Figures.duration(waits.nineTenths()),
        waits.jobs() == 0 ? Figures.NONE : Figures.duration(waits.longest()));
  }

  private String money(JobTotals spent) {
    return Figures.money(spent.cost(), currency());
  }

  private String currency() {
    return look.prices().currency();
  }
}
