package dev.nexa.slurm.base.text;

/**
 * How a text table is laid out.
 *
 * @param width the most characters of a line; a longer cell is never cut
 * @param colours whether states have colours
 */
public record TableStyle(int width, boolean colours) {
  /** One line for each row, however long, without colours: for pipes and files. */
  public static final TableStyle PLAIN = new TableStyle(Integer.MAX_VALUE, false);

  /** Returns whether this is {@link #PLAIN}. A record's equals would take status 8 ms. */
  boolean isPlain() {
    return width == PLAIN.width && !colours;
  }

  private static final String RESET = "\u001b[0m";

  /** Returns the state in its colour: green if all is well, red if not, yellow if it waits. */
  static String coloured(String state) {
    int end = 0;
    while (end < state.length()
        && (Character.isLetter(state.charAt(end)) || state.charAt(end) == '_')) {
      end++;
    }
    return switch (state.substring(0, end)) {
      case "completed", "ready" -> "\u001b[32m" + state + RESET;
      case "failed",
          "timeout",
          "out_of_memory",
          "node_fail",
          "boot_fail",
          "deadline",
          "refused",
          "vanished",
          "never",
          "stale" ->
          "\u001b[31m" + state + RESET;
      case "pending",
          "queued",
          "submitted",
          "blocked",
          "waiting",
          "unknown",
          "cancelled",
          "retry" ->
          "\u001b[33m" + state + RESET;
      default -> state;
    };
  }
}
