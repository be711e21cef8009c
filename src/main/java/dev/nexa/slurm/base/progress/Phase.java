package dev.nexa.slurm.base.progress;

import java.util.OptionalLong;

/**
 * One part of a long command.
 *
 * @param doing what is done, as a word or two of ours: {@code copying}
 * @param items what is counted, in the plural: {@code files}; empty if nothing is
 * @param totalItems how many there are; empty if nobody knows yet
 * @param totalBytes how many bytes there are; empty if nobody knows yet, or bytes do not matter
 */
public record Phase(String doing, String items, OptionalLong totalItems, OptionalLong totalBytes) {
  /** Returns a phase in which nothing can be counted. */
  public static Phase of(String doing) {
    return of(doing, "");
  }

  /** Returns a phase whose end nobody knows yet. */
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
