package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.files.RepeatedText;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A run as its ledger line tells it. Only where each value stands is found at once; it is made when
 * it is asked for, because a sum over 100,000 runs asks for few. Null is unknown: older lines have
 * fewer keys, and a run that never started has no times. Money is in {@link #currency}.
 *
 * <p>It is no general reader of JSON: it takes one object without spaces, as the ledger has it.
 */
public final class RunLine {
  private static final int MOST_DIGITS = 18;

  private final byte[] bytes;
  private final String month;
  private final RepeatedText words;

  /** Of each key the first byte of its value and the one behind it; 0 where there is none. */
  private final int[] places = new int[2 * Key.count()];

  /**
   * Finds the values of the object that begins there.
   *
   * @throws IllegalArgumentException if it is none
   */
  RunLine(byte[] bytes, int begin, String month, RepeatedText words) {
    this.bytes = bytes;
    this.month = month;
    this.words = words;
    int at = expect('{', begin);
    int likely = 0;
    while (true) {
      int key = Key.at(bytes, at, likely);
      int from = key >= 0 ? at + Key.length(key) : expect(':', behindString(at));
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
    if (places[Key.RUN_ID.place()] == 0) {
      throw new IllegalArgumentException("it has no run_id");
    }
  }

  /**
   * A run that is not in the ledger, as its line would be.
   *
   * @param line with the keys of a ledger line
   * @param month in which it was made
   */
  public static RunLine of(JsonObject line, String month) {
    byte[] bytes = (Json.compact(line) + "\n").getBytes(StandardCharsets.UTF_8);
    return new RunLine(bytes, 0, month, new RepeatedText(1));
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

  /** The month of the ledger's file: of the end in UTC, or of the making where it never started. */
  public String month() {
    return month;
  }

  public String runId() {
    return Objects.requireNonNull(unshared(Key.RUN_ID));
  }

  /** The cost record that it tells of: 1, and one more after each rerun or correction. */
  public long version() {
    Long version = whole(Key.VERSION);
    return version == null ? 1 : version;
  }

  public @Nullable String stage() {
    return text(Key.STAGE);
  }

  public @Nullable String status() {
    return text(Key.STATUS);
  }

  public @Nullable String state() {
    return text(Key.STATE);
  }

  public @Nullable String model() {
    return text(Key.MODEL);
  }

  public @Nullable String cluster() {
    return text(Key.CLUSTER);
  }

  public @Nullable String user() {
    return text(Key.USER);
  }

  public @Nullable String account() {
    return text(Key.ACCOUNT);
  }

  public @Nullable String gpuType() {
    return text(Key.GPU_TYPE);
  }

  /** ISO 4217 code. */
  public @Nullable String currency() {
    return text(Key.CURRENCY);
  }

  public @Nullable String priceBook() {
    return text(Key.PRICE_BOOK);
  }

  /** What it cost by the price book. */
  public @Nullable BigDecimal cost() {
    return decimal(Key.COST);
  }

  /** The cost without that of its files, which no estimate speaks of. */
  public @Nullable BigDecimal computeCost() {
    BigDecimal cost = cost();
    BigDecimal stored = amounts().get(Kind.STORAGE);
    return cost == null || stored == null ? cost : cost.subtract(stored);
  }

  /** The part of the cost whose attempts did not complete. */
  public @Nullable BigDecimal wasted() {
    return decimal(Key.WASTED);
  }

  /** What is taken off the cost for the cluster's own faults. */
  public @Nullable BigDecimal credit() {
    return decimal(Key.CREDIT);
  }

  /** The most it could cost. */
  public @Nullable BigDecimal reservation() {
    return decimal(Key.RESERVATION);
  }

  public @Nullable String backend() {
    return text(Key.BACKEND);
  }

  public @Nullable String dataset() {
    return text(Key.DATASET);
  }

  public @Nullable Long tasks() {
    return whole(Key.TASKS);
  }

  /** CPUs times the seconds they were held. */
  public @Nullable Long cpuSeconds() {
    return whole(Key.CPU_SECONDS);
  }

  /** Of the attempt that held its allocation the longest. */
  public @Nullable Long longestSeconds() {
    return whole(Key.LONGEST_SECONDS);
  }

  /** GPUs of one task; 0 for none. */
  public @Nullable Long gpus() {
    return whole(Key.GPUS);
  }

  /** CPUs of one task. */
  public @Nullable Long cpus() {
    return whole(Key.CPUS);
  }

  /** Tokens that it went through. */
  public @Nullable Long dataTokens() {
    return whole(Key.DATA_TOKENS);
  }

  /** Bytes of the data that it went through. */
  public @Nullable Long dataBytes() {
    return whole(Key.DATA_BYTES);
  }

  /** What it would probably cost. */
  public @Nullable BigDecimal expected() {
    return decimal(Key.EXPECTED);
  }

  /** The cost by what it is for. */
  public Map<Kind, BigDecimal> amounts() {
    return byKind(Key.LINES);
  }

  /** GPU-hours, CPU-hours, GiB-hours, GB-months, GB. */
  public Map<Kind, BigDecimal> quantities() {
    return byKind(Key.QUANTITIES);
  }

  /** GPUs times the seconds they were held. */
  public @Nullable Long gpuSeconds() {
    return whole(Key.GPU_SECONDS);
  }

  public @Nullable Instant started() {
    return time(Key.STARTED);
  }

  public @Nullable Instant ended() {
    return time(Key.ENDED);
  }

  /** From the first submission to the first start. */
  public @Nullable Long queueSeconds() {
    return whole(Key.QUEUE_SECONDS);
  }

  /** From the first start to the last end; null where it never ran. */
  public @Nullable Long runSeconds() {
    Instant started = started();
    Instant ended = ended();
    return started == null || ended == null
        ? null
        : (Long) Math.max(0, ended.getEpochSecond() - started.getEpochSecond());
  }

  /** Whether every task completed. */
  public boolean completed() {
    return "completed".equals(status());
  }

  /** What the first tag {@code PREFIX:word} says; null where there is none. */
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

  public List<String> tags() {
    int at = places[Key.TAGS.place()];
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

  @Nullable String text(Key key) {
    int from = places[key.place()];
    return from == 0 || bytes[from] != '"' ? null : string(from + 1, places[key.place() + 1] - 1);
  }

  private String string(int from, int to) {
    String word = words.of(bytes, from, to);
    return word.indexOf('\\') < 0 ? word : Json.parseObject("{\"v\":\"" + word + "\"}").text("v");
  }

  /** The value without quotes, as it is written, of which there are as many as runs. */
  private @Nullable String unshared(Key key) {
    int from = places[key.place()];
    int to = places[key.place() + 1];
    if (from == 0 || bytes[from] == 'n') {
      return null;
    }
    int quote = bytes[from] == '"' ? 1 : 0;
    return new String(bytes, from + quote, to - from - 2 * quote, StandardCharsets.UTF_8);
  }

  @Nullable Long whole(Key key) {
    BigDecimal number = decimal(key);
    return number == null ? null : (Long) number.longValueExact();
  }

  @Nullable BigDecimal decimal(Key key) {
    int from = places[key.place()];
    return from == 0 ? null : decimal(from, places[key.place() + 1]);
  }

  /** A number, which may stand in quotes; null for null. */
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

  private Map<Kind, BigDecimal> byKind(Key key) {
    Map<Kind, BigDecimal> sums = new EnumMap<>(Kind.class);
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
        Kind kind = Kind.of(words.of(bytes, at + 1, behindName - 1));
        sums.merge(kind, amount, BigDecimal::add);
      }
      at = bytes[behind] == ',' ? behind + 1 : behind;
    }
    return sums;
  }

  /** {@code 2025-11-01T14:32:00Z}. */
  @Nullable Instant time(Key key) {
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

  /** Days since 1970: years are counted from March, so that a leap day is a year's last. */
  private static long days(int year, int month, int day) {
    int y = month > 2 ? year : year - 1;
    int dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    return y * 365L + y / 4 - y / 100 + y / 400 + dayOfYear - 719_468;
  }
}
