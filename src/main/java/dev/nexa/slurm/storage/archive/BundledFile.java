package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import java.util.Locale;

/**
 * An entry of a bundle, as the archive's document lists it.
 *
 * @param path its path in the bundle, such as {@code checkpoints/final/model.safetensors}
 * @param bytes the size of a file; 0 for everything else
 * @param sha256 the digest of a file; an empty text for everything else
 * @param target where a link leads; an empty text for everything else
 */
record BundledFile(String path, Kind kind, long bytes, String sha256, String target) {
  static BundledFile of(TarEntry entry, String sha256) {
    return new BundledFile(entry.path(), entry.kind(), entry.bytes(), sha256, entry.target());
  }

  JsonObject toJson() {
    JsonObject json = new JsonObject().with("path", path);
    return switch (kind) {
      case FILE -> json.with("size", bytes).with("sha256", sha256);
      case LINK -> json.with("kind", word()).with("target", target);
      case FOLDER, OTHER -> json.with("kind", word());
    };
  }

  private String word() {
    return kind.name().toLowerCase(Locale.ROOT);
  }

  static BundledFile from(JsonObject json) {
    Kind kind =
        json.optionalText("kind")
            .map(word -> Kind.valueOf(word.toUpperCase(Locale.ROOT)))
            .orElse(Kind.FILE);
    return new BundledFile(
        json.text("path"),
        kind,
        kind == Kind.FILE ? json.number("size") : 0,
        kind == Kind.FILE ? json.text("sha256") : "",
        kind == Kind.LINK ? json.text("target") : "");
  }
}
