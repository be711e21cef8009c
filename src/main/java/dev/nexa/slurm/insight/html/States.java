package dev.nexa.slurm.insight.html;

import java.util.Set;

/** How states look. The word always stands beside the colour. */
final class States {
  private static final Set<String> ACTIVE =
      Set.of("running", "completing", "pending", "queued", "unconfirmed", "requeued", "suspended");
  private static final Set<String> QUIET =
      Set.of("cancelled", "skipped", "not passed yet", "", "none");

  private States() {}

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
