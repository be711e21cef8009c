package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;

/**
 * The working tree that the job runs: the key {@code code}.
 *
 * @param path the folder, as it was written; empty for the top level of git's working tree around
 *     the config
 * @param exclude globs of the paths that are left out
 * @param maxBytes the most bytes that all files may have together
 */
public record Code(Optional<String> path, List<String> exclude, long maxBytes) {
  private static final long MAX_BYTES = 200L << 20;

  static Code from(Values values) {
    return new Code(
        values.optionalText("path"),
        values.texts("exclude"),
        values.optionalBytes("max_size").orElse(MAX_BYTES));
  }
}
