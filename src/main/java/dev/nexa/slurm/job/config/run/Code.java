package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
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
  /** The keys of the section. */
  static final Section KEYS =
      section(
          optional(
              "path",
              ValueType.PATH,
              "A folder in a git working tree; a relative path begins at this file's folder. Default: the"
                  + " top folder of the git working tree that holds this file."),
          optional(
              "exclude",
              listOf(ValueType.TEXT),
              "Globs of paths to leave out, such as `data/**` or `*.ckpt`. A glob without `/` matches a"
                  + " name in any folder."),
          optional(
              "max_size",
              ValueType.MEMORY,
              "The most bytes that the files may have together. More is an error. Default: `200M`."));

  private static final long MAX_BYTES = 200L << 20;

  static Code from(Values values) {
    return new Code(
        values.optionalText("path"),
        values.texts("exclude"),
        values.optionalBytes("max_size").orElse(MAX_BYTES));
  }
}
