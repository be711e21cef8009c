package dev.nexa.slurm.base.progress;

import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.function.LongFunction;

/**
 * How far a phase is at one moment, and the lines that say so.
 *
 * @param items the items that are done
 * @param bytes the bytes that are done
 * @param itemsPerSecond the rate of the last seconds
 * @param bytesPerSecond the rate of the last seconds
 * @param since how long the phase has run
 */
public record Headway(
    Phase phase,
    long items,
    long bytes,
    double itemsPerSecond,
    double bytesPerSecond,
    Duration since) {
  private static final int SHORTEST_BAR = 10;
  private static final int LONGEST_BAR = 30;

  /** Returns whether bytes decide how far the phase is, because its items differ in size. */
  private boolean byBytes() {
    return phase.totalBytes().isPresent()
        ? phase.totalBytes().getAsLong() > 0
        : phase.totalItems().isEmpty() && bytes > 0;
  }

  private OptionalLong total() {
    return byBytes() ? phase.totalBytes() : phase.totalItems();
  }

  private long done() {
    return byBytes() ? bytes : items;
  }

  /** Returns the share that is done, in whole percent; 100 only if all is done. */
  private OptionalInt percent() {
    OptionalLong total = total();
    if (total.isEmpty() || total.getAsLong() == 0) {
      return OptionalInt.empty();
    }
    double share = 100.0 * done() / total.getAsLong();
    return OptionalInt.of(done() >= total.getAsLong() ? 100 : (int) Math.min(99, share));
  }

  /** Returns the time that is left at the present rate. */
  private Optional<Duration> left() {
    double rate = byBytes() ? bytesPerSecond : itemsPerSecond;
    OptionalLong total = total();
    if (rate <= 0 || total.isEmpty() || done() >= total.getAsLong()) {
      return Optional.empty();
    }
    double seconds = Math.ceil((total.getAsLong() - done()) / rate);
    return seconds > Duration.ofDays(999).toSeconds()
        ? Optional.empty()
        : Optional.of(Duration.ofSeconds((long) seconds));
  }

  /** Returns a line for a log: {@code copying: 42%, 3 of 7 files, …}. */
  public String line() {
    List<String> parts = new ArrayList<>();
    percent().ifPresent(percent -> parts.add(percent + "%"));
    parts.addAll(counts());
    rate().ifPresent(parts::add);
    parts.add(time());
    return phase.doing() + ": " + String.join(", ", parts);
  }

  /**
   * Returns a line for a terminal. If it is narrow, the parts that matter least are left out.
   *
   * @param columns the most characters of the line
   */
  public String line(int columns) {
    String percent = percent().isPresent() ? " " + percent().getAsInt() + "%" : "";
    List<String> parts = new ArrayList<>(counts());
    rate().ifPresent(parts::add);
    parts.add(time());
    String most = percent + "  " + String.join(", ", parts);
    int bar = Math.min(LONGEST_BAR, columns - phase.doing().length() - most.length() - 3);
    if (percent().isPresent() && bar >= SHORTEST_BAR) {
      return phase.doing() + " " + bar(bar) + most;
    }
    // First the items go, then the rate, then the bytes. The time stays.
    while (phase.doing().length() + most.length() > columns && parts.size() > 1) {
      parts.remove(parts.size() > 3 ? 0 : parts.size() - 2);
      most = percent + "  " + String.join(", ", parts);
    }
    String line = phase.doing() + most;
    return line.substring(0, Math.max(0, Math.min(line.length(), columns)));
  }

  private String bar(int width) {
    int full = percent().orElse(0) * width / 100;
    return "[" + "=".repeat(full) + " ".repeat(width - full) + "]";
  }

  /** Returns each done amount and its total; the amount that decides comes last. */
  private List<String> counts() {
    List<String> counts = new ArrayList<>();
    if (!phase.items().isEmpty()) {
      counts.add(of(items, phase.totalItems(), Headway::number) + " " + phase.items());
    }
    if (byBytes()) {
      counts.add(of(bytes, phase.totalBytes(), Memory::rounded));
    }
    return counts;
  }

  private static String of(long done, OptionalLong total, LongFunction<String> words) {
    return words.apply(done) + (total.isPresent() ? " of " + words.apply(total.getAsLong()) : "");
  }

  private Optional<String> rate() {
    if (byBytes()) {
      return Optional.of(Memory.rounded(Math.round(bytesPerSecond)) + "/s");
    }
    return phase.items().isEmpty() ? Optional.empty() : Optional.of(itemRate());
  }

  private String itemRate() {
    return itemsPerSecond > 0 && itemsPerSecond < 1
        ? String.format(Locale.ROOT, "%.1f/min", itemsPerSecond * 60)
        : String.format(Locale.ROOT, itemsPerSecond < 10 ? "%.1f/s" : "%,.0f/s", itemsPerSecond);
  }

  /** Returns the time that is left, or the time until now if the time left is unknown. */
  private String time() {
    return left().map(it -> clock(it) + " left").orElseGet(() -> clock(since) + " so far");
  }

  private static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  /** Returns a time in its two largest units: {@code 19s}, {@code 2m05s}, {@code 3h07m}. */
  private static String clock(Duration time) {
    return TimeLimit.inTwoUnits(time.toSeconds(), "");
  }
}
