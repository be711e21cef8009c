package dev.nexa.slurm.usage;

import dev.nexa.slurm.scheduler.JobState;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * State words, kept as one string each. {@code CANCELLED by 1000} is CANCELLED, {@code OUT_OF_ME+}
 * is the one state that begins so; a word that no Slurm we know prints is kept as it came.
 */
final class States {
  /**
   * The flags that accounting stores instead of a base state, in the order in which sacct prefers
   * them ({@code job_state_string} in Slurm's slurm_protocol_defs.c).
   */
  private static final List<JobState> STORED =
      List.of(
          JobState.RESIZING,
          JobState.REQUEUED,
          JobState.REQUEUE_FED,
          JobState.REQUEUE_HOLD,
          JobState.SPECIAL_EXIT,
          JobState.REVOKED);

  /** Flags of sacct's JSON that are no state of their own ({@code JOB_STATE} in parsers.c). */
  private static final List<String> OTHER_FLAGS =
      List.of(
          "LAUNCH_FAILED",
          "UPDATE_DB",
          "GETENV_FAILED",
          "RECONFIG_FAIL",
          "POWER_UP_NODE",
          "INVALID");

  private final Problems problems;
  private final Map<String, String> known = new HashMap<>();

  States(Problems problems) {
    this.problems = problems;
  }

  /** One word of a table. */
  @Nullable String read(String text, int line) {
    if (LocalTimes.isNothing(text)) {
      return null;
    }
    String state = known.get(text);
    if (state == null) {
      state = parse(text);
      if (state == null) {
        problems.addOnce(line, "the state '" + text + "' is not one we know; kept as it is");
        state = text;
      }
      known.put(text, state);
    }
    return state;
  }

  /** Whether it is a state, which helps to tell columns apart. */
  static boolean isState(String text) {
    return parse(text) != null;
  }

  private static @Nullable String parse(String text) {
    JobState state = JobState.parse(text);
    if (isSlurms(state)) {
      return state.name();
    }
    if (!text.endsWith("+")) {
      return null;
    }
    String start = text.substring(0, text.length() - 1).toUpperCase(Locale.ROOT);
    String found = null;
    for (JobState candidate : JobState.values()) {
      if (isSlurms(candidate) && candidate.name().startsWith(start)) {
        if (found != null) {
          return null;
        }
        found = candidate.name();
      }
    }
    return found;
  }

  /** The words of a JSON document: a base state and flags. */
  @Nullable String read(List<String> words, int line) {
    String base = null;
    String other = null;
    JobState flag = null;
    for (String word : words) {
      JobState state = JobState.parse(word);
      if (STORED.contains(state)) {
        flag = flag == null || STORED.indexOf(state) < STORED.indexOf(flag) ? state : flag;
      } else if (state.compareTo(JobState.OUT_OF_MEMORY) <= 0) {
        base = state.name();
      } else if (!OTHER_FLAGS.contains(word)) {
        other = read(word, line);
      }
    }
    if (flag != null) {
      return flag.name();
    }
    return base == null ? other : base;
  }

  private static boolean isSlurms(JobState state) {
    return switch (state) {
      case REFUSED, VANISHED, NOT_SUBMITTED, UNRECOGNIZED -> false;
      default -> true;
    };
  }

  /** Whether a job may run again after an attempt that ended so. */
  static boolean mayGoOn(@Nullable String state) {
    return state != null && JobState.parse(state).mayGoOn();
  }
}
