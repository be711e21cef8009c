package dev.nexa.slurm.job.backend;

import java.util.List;
import java.util.Optional;

/** Knows how Hugging Face's libraries load a {@code dataset_path}. */
final class Dataset {
  private static final List<String> FORMATS = List.of("parquet", "json", "jsonl", "csv");

  private Dataset() {}

  /**
   * Returns the loader of a data file: {@code parquet}, {@code json} or {@code csv}; empty for a
   * name or a folder.
   */
  static Optional<String> loader(String path) {
    String extension = path.substring(path.lastIndexOf('.') + 1);
    return FORMATS.contains(extension)
        ? Optional.of(extension.equals("jsonl") ? "json" : extension)
        : Optional.empty();
  }
}
