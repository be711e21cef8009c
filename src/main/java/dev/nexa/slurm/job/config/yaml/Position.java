package dev.nexa.slurm.job.config.yaml;

/**
 * A position in a file.
 *
 * @param source the file's name, or another source such as {@code --set}
 * @param line counts from 1; 0 if the source has no lines
 * @param column counts from 1; 0 if the source has no lines
 */
public record Position(String source, int line, int column) {

  /** Returns {@code file:line:column}, or only the source if it has no lines. */
  @Override
  public String toString() {
    return line == 0 ? source : source + ":" + line + ":" + column;
  }
}
