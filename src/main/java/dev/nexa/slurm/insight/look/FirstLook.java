package dev.nexa.slurm.insight.look;

import dev.nexa.slurm.base.json.JsonObject;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The use, the costs and the losses of jobs in a period.
 *
 * @param period whose jobs, and from when to when they ended
 * @param prices the prices
 * @param total all attempts that ended
 * @param open the jobs that had not ended
 * @param ended how the attempts ended, in the order of their cost
 * @param lost what brought no result or was not used, in the order of its cost
 * @param gpuWaits waits of jobs with GPUs
 * @param cpuWaits waits of jobs without GPUs
 * @param users the ten users that spent most, and all others together; empty if there is one only
 * @param changes the changes that would save most, at most three
 * @param notes what the sums do not hold, each a sentence without a full stop
 */
public record FirstLook(
    Period period,
    Prices prices,
    JobTotals total,
    long open,
    List<Line> ended,
    List<Lost> lost,
    Waits gpuWaits,
    Waits cpuWaits,
    List<Line> users,
    List<Change> changes,
    List<String> notes) {

  /**
   * A period.
   *
   * @param user the login name; empty for all users
   * @param since empty if no job ended and none was asked for
   * @param until like {@code since}
   */
  public record Period(String user, Optional<Instant> since, Optional<Instant> until) {}

  /**
   * Where the amounts come from.
   *
   * @param source the price book in words
   */
  public record Prices(String currency, String source) {}

  /** A state or a user, with what it sums up. */
  public record Line(String name, JobTotals spent) {
    JsonObject toJson(String key) {
      return new JsonObject().with(key, name).with("spent", spent.toJson());
    }
  }

  /** A loss with what it sums up. */
  public record Lost(Loss loss, JobTotals spent) {
    JsonObject toJson() {
      return new JsonObject().with("loss", loss.key()).with("spent", spent.toJson());
    }
  }

  /** Returns the losses in words, for people. */
  public List<Line> lostInWords() {
    return lost.stream().map(one -> new Line(one.loss().words(), one.spent())).toList();
  }

  /** Returns the document of {@code look --json}. */
  public JsonObject toJson() {
    return JsonObject.ofVersion(1)
        .with("user", period.user().isEmpty() ? null : period.user())
        .with("since", period.since().orElse(null))
        .with("until", period.until().orElse(null))
        .with("currency", prices.currency())
        .with("prices", prices.source())
        .with("total", total.toJson())
        .with("not_ended", open)
        .with("states", ended.stream().map(line -> line.toJson("state")).toList())
        .with("lost", lost.stream().map(Lost::toJson).toList())
        .with(
            "waits", new JsonObject().with("gpu", gpuWaits.toJson()).with("cpu", cpuWaits.toJson()))
        .with("users", users.stream().map(line -> line.toJson("user")).toList())
        .with("changes", changes.stream().map(Change::toJson).toList())
        .with("notes", notes);
  }
}
