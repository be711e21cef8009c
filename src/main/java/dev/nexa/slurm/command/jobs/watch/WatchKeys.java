package dev.nexa.slurm.command.jobs.watch;

import java.io.IOException;
import org.jline.utils.NonBlockingReader;

/** Reads keys, and names those that a terminal sends as a sequence of characters. */
record WatchKeys(NonBlockingReader reader) {
  /** The rest of a sequence arrives at once, also over a slow connection. */
  private static final long REST_MILLIS = 100;

  private static final int LONGEST = 8;
  private static final char ESCAPE = 27;

  /**
   * Waits for a key.
   *
   * @return its name or its character; empty if none came in time; {@code eof} if the terminal is
   *     gone
   */
  String next(long millis) throws IOException {
    int c = reader.read(millis);
    if (c == NonBlockingReader.READ_EXPIRED) {
      return "";
    }
    if (c != ESCAPE) {
      return name(c);
    }
    StringBuilder sequence = new StringBuilder();
    while (sequence.length() < LONGEST && !isWhole(sequence)) {
      int next = reader.read(REST_MILLIS);
      if (next < 0) {
        break;
      }
      sequence.append((char) next);
    }
    return sequence(sequence.toString());
  }

  private static boolean isWhole(CharSequence sequence) {
    int length = sequence.length();
    if (length == 0) {
      return false;
    }
    boolean opens = sequence.charAt(0) == '[' || sequence.charAt(0) == 'O';
    char last = sequence.charAt(length - 1);
    return !opens || (length > 1 && last >= '@' && last <= '~');
  }

  private static String name(int c) {
    return switch (c) {
      case NonBlockingReader.EOF -> "eof";
      case 3 -> "ctrl-c";
      case '\r', '\n' -> "enter";
      default -> Character.toString(c);
    };
  }

  /** Returns the key of a sequence after ESC; {@code esc} for the key of that name. */
  static String sequence(String sequence) {
    return switch (sequence) {
      case "" -> "esc";
      case "[A", "OA" -> "up";
      case "[B", "OB" -> "down";
      case "[C", "OC" -> "right";
      case "[D", "OD" -> "left";
      case "[5~" -> "pageup";
      case "[6~" -> "pagedown";
      case "[H", "OH", "[1~", "[7~" -> "home";
      case "[F", "OF", "[4~", "[8~" -> "end";
      default -> "other";
    };
  }
}
