package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.ReleaseDetail;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

/** Writes the list of releases, and a page for each. */
record ReleasePages(List<ReleaseDetail> releases, Set<String> pages) {
  static final String ID = "releases";

  private static final int SHORT_DIGEST = 12;

  List<Tag> tags() {
    Table table =
        new Table("Releases, newest first")
            .words("Release", "Gate", "In production", "Run")
            .numbers("Made, UTC", "Bytes")
            .words("SHA-256");
    for (ReleaseDetail one : releases) {
      table.row(
          Tag.link(one.name(), "#release/" + one.name()),
          PageParts.badge(one.gate()),
          one.inProduction() ? "yes" : "no",
          PageParts.run(one.run(), pages),
          Figures.time(one.ended()),
          one.bytes(),
          Tag.of("code", one.digest().substring(0, SHORT_DIGEST)));
    }
    Tag list =
        PageParts.page(ID, "Releases", Figures.count(releases.size()) + " on the durable tier")
            .add(table.isEmpty() ? PageParts.note("No release was packaged.") : table.tag());
    return Stream.concat(Stream.of(list), releases.stream().map(this::page)).toList();
  }

  private Tag page(ReleaseDetail release) {
    Tag page =
        PageParts.page(
                "release/" + release.name(),
                release.name(),
                release.inProduction() ? "in production" : "not in production")
            .add(
                PageParts.card("Release")
                    .add(
                        Tag.styled("dl", "facts")
                            .add(
                                Tag.of("dt", "Run"),
                                Tag.of("dd").add(PageParts.run(release.run(), pages)),
                                Tag.of("dt", "Gate"),
                                Tag.of("dd").add(PageParts.badge(release.gate()))),
                        PageParts.facts(release.facts())));
    Table table = new Table("Deployments, oldest first").words("At, UTC", "Action", "By", "Reason");
    for (ReleaseDetail.Deployment one : release.history()) {
      table.row(
          Figures.time(one.at()),
          one.action(),
          one.by(),
          Tag.styled("span", "long").text(Figures.word(one.reason())));
    }
    return page.add(
        PageParts.card("History")
            .add(table.isEmpty() ? PageParts.note("It was never deployed.") : table.tag()));
  }
}
