package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.ForeignFile;
import dev.nexa.slurm.job.config.ScriptConfig;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Decides whether a file that was typed in place of a config is a script. */
final class TypedFile {
  private static final List<String> SCRIPTS = List.of(".py", ".sh", ".bash", ".slurm", ".sbatch");

  private TypedFile() {}

  /** Returns whether the name ends as a script's name does. */
  static boolean hasScriptName(String path) {
    return SCRIPTS.stream().anyMatch(path::endsWith);
  }

  /**
   * Returns whether the path names a script: by its ending, or by {@code #!} in its first line.
   *
   * @throws NexaException if the file is neither a config nor a script
   */
  static boolean isScript(ConfigSource source, String path) {
    if (hasScriptName(path)) {
      return true;
    }
    if (!Files.isRegularFile(Path.of(path))
        && !Files.isRegularFile(source.workspace().resolve(path))) {
      return false;
    }
    ForeignFile.requireConfig(path, ForeignFile.RUN);
    return ScriptConfig.interpreter(source.file(path).text()).isPresent();
  }
}
