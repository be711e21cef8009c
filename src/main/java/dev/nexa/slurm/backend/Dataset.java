package dev.nexa.slurm.backend;

import java.util.List;
import java.util.Optional;

/** How the libraries of Hugging Face load what {@code dataset_path} names. */
final class Dataset {
  private static final List<String> FORMATS = List.of("parquet", "json", "jsonl", "csv");

  private Dataset() {}

  /**
   * The loader of a data file, {@code parquet}, {@code json} or {@code csv}; empty for a name or a
   * folder.
   */
  static Optional<String> loader(String path) {
    String extension = path.substring(path.lastIndexOf('.') + 1);
    return FORMATS.contains(extension)
        ? Optional.of(extension.equals("jsonl") ? "json" : extension)
        : Optional.empty();
  }
}
