package dev.nexa.slurm.storage.datasets;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;
import dev.nexa.slurm.storage.datasets.VersionFiles.DatasetFile;

/**
 * A file that differs between two states of a dataset.
 *
 * @param path its path below the dataset
 * @param words how it differs, for people
 */
public record FileChange(Kind kind, String path, String words) {
  /** How a file differs. */
  public enum Kind implements InLowerCase {
    CHANGED,
    MISSING,
    ADDED
  }

  /** Returns the members of a JSON document. */
  public JsonObject toJson() {
    return new JsonObject().with("change", kind.text()).with("path", path).with("reason", words);
  }

  static FileChange missing(DatasetFile file) {
    return new FileChange(Kind.MISSING, file.path(), file.bytes() + " bytes");
  }

  static FileChange added(String path, long bytes) {
    return new FileChange(Kind.ADDED, path, bytes + " bytes");
  }

  static FileChange size(String path, long before, long now) {
    return new FileChange(Kind.CHANGED, path, before + " bytes before, " + now + " now");
  }

  static FileChange content(String path, String before, String now) {
    return new FileChange(
        Kind.CHANGED,
        path,
        "the same size, but the SHA-256 is %s…, not %s…"
            .formatted(now.substring(0, 12), before.substring(0, 12)));
  }
}
