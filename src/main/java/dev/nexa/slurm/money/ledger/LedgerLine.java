package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.records.runs.RunStatus;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A run as its ledger line describes it, and the {@link Draft} of a line. Null is unknown: older
 * lines have fewer keys, and a run that never started has no times. Amounts are in {@link
 * #currency}.
 *
 * <p>The constructor finds the position of each value and decodes none, because a sum over 100,000
 * runs needs few of them. This class is no general JSON parser: it reads one object without spaces,
 * as the ledger stores it. Not thread-safe, because the word pool is shared.
 */
public final class LedgerLine {
  /** The newest version that this class reads. It writes none: a line without one has version 1. */
  static final long NEWEST = 1;

  private static final int MOST_DIGITS = 18;

  private final byte[] bytes;
  private final int begin;
  private final String month;
  private final Utf8Pool words;

  /** For each key, the first byte of its value and the byte after it; 0 if the key is missing. */
  private final int[] places = new int[2 * LedgerKey.count()];

  /**
   * Finds the values of the object at a position.
   *
   * @throws IllegalArgumentException if there is no object, or it has no run_id
   */
  LedgerLine(byte[] bytes, int begin, String month, Utf8Pool words) {
    this.bytes = bytes;
    this.begin = begin;
    this.month = month;
    this.words = words;
    int at = expect('{', begin);
    int likely = 0;
    while (true) {
      int key = LedgerKey.at(bytes, at, likely);
      int from = key >= 0 ? at + LedgerKey.length(key) : expect(':', behindString(at));
      at = behindValue(from);
      if (key >= 0) {
        places[2 * key] = from;
        places[2 * key + 1] = at;
        likely = key + 1;
      }
      if (bytes[at] != ',') {
        break;
      }
      at++;
    }
    expect('}', at);
    if (places[LedgerKey.RUN_ID.place()] == 0) {
      throw new IllegalArgumentException("it has no run_id");
    }
  }

  private int expect(char c, int at) {
    if (at >= bytes.length || bytes[at] != c) {
      throw new IllegalArgumentException("it is no object of JSON on one line");
    }
    return at + 1;
  }

  private int behindString(int begin) {
    byte[] text = bytes;
    int at = expect('"', begin);
    while (at < text.length && text[at] != '"') {
      at += text[at] == '\\' ? 2 : 1;
    }
    return expect('"', at);
  }

  private int behindValue(int begin) {
    byte[] text = bytes;
    int at = begin;
    if (at < text.length && text[at] == '"') {
      return behindString(at);
    }
    for (int depth = 0; at < text.length; ) {
      byte b = text[at];
      if (b == '"') {
        at = behindString(at);
        continue;
      }
      if (depth == 0 && (b == ',' || b == '}' || b == '\n')) {
        return at;
      }
      depth += b == '{' || b == '[' ? 1 : b == '}' || b == ']' ? -1 : 0;
      at++;
    }
    throw new IllegalArgumentException("it is no object of JSON on one line");
  }

  /**
   * Returns the month of the ledger's file, such as {@code 2025-11}: of the run's end in UTC, or of
   * its creation if it never started.
   */
  public String month() {
    return month;
  }

  /**
   * Returns the day on which the run's cost counts, in UTC: the day of its end, or of its creation
   * if it never started. It lies in {@link #month}.
   */
  public LocalDate day() {
    YearMonth whole = YearMonth.parse(month);
    Instant time = ended() == null ? time(LedgerKey.CREATED) : ended();
    LocalDate day = time == null ? whole.atDay(1) : LocalDate.ofInstant(time, ZoneOffset.UTC);
    YearMonth own = YearMonth.from(day);
    return own.equals(whole) ? day : own.isBefore(whole) ? whole.atDay(1) : whole.atEndOfMonth();
  }

  /** Returns the SHA-256 of the stored line, without its line feed. */
  public String sha256() {
    int end = begin;
    while (end < bytes.length && bytes[end] != '\n') {
      end++;
    }
    return Sha256.of(Arrays.copyOfRange(bytes, begin, end));
  }

  /** Returns the version of the line's format. */
  long schemaVersion() {
    Long version = whole(LedgerKey.SCHEMA_VERSION);
    return version == null ? 1 : version;
  }

  /** Returns the run's id. */
  public String runId() {
    return Objects.requireNonNull(unshared(LedgerKey.RUN_ID));
  }

  /** Returns the version of the cost file: 1, and one more after each rerun or correction. */
  public long version() {
    Long version = whole(LedgerKey.VERSION);
    return version == null ? 1 : version;
  }

  /** Returns the stage. */
  public @Nullable String stage() {
    return text(LedgerKey.STAGE);
  }

  /** Returns the status, a word of {@link RunStatus}. */
  public @Nullable String status() {
    return text(LedgerKey.STATUS);
  }

  /** Returns the manifest's state. */
  public @Nullable String state() {
    return text(LedgerKey.STATE);
  }

  /** Returns the model's name. */
  public @Nullable String model() {
    return text(LedgerKey.MODEL);
  }

  /** Returns the cluster's name. */
  public @Nullable String cluster() {
    return text(LedgerKey.CLUSTER);
  }

  /** Returns the submitter's name. */
  public @Nullable String user() {
    return text(LedgerKey.USER);
  }

  /** Returns the Slurm account. */
  public @Nullable String account() {
    return text(LedgerKey.ACCOUNT);
  }

  /** Returns the GPU type. */
  public @Nullable String gpuType() {
    return text(LedgerKey.GPU_TYPE);
  }

  /** Returns the currency, an ISO 4217 code. */
  public @Nullable String currency() {
    return text(LedgerKey.CURRENCY);
  }

  /** Returns the name of the price book. */
  public @Nullable String priceBook() {
    return text(LedgerKey.PRICE_BOOK);
  }

  /** Returns the cost by the price book. */
  public @Nullable BigDecimal cost() {
    return decimal(LedgerKey.COST);
  }

  /**
   * Returns the cost without what a run has beside its allocations: the part that an estimate
   * reserves.
   */
  public @Nullable BigDecimal computeCost() {
    BigDecimal cost = cost();
    if (cost == null) {
      return null;
    }
    Map<CostKind, BigDecimal> amounts = amounts();
    for (CostKind kind : CostKind.NOT_RESERVED) {
      cost = cost.subtract(amounts.getOrDefault(kind, BigDecimal.ZERO));
    }
    return cost;
  }

  /**
   * Returns the cost of the API tokens that are part of {@link #cost}; null if the run reported
   * none.
   */
  public @Nullable BigDecimal tokensCost() {
    return amounts().get(CostKind.API_TOKENS);
  }

  /**
   * Returns the credit, as a positive amount: money taken off because the cluster caused a failure.
   */
  public @Nullable BigDecimal credit() {
    return decimal(LedgerKey.CREDIT);
  }

  /** Returns the reservation, which is the highest cost. */
  public @Nullable BigDecimal reservation() {
    return decimal(LedgerKey.RESERVATION);
  }

  /** Returns the cost by kind; empty if unknown. */
  public Map<CostKind, BigDecimal> amounts() {
    return byKind(LedgerKey.LINES);
  }

  /**
   * Returns the quantities by kind (GPU-hours, CPU-hours, GiB-hours, GB-months, GB, 10^6 tokens);
   * empty if unknown.
   */
  public Map<CostKind, BigDecimal> quantities() {
    return byKind(LedgerKey.QUANTITIES);
  }

  /** Returns the allocated GPU-seconds. */
  public @Nullable Long gpuSeconds() {
    return whole(LedgerKey.GPU_SECONDS);
  }

  /** Returns the first start. */
  public @Nullable Instant started() {
    return time(LedgerKey.STARTED);
  }

  /** Returns the last end. */
  public @Nullable Instant ended() {
    return time(LedgerKey.ENDED);
  }

  /** Returns the seconds from the first submission to the first start. */
  public @Nullable Long queueSeconds() {
    return whole(LedgerKey.QUEUE_SECONDS);
  }

  /** Returns the seconds from the first start to the last end; null if the run never started. */
  public @Nullable Long runSeconds() {
    Instant started = started();
    Instant ended = ended();
    return started == null || ended == null
        ? null
        : (Long) Math.max(0, ended.getEpochSecond() - started.getEpochSecond());
  }

  /** Returns whether every task completed. */
  public boolean completed() {
    return RunStatus.COMPLETED.text().equals(status());
  }

  /**
   * Returns the text after the prefix in the first tag {@code PREFIX:text}; null if there is no
   * such tag.
   */
  public @Nullable String tagged(String prefix) {
    for (String tag : tags()) {
      if (tag.length() > prefix.length()
          && tag.charAt(prefix.length()) == ':'
          && tag.startsWith(prefix)) {
        return tag.substring(prefix.length() + 1);
      }
    }
    return null;
  }

  /** Returns the tags, in the order of the line; empty if there are none. */
  public List<String> tags() {
    int at = places[LedgerKey.TAGS.place()];
    List<String> tags = new ArrayList<>();
    if (at == 0 || bytes[at] != '[') {
      return tags;
    }
    at++;
    while (bytes[at] == '"') {
      int behind = behindString(at);
      tags.add(string(at + 1, behind - 1));
      at = bytes[behind] == ',' ? behind + 1 : behind;
    }
    return tags;
  }

  /** Returns a text value; null if the key is missing or its value is no text. */
  public @Nullable String text(LedgerKey key) {
    int from = places[key.place()];
    return from == 0 || bytes[from] != '"' ? null : string(from + 1, places[key.place() + 1] - 1);
  }

  private String string(int from, int to) {
    String word = words.of(bytes, from, to);
    return word.indexOf('\\') < 0 ? word : Json.parseObject("{\"v\":\"" + word + "\"}").text("v");
  }

  /**
   * Returns the value without quotes and without the word pool, for values that differ in each run.
   */
  private @Nullable String unshared(LedgerKey key) {
    int from = places[key.place()];
    int to = places[key.place() + 1];
    if (from == 0 || bytes[from] == 'n') {
      return null;
    }
    int quote = bytes[from] == '"' ? 1 : 0;
    return new String(bytes, from + quote, to - from - 2 * quote, StandardCharsets.UTF_8);
  }

  /**
   * Returns a whole number; null if it is unknown.
   *
   * @throws ArithmeticException if the number has a fraction
   */
  public @Nullable Long whole(LedgerKey key) {
    BigDecimal number = decimal(key);
    return number == null ? null : (Long) number.longValueExact();
  }

  /**
   * Returns a number, which may be quoted; null if it is unknown.
   *
   * @throws NumberFormatException if the value is no number
   */
  public @Nullable BigDecimal decimal(LedgerKey key) {
    int from = places[key.place()];
    return from == 0 ? null : decimal(from, places[key.place() + 1]);
  }

  /** Returns a number, which may be quoted; null for null. */
  private @Nullable BigDecimal decimal(int begin, int behind) {
    byte[] text = bytes;
    if (text[begin] == 'n') {
      return null;
    }
    int from = text[begin] == '"' ? begin + 1 : begin;
    int to = text[begin] == '"' ? behind - 1 : behind;
    int first = text[from] == '-' ? from + 1 : from;
    long unscaled = 0;
    int point = to;
    for (int i = first; i < to; i++) {
      int digit = text[i] - '0';
      if (digit >= 0 && digit <= 9) {
        unscaled = unscaled * 10 + digit;
      } else if (text[i] == '.' && point == to) {
        point = i;
      } else {
        return new BigDecimal(new String(text, from, to - from, StandardCharsets.UTF_8));
      }
    }
    if (to - first > MOST_DIGITS || to == first) {
      return new BigDecimal(new String(text, from, to - from, StandardCharsets.UTF_8));
    }
    int scale = point == to ? 0 : to - point - 1;
    return BigDecimal.valueOf(first > from ? -unscaled : unscaled, scale);
  }

  private Map<CostKind, BigDecimal> byKind(LedgerKey key) {
    Map<CostKind, BigDecimal> sums = new EnumMap<>(CostKind.class);
    int at = places[key.place()];
    if (at == 0 || bytes[at] != '{') {
      return sums;
    }
    at++;
    while (bytes[at] == '"') {
      int behindName = behindString(at);
      int behind = behindValue(behindName + 1);
      BigDecimal amount = decimal(behindName + 1, behind);
      if (amount != null) {
        CostKind kind = CostKind.of(words.of(bytes, at + 1, behindName - 1));
        sums.merge(kind, amount, BigDecimal::add);
      }
      at = bytes[behind] == ',' ? behind + 1 : behind;
    }
    return sums;
  }

  /**
   * Returns a time, which the line holds as {@code 2025-11-01T14:32:00Z}; null if it is unknown.
   */
  public @Nullable Instant time(LedgerKey key) {
    String time = unshared(key);
    if (time == null) {
      return null;
    }
    int at = places[key.place()] + 1;
    if (time.length() != 20 || time.charAt(10) != 'T' || time.charAt(19) != 'Z') {
      return Instant.parse(time);
    }
    long days = days(digits(at, 4), digits(at + 5, 2), digits(at + 8, 2));
    return Instant.ofEpochSecond(
        days * 86_400 + digits(at + 11, 2) * 3600L + digits(at + 14, 2) * 60L + digits(at + 17, 2));
  }

  private int digits(int from, int count) {
    int number = 0;
    for (int i = from; i < from + count; i++) {
      number = number * 10 + bytes[i] - '0';
    }
    return number;
  }

  /**
   * Returns the days since 1970. Years are counted from March, so that a leap day is a year's last
   * day.
   */
  private static long days(int year, int month, int day) {
    int y = month > 2 ? year : year - 1;
    int dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return y * 365L + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468;
  }

  /**
   * A line that is about to be written, or of a run that is not in the ledger. A value that is not
   * set is unknown.
   */
  public static final class Draft {
    private final Map<LedgerKey, Object> values = new EnumMap<>(LedgerKey.class);

    public Draft(String runId) {
      values.put(LedgerKey.RUN_ID, runId);
    }

    /** Sets a value; null is unknown. */
    public Draft with(LedgerKey key, @Nullable Object value) {
      if (value != null) {
        values.put(key, value);
      }
      return this;
    }

    /** Sets a value that may be unknown. */
    public Draft with(LedgerKey key, Optional<?> value) {
      return value.isPresent() ? with(key, value.get()) : this;
    }

    /** Sets an amount, which the line holds as a decimal string. */
    public Draft with(LedgerKey key, Money amount) {
      return with(key, amount.amount().toPlainString());
    }

    /** Returns the line as the ledger stores it, with null for each unknown value. */
    public JsonObject json() {
      JsonObject line = new JsonObject();
      for (LedgerKey key : LedgerKey.WRITTEN_KEYS) {
        line.with(key.text(), values.get(key));
      }
      return line;
    }

    /**
     * Returns the run as readers of the ledger see it.
     *
     * @param month the month in which the run was made, such as {@code 2025-11}
     */
    public LedgerLine line(String month) {
      return LedgerLine.of(json(), month);
    }
  }

  static LedgerLine of(JsonObject line, String month) {
    byte[] bytes = (Json.compact(line) + "\n").getBytes(StandardCharsets.UTF_8);
    return new LedgerLine(bytes, 0, month, new Utf8Pool(1));
  }
}
