package dev.nexa.slurm.base.error;

/** Checks what a caller or a file gives. */
public final class Arguments {
  private Arguments() {}

  /**
   * Checks a condition.
   *
   * @throws IllegalArgumentException with the message {@code otherwise} if it does not hold
   */
  public static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw new IllegalArgumentException(otherwise);
    }
  }
}
