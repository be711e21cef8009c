package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.units.Hours;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.money.ledger.LedgerKey;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.runs.RunStatus;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The fields that can filter runs, and the text fields that can group them. */
public enum RunField {
  RUN(Type.TEXT),
  STAGE(Type.TEXT, LedgerKey.STAGE),
  STATUS(Type.TEXT, LedgerKey.STATUS),
  STATE(Type.TEXT, LedgerKey.STATE),
  MODEL(Type.TEXT, LedgerKey.MODEL),
  DATASET(Type.TEXT, LedgerKey.DATASET),
  BACKEND(Type.TEXT, LedgerKey.BACKEND),
  TAG(Type.TEXT),
  PROJECT(Type.TEXT),
  PIPELINE(Type.TEXT),
  EXPERIMENT(Type.TEXT),
  CLUSTER(Type.TEXT, LedgerKey.CLUSTER),
  USER(Type.TEXT, LedgerKey.USER),
  ACCOUNT(Type.TEXT, LedgerKey.ACCOUNT),
  PARTITION(Type.TEXT, LedgerKey.PARTITION),
  GPU_TYPE(Type.TEXT, LedgerKey.GPU_TYPE),
  CURRENCY(Type.TEXT, LedgerKey.CURRENCY),
  PRICE_BOOK(Type.TEXT, LedgerKey.PRICE_BOOK),
  APPROVAL(Type.TEXT, LedgerKey.APPROVAL),
  METHOD(Type.TEXT, LedgerKey.EXPECTED_METHOD),
  MONTH(Type.TEXT),
  COST(Type.NUMBER, LedgerKey.COST),
  WASTED(Type.NUMBER, LedgerKey.WASTED),
  CREDIT(Type.NUMBER, LedgerKey.CREDIT),
  RESERVATION(Type.NUMBER, LedgerKey.RESERVATION),
  EXPECTED(Type.NUMBER, LedgerKey.EXPECTED),
  GPU_HOURS(Type.NUMBER, LedgerKey.GPU_SECONDS),
  CPU_HOURS(Type.NUMBER, LedgerKey.CPU_SECONDS),
  TASKS(Type.NUMBER, LedgerKey.TASKS),
  TASKS_FAILED(Type.NUMBER, LedgerKey.TASKS_FAILED),
  ATTEMPTS(Type.NUMBER, LedgerKey.ATTEMPTS),
  LOSS(Type.NUMBER, LedgerKey.LOSS),
  RUN_TIME(Type.DURATION),
  QUEUE_TIME(Type.DURATION),
  CREATED(Type.TIME, LedgerKey.CREATED),
  STARTED(Type.TIME, LedgerKey.STARTED),
  ENDED(Type.TIME, LedgerKey.ENDED);

  private static final List<String> STATUSES =
      Arrays.stream(RunStatus.values()).map(RunStatus::text).toList();
  private static final List<String> STATES = states();
  private static final List<String> METHODS = List.of("config", "history", "analytic");

  /** The type of a field's values. */
  enum Type {
    TEXT("a text", "=VALUE"),
    NUMBER("a number", ">10"),
    /** Seconds. */
    DURATION("a duration", ">2h"),
    TIME("a time", ">=2025-11");

    private final String words;
    private final String example;

    Type(String words, String example) {
      this.words = words;
      this.example = example;
    }
  }

  private final Type type;
  private final Optional<LedgerKey> key;

  RunField(Type type) {
    this.type = type;
    this.key = Optional.empty();
  }

  /**
   * A field that has the values of a key.
   *
   * @param key for hours, the key of the seconds
   */
  RunField(Type type, LedgerKey key) {
    this.type = type;
    this.key = Optional.of(key);
  }

  Type type() {
    return type;
  }

  /** Returns the type in words, with its article: {@code a number}. */
  String kind() {
    return type.words;
  }

  /**
   * Returns the hint at a field that other programs call by this name, or at the nearest of these
   * names; may be empty.
   */
  static String meant(String word, List<String> names) {
    String ours =
        switch (word.toLowerCase(Locale.ROOT)) {
          case "name", "experiment_name" -> "experiment";
          case "id", "run_id", "job" -> "run";
          case "gpu", "gpus", "gpu_model" -> "gpu_type";
          case "total", "price", "amount", "spend", "spent" -> "cost";
          case "team", "department", "group", "cost_center" -> "tag:team, project or account";
          case "week", "day", "year", "quarter", "date" -> "month, or ended, such as ended>=7d";
          case "queue" -> "partition";
          case "owner", "person" -> "user";
          default -> "";
        };
    return ours.isEmpty() ? Nearest.hint(word, names) : " (did you mean " + ours + "?)";
  }

  /** Returns an operator and a value that the field takes, such as {@code >10}. */
  String example() {
    return type.example;
  }

  /** Returns the field's name as users type it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns all possible values in lower case; empty if any value is possible. */
  List<String> known() {
    return switch (this) {
      case STATUS -> STATUSES;
      case STATE -> STATES;
      case METHOD -> METHODS;
      default -> List.of();
    };
  }

  /** Returns the words that name a run's state: its status, or the state of its job. */
  public static List<String> stateWords() {
    return Stream.of(STATUSES, List.of("queued"), STATES).flatMap(List::stream).distinct().toList();
  }

  private static List<String> states() {
    // The manifest has two states that no job has in Slurm.
    Stream<String> ofJobs = Arrays.stream(JobState.values()).map(JobState::name);
    return Stream.concat(Stream.of("unconfirmed", "unknown"), ofJobs)
        .map(name -> name.toLowerCase(Locale.ROOT))
        .toList();
  }

  static Optional<RunField> of(String word) {
    return Arrays.stream(values()).filter(field -> field.word().equals(word)).findFirst();
  }

  /**
   * Returns the names of all fields.
   *
   * @param onlyText whether to return only text fields, by which runs can be grouped
   */
  public static List<String> words(boolean onlyText) {
    return Arrays.stream(values())
        .filter(field -> !onlyText || field.type == Type.TEXT)
        .map(RunField::word)
        .toList();
  }

  /** Returns a run's values of a text field; several only for {@code tag}, empty if unknown. */
  List<String> texts(LedgerLine run) {
    if (this == TAG) {
      return run.tags();
    }
    String text = text(run);
    return text == null ? List.of() : List.of(text);
  }

  /** Returns a run's value of a text field; null if unknown. */
  @Nullable String text(LedgerLine run) {
    return switch (this) {
      case RUN -> run.runId();
      case PROJECT, PIPELINE, EXPERIMENT -> run.tagged(word());
      case MONTH -> run.month();
      default -> run.text(key());
    };
  }

  /** Returns a run's value of a number field, in seconds for durations; null if unknown. */
  @Nullable BigDecimal number(LedgerLine run) {
    return switch (this) {
      case GPU_HOURS, CPU_HOURS -> hours(run.whole(key()));
      case RUN_TIME -> seconds(run.runSeconds());
      case QUEUE_TIME -> seconds(run.queueSeconds());
      default -> run.decimal(key());
    };
  }

  /** Returns a run's value of a time field; null if unknown. */
  @Nullable Instant time(LedgerLine run) {
    return run.time(key());
  }

  private LedgerKey key() {
    return key.orElseThrow(() -> new IllegalStateException(word() + " has no key"));
  }

  private static @Nullable BigDecimal seconds(@Nullable Long seconds) {
    return seconds == null ? null : BigDecimal.valueOf(seconds);
  }

  private static @Nullable BigDecimal hours(@Nullable Long seconds) {
    return seconds == null ? null : Hours.of(seconds);
  }
}
