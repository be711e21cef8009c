package dev.nexa.slurm.costs;

import dev.nexa.slurm.scheduler.JobState;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** What runs can be filtered and grouped by. */
public enum Field {
  RUN(Type.TEXT),
  STAGE(Type.TEXT),
  STATUS(Type.TEXT),
  STATE(Type.TEXT),
  MODEL(Type.TEXT),
  DATASET(Type.TEXT),
  BACKEND(Type.TEXT),
  TAG(Type.TEXT),
  PROJECT(Type.TEXT),
  PIPELINE(Type.TEXT),
  EXPERIMENT(Type.TEXT),
  CLUSTER(Type.TEXT),
  USER(Type.TEXT),
  ACCOUNT(Type.TEXT),
  PARTITION(Type.TEXT),
  GPU_TYPE(Type.TEXT),
  CURRENCY(Type.TEXT),
  PRICE_BOOK(Type.TEXT),
  METHOD(Type.TEXT),
  MONTH(Type.TEXT),
  COST(Type.NUMBER),
  WASTED(Type.NUMBER),
  CREDIT(Type.NUMBER),
  RESERVATION(Type.NUMBER),
  EXPECTED(Type.NUMBER),
  GPU_HOURS(Type.NUMBER),
  CPU_HOURS(Type.NUMBER),
  TASKS(Type.NUMBER),
  TASKS_FAILED(Type.NUMBER),
  ATTEMPTS(Type.NUMBER),
  LOSS(Type.NUMBER),
  RUN_TIME(Type.DURATION),
  QUEUE_TIME(Type.DURATION),
  CREATED(Type.TIME),
  STARTED(Type.TIME),
  ENDED(Type.TIME);

  private static final BigDecimal HOUR = BigDecimal.valueOf(3600);
  private static final List<String> STATUSES = List.of("running", "retry", "completed", "failed");
  private static final List<String> STATES = states();

  /** What its values are. */
  enum Type {
    TEXT,
    NUMBER,
    /** Seconds. */
    DURATION,
    TIME
  }

  private final Type type;

  Field(Type type) {
    this.type = type;
  }

  Type type() {
    return type;
  }

  /** Its name as people write it. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** All words that a run can have here, in lower case; empty where any can be. */
  List<String> known() {
    return this == STATUS ? STATUSES : this == STATE ? STATES : List.of();
  }

  private static List<String> states() {
    // Of the manifest's own words the first two are no job's state in Slurm.
    List<String> states = new ArrayList<>(List.of("unconfirmed", "unknown"));
    for (JobState state : JobState.values()) {
      states.add(state.name().toLowerCase(Locale.ROOT));
    }
    return List.copyOf(states);
  }

  static Optional<Field> of(String word) {
    for (Field field : values()) {
      if (field.word().equals(word)) {
        return Optional.of(field);
      }
    }
    return Optional.empty();
  }

  /** The names of all, or of those that are words and so can make groups. */
  static List<String> words(boolean onlyText) {
    List<String> words = new ArrayList<>();
    for (Field field : values()) {
      if (!onlyText || field.type == Type.TEXT) {
        words.add(field.word());
      }
    }
    return words;
  }

  /** A run's words; several only of {@code tag}, none where it is not known. */
  List<String> texts(RunLine run) {
    if (this == TAG) {
      return run.tags();
    }
    String text = text(run);
    return text == null ? List.of() : List.of(text);
  }

  /** A run's word; null where it is not known. */
  @Nullable String text(RunLine run) {
    return switch (this) {
      case RUN -> run.runId();
      case STAGE -> run.stage();
      case STATUS -> run.status();
      case STATE -> run.state();
      case MODEL -> run.model();
      case DATASET -> run.text(Key.DATASET);
      case BACKEND -> run.text(Key.BACKEND);
      case PROJECT, PIPELINE, EXPERIMENT -> run.tagged(word());
      case CLUSTER -> run.cluster();
      case USER -> run.user();
      case ACCOUNT -> run.account();
      case PARTITION -> run.text(Key.PARTITION);
      case GPU_TYPE -> run.gpuType();
      case CURRENCY -> run.currency();
      case PRICE_BOOK -> run.priceBook();
      case METHOD -> run.text(Key.EXPECTED_METHOD);
      case MONTH -> run.month();
      default -> throw new IllegalStateException(word() + " is no word");
    };
  }

  /** A run's number, or seconds; null where it is not known. */
  @Nullable BigDecimal number(RunLine run) {
    return switch (this) {
      case COST -> run.cost();
      case WASTED -> run.wasted();
      case CREDIT -> run.credit();
      case RESERVATION -> run.reservation();
      case EXPECTED -> run.expected();
      case GPU_HOURS -> hours(run.gpuSeconds());
      case CPU_HOURS -> hours(run.whole(Key.CPU_SECONDS));
      case TASKS -> run.decimal(Key.TASKS);
      case TASKS_FAILED -> run.decimal(Key.TASKS_FAILED);
      case ATTEMPTS -> run.decimal(Key.ATTEMPTS);
      case LOSS -> run.decimal(Key.LOSS);
      case RUN_TIME -> seconds(run.runSeconds());
      case QUEUE_TIME -> seconds(run.queueSeconds());
      default -> throw new IllegalStateException(word() + " is no number");
    };
  }

  /** A run's time; null where there is none. */
  @Nullable Instant time(RunLine run) {
    return switch (this) {
      case CREATED -> run.time(Key.CREATED);
      case STARTED -> run.started();
      case ENDED -> run.ended();
      default -> throw new IllegalStateException(word() + " is no time");
    };
  }

  private static @Nullable BigDecimal seconds(@Nullable Long seconds) {
    return seconds == null ? null : BigDecimal.valueOf(seconds);
  }

  private static @Nullable BigDecimal hours(@Nullable Long seconds) {
    return seconds == null
        ? null
        : BigDecimal.valueOf(seconds).divide(HOUR, 4, RoundingMode.HALF_EVEN);
  }
}
