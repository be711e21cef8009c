package dev.nexa.slurm.config;

/**
 * Where something was written; line and column count from 1, and are 0 where the source has no
 * lines.
 */
public record Position(String source, int line, int column) {

  /** {@code file:line:column}, as compilers print it. */
  @Override
  public String toString() {
    return line == 0 ? source : source + ":" + line + ":" + column;
  }
}
