package dev.nexa.slurm.cluster.sacct;

import java.security.SecureRandom;

/** The text that sacct prints between two cells. */
public final class Delimiter {
  private Delimiter() {}

  /**
   * Returns a delimiter for one call. A user can write any text into the name of a job, also whole
   * rows, but cannot guess this text. It is ASCII, and only its first character is U+001F.
   */
  public static String unguessable() {
    return "\u001f" + Long.toHexString(new SecureRandom().nextLong());
  }
}
