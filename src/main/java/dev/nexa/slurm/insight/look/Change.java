package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * A change that would save something: what jobs of one name lost in one way.
 *
 * @param name the job's name; of several jobs, with # for its digits
 * @param spent what was lost
 * @param example the job that lost most, as sacct names it
 * @param command the command that lowers the loss
 * @param effect what the command does
 */
public record Change(
    Loss loss,
    String name,
    String user,
    JobTotals spent,
    String example,
    String command,
    String effect) {
  private static final int MOST_LETTERS = 60;

  /** Returns the jobs in words: {@code train-# of ada}. */
  public String who() {
    String jobs = name.isEmpty() ? "jobs without a name" : name;
    String shown = jobs.length() <= MOST_LETTERS ? jobs : jobs.substring(0, MOST_LETTERS) + "…";
    return user.isEmpty() ? shown : shown + " of " + user;
  }

  JsonObject toJson() {
    return new JsonObject()
        .with("loss", loss.key())
        .with("name", name)
        .with("user", user)
        .with("lost", spent.toJson())
        .with("example", example)
        .with("command", command)
        .with("effect", effect);
  }
}
