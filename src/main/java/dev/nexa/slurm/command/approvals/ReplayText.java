package dev.nexa.slurm.command.approvals;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.command.approvals.ReplayPolicy.Line;
import dev.nexa.slurm.command.approvals.ReplayPolicy.Replayed;

/** Formats what a policy would have refused. */
final class ReplayText {
  private static final Columns<Line> COUNTS =
      new Columns<Line>()
          .number("jobs", Line::jobs)
          .money("cost", Line::cost)
          .number("over_approval", Line::approval)
          .as("APPROVAL")
          .number("over_budget", Line::budget)
          .as("BUDGET")
          .number("over_gpu_hours", Line::gpuHours)
          .as("GPU HOURS")
          .number("refused", Line::refused)
          .money("refused_cost", Line::refusedCost);

  private static final Columns<Line> RULE =
      new Columns<Line>().text("rule", Line::rule).and(COUNTS.select("jobs", "cost"));

  private static final Columns<Line> USER =
      new Columns<Line>().text("user", Line::user).text("account", Line::account).and(COUNTS);

  private static final Columns<Line> ACCOUNT =
      new Columns<Line>().text("account", Line::account).and(COUNTS);

  private ReplayText() {}

  /**
   * Returns the report for people.
   *
   * @param from the first time, with its zone
   * @param to the end, with its zone
   */
  static String text(Replayed replayed, String from, String to) {
    Line all = replayed.all();
    StringBuilder text = new StringBuilder(Plural.of(all.jobs(), "job"));
    text.append(" were submitted from " + from + " to " + to + ".\nThey cost ");
    text.append(all.cost().toPlainString() + " " + replayed.currency() + " by the price book. ");
    text.append("The policy would have refused, without an approval:\n\n");
    text.append(RULE.of(replayed.rules()).table());
    if (all.jobs() > 0) {
      text.append('\n').append(USER.of(replayed.users()).table());
      text.append('\n').append(ACCOUNT.of(replayed.accounts()).table());
    }
    return text.toString();
  }

  /** Returns the JSON document. */
  static JsonObject json(Replayed replayed) {
    JsonObject json =
        JsonObject.ofVersion(1)
            .with("since", replayed.asked().since())
            .with("until", replayed.asked().until())
            .with("currency", replayed.currency());
    return COUNTS
        .addTo(json, replayed.all())
        .with("rules", RULE.of(replayed.rules()).json())
        .with("users", USER.of(replayed.users()).json())
        .with("accounts", ACCOUNT.of(replayed.accounts()).json())
        .with("notes", replayed.notes())
        .with("problems", replayed.problems());
  }
}
