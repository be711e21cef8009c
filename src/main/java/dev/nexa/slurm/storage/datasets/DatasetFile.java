package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.json.JsonObject;

/**
 * One file of a dataset.
 *
 * @param path its path below the dataset, with {@code /}; for a dataset of one file, its name
 * @param bytes its size
 * @param sha256 64 hex digits; empty if nobody has read the file
 */
public record DatasetFile(String path, long bytes, String sha256) {
  /** Returns the line of the file that the root is computed of. */
  String rootLine() {
    return sha256 + " " + bytes + " " + path + "\n";
  }

  JsonObject toJson() {
    return new JsonObject().with("path", path).with("bytes", bytes).with("sha256", sha256);
  }

  static DatasetFile fromJson(JsonObject json) {
    return new DatasetFile(json.text("path"), json.number("bytes"), json.text("sha256"));
  }
}
