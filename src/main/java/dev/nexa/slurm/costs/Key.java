package dev.nexa.slurm.costs;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** The members of a ledger line, in the order in which they are written. */
enum Key {
  RUN_ID,
  VERSION,
  STAGE,
  STATUS,
  STATE,
  MODEL,
  DATASET,
  BACKEND,
  TAGS,
  CLUSTER,
  USER,
  ACCOUNT,
  PARTITION,
  GPU_TYPE,
  CURRENCY,
  COST,
  WASTED,
  CREDIT,
  LINES,
  QUANTITIES,
  RESERVATION,
  EXPECTED,
  EXPECTED_METHOD,
  GPU_SECONDS,
  GPU_SECONDS_WASTED,
  CPU_SECONDS,
  CPU_SECONDS_WASTED,
  TASKS,
  TASKS_FAILED,
  ATTEMPTS,
  LONGEST_SECONDS,
  GPUS,
  CPUS,
  DATA_TOKENS,
  DATA_BYTES,
  CREATED,
  STARTED,
  ENDED,
  QUEUE_SECONDS,
  LOSS,
  PRICE_BOOK;

  private static final Key[] ALL = values();

  /** {@code "run_id":}, of each. */
  private static final byte[][] WRITTEN = new byte[ALL.length][];

  static {
    for (int i = 0; i < ALL.length; i++) {
      String written = "\"" + ALL[i].name().toLowerCase(Locale.ROOT) + "\":";
      WRITTEN[i] = written.getBytes(StandardCharsets.US_ASCII);
    }
  }

  /** How many there are. */
  static int count() {
    return ALL.length;
  }

  /** Where its value's place stands in a run's array of places: an index, never written down. */
  @SuppressWarnings("EnumOrdinal")
  int place() {
    return 2 * ordinal();
  }

  /** How many bytes key number i and its colon are. */
  static int length(int i) {
    return WRITTEN[i].length;
  }

  /**
   * The number of the key that stands there, or -1.
   *
   * @param likely the number to try first
   */
  static int at(byte[] bytes, int at, int likely) {
    if (likely < WRITTEN.length && isAt(bytes, at, WRITTEN[likely])) {
      return likely;
    }
    for (int i = 0; i < WRITTEN.length; i++) {
      if (isAt(bytes, at, WRITTEN[i])) {
        return i;
      }
    }
    return -1;
  }

  /** From the end, because many begin alike. */
  private static boolean isAt(byte[] bytes, int at, byte[] written) {
    if (at + written.length > bytes.length) {
      return false;
    }
    for (int i = written.length - 1; i >= 0; i--) {
      if (written[i] != bytes[at + i]) {
        return false;
      }
    }
    return true;
  }
}
