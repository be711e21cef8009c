package dev.nexa.slurm.storage.lineage;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;

/**
 * A run, a version of a dataset, a model, a path that nobody has registered, or a release.
 *
 * @param kind what it is
 * @param name the run's id, {@code name@version}, the model's or the release's name, or the path
 * @param facts what is known about it; never changed
 */
public record LineageNode(Kind kind, String name, JsonObject facts) {
  /** The kinds of nodes. */
  public enum Kind implements InLowerCase {
    RUN,
    DATASET,
    MODEL,
    PATH,
    RELEASE
  }

  /** Returns the node's key in a graph, such as {@code run:train_20251101_143200}. */
  public String id() {
    return id(kind, name);
  }

  static String id(Kind kind, String name) {
    return kind.text() + ":" + name;
  }
}
