package dev.nexa.slurm.base.process;

/** Waits for a fixed time. */
public final class Sleep {
  private Sleep() {}

  /**
   * Waits.
   *
   * @param what the reason, for the message: {@code following}
   * @throws IllegalStateException if the end of the process interrupts it
   */
  public static void millis(long millis, String what) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while " + what, interrupted);
    }
  }
}
