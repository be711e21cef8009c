package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.insight.report.Fact;
import java.util.List;
import java.util.Set;

/** Small parts that several pages share. */
final class PageParts {
  // How states look: the word is always beside the colour.
  private static final Set<String> ACTIVE =
      Set.of("running", "completing", "pending", "queued", "unconfirmed", "requeued", "suspended");
  private static final Set<String> QUIET =
      Set.of("cancelled", "skipped", "not passed yet", "", "none");

  private PageParts() {}

  /** Returns a page of the report. Its id is the part of the address after #. */
  static Tag page(String id, String title, String sub) {
    return Tag.of("section")
        .with("id", id)
        .add(Tag.of("h1", title), Tag.styled("p", "sub").text(sub));
  }

  /** Returns a tile of a {@code dl}: a number in large letters, and what it means. */
  static Tag tile(String name, String big, String unit, String more) {
    return Tag.of("div")
        .add(
            Tag.of("dt", name),
            Tag.styled("dd", "big").text(big).add(Tag.styled("span", "unit").text(" " + unit)),
            Tag.styled("dd", "more").text(more));
  }

  /** Returns a part of a page with a heading. */
  static Tag card(String title) {
    return Tag.styled("div", "card").add(Tag.of("h2", title));
  }

  static Tag note(String text) {
    return prose(Tag.styled("p", "note"), text);
  }

  /** Adds a text of ours, with commands between backticks. */
  static Tag prose(Tag paragraph, String text) {
    String[] parts = text.split("`", -1);
    for (int i = 0; i < parts.length; i++) {
      if (i % 2 == 0) {
        paragraph.text(parts[i]);
      } else {
        paragraph.add(Tag.of("code", parts[i]));
      }
    }
    return paragraph;
  }

  /** Returns a chart with a caption. */
  static Tag figure(String caption, Tag chart) {
    return Tag.of("figure").add(Tag.of("figcaption", caption), chart);
  }

  /** Returns what stands beside each other on a wide screen. */
  static Tag pair(Tag left, Tag right) {
    return Tag.styled("div", "pair").add(left, right);
  }

  /** Returns facts as a list of terms. */
  static Tag facts(List<Fact> facts) {
    Tag list = Tag.styled("dl", "facts");
    for (int i = 0; i < facts.size(); i++) {
      Fact fact = facts.get(i);
      if (i == 0 || !(fact.label().isEmpty() || fact.label().equals(facts.get(i - 1).label()))) {
        list.add(Tag.of("dt", fact.label()));
      }
      list.add(Tag.of("dd", fact.value()).with("dir", "auto"));
    }
    return list;
  }

  /** Returns a text that opens with a click. */
  static Tag folded(String title, String text) {
    return Tag.of("details")
        .add(
            Tag.of("summary", title),
            Tag.of("pre").with("tabindex", "0").with("aria-label", title).lines(text));
  }

  /** Returns the run's id as a link if it has a page. */
  static Tag run(String id, Set<String> pages) {
    return pages.contains(id) ? Tag.link(id, "#run/" + id) : Tag.of("span", id);
  }

  /** Returns the state's class: {@code good}, {@code active}, {@code quiet} or {@code bad}. */
  static String tone(String state) {
    if (state.equals("completed") || state.equals("passed")) {
      return "good";
    }
    return ACTIVE.contains(state) ? "active" : QUIET.contains(state) ? "quiet" : "bad";
  }

  /** Returns the state as a word with its colour. */
  static Tag badge(String state) {
    return Tag.styled("span", "state " + tone(state)).text(Figures.word(state.replace('_', ' ')));
  }

  /** Returns the class of a bar in the state's colour. */
  static String bar(String state) {
    return tone(state) + "-bar";
  }
}
