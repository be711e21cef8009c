package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.base.text.VisibleText;
import java.time.Instant;
import java.util.Optional;

/**
 * {@code deploy/halts/ID.json}: a halt. While it is in force, nothing is released. No other class
 * knows its keys.
 *
 * @param by the login name of the person, or of the user whose pass of reconcile set it
 * @param reason why; may be empty
 * @param pipeline the name of the only pipeline that stops; empty if everything stops
 * @param run the run whose failed gate set it; empty if a person did
 */
public record Halt(
    String id,
    Instant at,
    String by,
    String host,
    String reason,
    Optional<String> pipeline,
    Optional<String> run) {
  private static final int NEWEST = 1;

  /** Returns the file's text. */
  String text() {
    return Json.pretty(json());
  }

  /** Returns the document. */
  public JsonObject json() {
    return new JsonObject()
        .with(SchemaVersion.KEY, NEWEST)
        .with("halt_id", id)
        .with("at", at)
        .with("by", by)
        .with("host", host)
        .with("reason", reason)
        .with("pipeline", pipeline.orElse(null))
        .with("run_id", run.orElse(null));
  }

  /**
   * Reads a file's text.
   *
   * @param file the file's name for messages
   * @throws IllegalArgumentException if the text is no halt
   */
  static Halt parse(String text, String file) {
    JsonObject json = SchemaVersion.parse(text, file, NEWEST);
    return new Halt(
        json.text("halt_id"),
        json.instant("at"),
        json.text("by"),
        json.text("host"),
        json.text("reason"),
        json.optionalText("pipeline"),
        json.optionalText("run_id"));
  }

  /**
   * Returns whether the halt stops a pipeline, or what belongs to no pipeline.
   *
   * @param name the pipeline's name; empty for what belongs to none
   */
  public boolean stops(Optional<String> name) {
    return pipeline.isEmpty() || pipeline.equals(name);
  }

  /**
   * Returns who set the halt, when and why, in one sentence without its id. Anybody may have
   * written the file, so control characters are made visible.
   */
  public String words() {
    return VisibleText.line(
        (run.isPresent() ? "set by the failed gate " + run.get() : "set by " + by)
            + " at "
            + at
            + pipeline.map(name -> ", for the pipeline " + name).orElse("")
            + (reason.isEmpty() ? "" : ": " + reason));
  }
}
