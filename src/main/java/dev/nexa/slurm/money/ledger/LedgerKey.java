package dev.nexa.slurm.money.ledger;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;

/** The keys of a ledger line, in the line's order. */
public enum LedgerKey {
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
  PRICE_BOOK,
  APPROVAL,

  /** Only in lines of a later format. */
  SCHEMA_VERSION;

  private static final LedgerKey[] ALL = values();

  /** The keys of a line that this nexa-slurm writes. */
  static final List<LedgerKey> WRITTEN_KEYS =
      List.copyOf(EnumSet.complementOf(EnumSet.of(SCHEMA_VERSION)));

  /** Each key in its written form: {@code "run_id":}. */
  private static final byte[][] WRITTEN =
      Arrays.stream(ALL)
          .map(key -> ("\"" + key.text() + "\":").getBytes(StandardCharsets.US_ASCII))
          .toArray(byte[][]::new);

  /** Returns the key's written name. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the number of keys. */
  static int count() {
    return ALL.length;
  }

  /** Returns the key's index in a line's array of positions. It is never stored. */
  @SuppressWarnings("EnumOrdinal")
  int place() {
    return 2 * ordinal();
  }

  /** Returns the length in bytes of key number {@code i} with its quotes and colon. */
  static int length(int i) {
    return WRITTEN[i].length;
  }

  /**
   * Returns the number of the key at a position; -1 if there is none.
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

  /** Compares from the end, because many keys begin alike. */
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
