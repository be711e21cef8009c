package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * A change that would save something: what jobs of one name lost in one way.
 *
 * @param name the jobs' name, with # for its digits
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
