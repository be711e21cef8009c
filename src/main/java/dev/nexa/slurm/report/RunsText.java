package dev.nexa.slurm.report;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Manifests as a person reads them. */
public final class RunsText {
  private static final int MOST_POINTS = 50;

  private RunsText() {}

  /** A table of runs. */
  public static String of(List<JsonObject> manifests) {
    if (manifests.isEmpty()) {
      return "No runs here yet. `nexa-slurm submit CONFIG` makes one.\n";
    }
    Table table = new Table("RUN", "STATUS", "STATE", "MODEL", "HARDWARE", "COST", "TAGS");
    for (JsonObject run : manifests) {
      table.row(
          run.text("run_id"),
          run.text("status"),
          run.text("state"),
          run.optionalText("model").orElse("-"),
          run.optionalText("hardware").orElse("-"),
          run.optionalText("cost").map(cost -> cost + " " + run.text("currency")).orElse("-"),
          String.join(" ", run.texts("tags")));
    }
    return table.toString();
  }

  /** What a run cost against what was promised, from its cost file. */
  public static String cost(JsonObject cost) {
    StringBuilder text = new StringBuilder();
    String currency = cost.text("currency");
    line(text, "cost", cost.decimal("total").toPlainString() + " " + currency);
    line(text, "reserved", cost.object("estimate").text("reservation") + " " + currency);
    line(text, "wasted", cost.text("wasted") + " " + currency);
    return text.toString();
  }

  /**
   * One run: what it was, what it came to, what it cost.
   *
   * @param cost as {@link #cost} has it
   */
  public static String one(JsonObject manifest, String cost) {
    StringBuilder text = new StringBuilder();
    line(text, "run", manifest.text("run_id"));
    line(text, "status", manifest.text("status") + " (" + manifest.text("state") + ")");
    manifest.optionalText("model").ifPresent(model -> line(text, "model", model));
    manifest.optionalText("dataset").ifPresent(dataset -> line(text, "dataset", dataset));
    manifest.optionalText("hardware").ifPresent(hardware -> line(text, "hardware", hardware));
    line(text, "tags", String.join(" ", manifest.texts("tags")));
    manifest
        .optionalObject("tasks")
        .ifPresent(tasks -> line(text, "tasks", tasks.object("states").toString()));
    for (JsonObject submission : manifest.objects("submissions")) {
      String job =
          submission
              .optionalDecimal("job_id")
              .map(id -> "job " + id.toPlainString())
              .orElse("no job");
      line(
          text,
          "submission",
          submission.text("key") + "  " + job + "  " + submission.text("phase"));
      submission.optionalText("message").ifPresent(message -> line(text, "", message));
    }
    manifest.optionalText("started").ifPresent(started -> line(text, "started", started));
    manifest.optionalText("ended").ifPresent(ended -> line(text, "ended", ended));
    manifest
        .optionalText("checkpoint")
        .ifPresent(checkpoint -> line(text, "checkpoint", checkpoint));
    manifest
        .optionalObject("metrics")
        .filter(metrics -> !metrics.isEmpty())
        .ifPresent(metrics -> line(text, "metrics", metrics.toString()));
    line(text, "logs", manifest.text("logs"));
    text.append(cost);
    if (manifest.members().containsKey("points")) {
      text.append('\n').append(points(manifest.objects("points")));
    }
    return text.toString();
  }

  /** What each task of a sweep tried, and what it wrote into its metrics. */
  private static String points(List<JsonObject> points) {
    Table table = new Table("TASK", "STATE", "POINT", "METRICS");
    for (JsonObject point : points.subList(0, Math.min(MOST_POINTS, points.size()))) {
      table.row(
          "" + point.number("task"),
          point.text("state"),
          words(point.object("values")),
          words(point.optionalObject("metrics").orElseGet(JsonObject::new)));
    }
    int more = points.size() - MOST_POINTS;
    return table + (more > 0 ? "and " + more + " more: --json shows all\n" : "");
  }

  private static String words(JsonObject object) {
    StringBuilder words = new StringBuilder();
    for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
      words.append(words.length() == 0 ? "" : " ").append(member.getKey()).append('=');
      words.append(
          member.getValue() instanceof String text ? text : Json.compact(member.getValue()));
    }
    return words.length() == 0 ? "-" : words.toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append(String.format("%-12s%s%n", name, value));
  }
}
