package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;

/** Reads options whose value is a number of days. */
public final class DaysOption {
  private static final int MOST = 36_500;

  private DaysOption() {}

  /**
   * Returns the number.
   *
   * @param option the option's name, for the message
   * @throws NexaException if the value is no whole number from 0 to 36500
   */
  public static int parse(String option, String typed) {
    if (typed.matches("\\d{1,5}") && Integer.parseInt(typed) <= MOST) {
      return Integer.parseInt(typed);
    }
    throw new NexaException(
        ErrorCode.OPTION_INVALID,
        option + ": expected a whole number of days from 0 to 36500, got '" + typed + "'",
        Advice.step(option + " 7"));
  }
}
