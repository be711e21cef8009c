package dev.nexa.slurm.base.progress;

import java.util.OptionalLong;

/**
 * One part of a long command.
 *
 * @param doing what is done, as a word or two of ours: {@code copying}
 * @param items the things that are counted, in the plural: {@code files}; empty if the phase counts
 *     no things
 * @param totalItems the number of these things; empty if it is not known yet
 * @param totalBytes the number of bytes; empty if it is not known yet, or if bytes do not matter
 */
public record Phase(String doing, String items, OptionalLong totalItems, OptionalLong totalBytes) {
  /** Returns a phase without anything to count. */
  public static Phase of(String doing) {
    return of(doing, "");
  }

  /** Returns a phase whose totals are not known yet. */
  public static Phase of(String doing, String items) {
    return new Phase(doing, items, OptionalLong.empty(), OptionalLong.empty());
  }

  /** Returns a phase with this many items. */
  public static Phase of(String doing, String items, long total) {
    return new Phase(doing, items, OptionalLong.of(total), OptionalLong.empty());
  }

  /** Returns this phase with this many bytes. */
  public Phase withBytes(long total) {
    return new Phase(doing, items, totalItems, OptionalLong.of(total));
  }
}
