package dev.nexa.slurm.command.monitor;

import java.util.List;

/** Draws values as one line of characters of growing height. Pure. */
final class Sparkline {
  /** The heights in Unicode. */
  static final String BLOCKS = " \u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588";

  /** The heights in ASCII. */
  static final String ASCII = " .:-=+*#@";

  private Sparkline() {}

  /**
   * Returns the line. Neighbours become one character if there are more values than characters.
   *
   * @param low the value that the lowest character stands for
   * @param high the value that the highest character stands for
   * @param heights the characters, the lowest first
   * @param width the most characters
   */
  static String of(List<Double> values, double low, double high, String heights, int width) {
    int columns = Math.min(width, values.size());
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < columns; column++) {
      int from = (int) ((long) column * values.size() / columns);
      int to = (int) ((long) (column + 1) * values.size() / columns);
      double sum = 0;
      for (int i = from; i < to; i++) {
        sum += values.get(i);
      }
      double share = high > low ? (sum / (to - from) - low) / (high - low) : 0;
      int top = heights.length() - 1;
      // A value above the lowest is seen, however small.
      int height = share <= 0 ? 0 : (int) Math.max(1, Math.round(share * top));
      line.append(heights.charAt(Math.min(top, height)));
    }
    return line.toString();
  }
}
