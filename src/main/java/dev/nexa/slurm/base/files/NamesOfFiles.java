package dev.nexa.slurm.base.files;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.util.Comparator;

/** The order of files' names, and whether this process can read them. */
public final class NamesOfFiles {
  /** By the bytes of their UTF-8, which no locale changes. */
  public static final Comparator<String> ORDER =
      (one, other) -> {
        int common = Math.min(one.length(), other.length());
        for (int i = 0; i < common; i++) {
          char a = one.charAt(i);
          char b = other.charAt(i);
          if (a != b) {
            // A pair of surrogates is a code point above all single chars.
            boolean pairs = Character.isSurrogate(a) != Character.isSurrogate(b);
            return pairs ? (Character.isSurrogate(a) ? 1 : -1) : Character.compare(a, b);
          }
        }
        return Integer.compare(one.length(), other.length());
      };

  private NamesOfFiles() {}

  /**
   * Checks that the JVM reads names as UTF-8. In the locale C, which cron uses with {@code java
   * -jar}, it sees no name that is not ASCII; the script {@code nexa-slurm} sets the locale.
   *
   * @param command the command that reads names of users' files, in the words that the user types
   * @throws NexaException if the locale has another encoding
   */
  public static void requireUtf8(String command) {
    requireUtf8(command, System.getProperty("sun.jnu.encoding", "UTF-8"));
  }

  static void requireUtf8(String command, String encoding) {
    if (!encoding.equalsIgnoreCase("UTF-8")) {
      throw ErrorCode.PATH_UNUSABLE.error(
          "the locale of this process is " + encoding + ", in which names of files cannot be read",
          "type it again with: LC_ALL=C.UTF-8 " + command);
    }
  }
}
