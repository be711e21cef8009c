package dev.nexa.slurm.base.json;

import java.util.OptionalLong;

/**
 * Finds the first line of JSONL whose arrays and objects are nested deeper than a limit. Pure: the
 * bytes come in parts of any size. DuckDB finds the types of JSON by recursion, so a line with some
 * thousand levels overflows its stack and kills the process.
 *
 * <p>Each line is a value of its own: a line that is cut short changes nothing of the next line.
 */
public final class JsonNesting {
  /** Rows of real data stay far below it; DuckDB takes it on the stack of each thread. */
  public static final int DEEPEST = 500;

  private final int deepest;
  private long line = 1;
  private int depth;
  private boolean inString;
  private boolean escaped;
  private OptionalLong found = OptionalLong.empty();

  /**
   * Creates a search.
   *
   * @param deepest the most levels that a line may have; {@code {"a":[1]}} has two
   */
  public JsonNesting(int deepest) {
    this.deepest = deepest;
  }

  /** Takes the next bytes of the text, which is UTF-8. */
  public void add(byte[] bytes, int length) {
    for (int i = 0; i < length && found.isEmpty(); i++) {
      add(bytes[i]);
    }
  }

  private void add(byte next) {
    if (next == '\n') {
      line++;
      depth = 0;
      inString = false;
      escaped = false;
    } else if (inString) {
      boolean ends = next == '"' && !escaped;
      escaped = next == '\\' && !escaped;
      inString = !ends;
    } else if (next == '"') {
      inString = true;
    } else if (next == '{' || next == '[') {
      depth++;
      if (depth > deepest) {
        found = OptionalLong.of(line);
      }
    } else if (next == '}' || next == ']') {
      depth--;
    }
  }

  /** Returns the number of the first line that is nested too deep, from 1; empty if none is yet. */
  public OptionalLong found() {
    return found;
  }
}
