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

  /** Returns the state in its colour: green if all is well, red if not, yellow if it waits. */
  static String coloured(String state) {
    int end = 0;
    while (end < state.length()
        && (Character.isLetter(state.charAt(end)) || state.charAt(end) == '_')) {
      end++;
    }
    int colour =
        switch (state.substring(0, end)) {
          case "completed", "ready" -> 32;
          case "failed", "timeout", "out_of_memory", "node_fail", "boot_fail" -> 31;
          case "deadline", "refused", "vanished", "never", "stale" -> 31;
          case "pending", "queued", "submitted", "blocked" -> 33;
          case "waiting", "unknown", "cancelled", "retry" -> 33;
          default -> 0;
        };
    return colour == 0 ? state : "\u001b[" + colour + "m" + state + "\u001b[0m";
  }
}
