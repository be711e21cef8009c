package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.cluster.scheduler.JobState;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads states into shared strings. {@code CANCELLED by 1000} is CANCELLED, and {@code OUT_OF_ME+}
 * is the only state that begins with these letters. A word that no known Slurm prints is kept
 * unchanged.
 */
final class States {
  /** Flags of sacct's JSON that are no states ({@code JOB_STATE} in parsers.c). */
  private static final List<String> OTHER_FLAGS =
      List.of(
          "LAUNCH_FAILED UPDATE_DB GETENV_FAILED RECONFIG_FAIL POWER_UP_NODE INVALID"
              .split(" ", -1));

  private final Problems problems;
  private final Map<String, String> known = new HashMap<>();

  States(Problems problems) {
    this.problems = problems;
  }

  /**
   * Reads the state of a table's cell; null if the cell holds no value. An unknown word is reported
   * once.
   */
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

  /** Returns whether the text is a state of Slurm. It helps to tell columns apart. */
  static boolean isState(String text) {
    return parse(text) != null;
  }

  private static @Nullable String parse(String text) {
    JobState state = JobState.parse(text);
    if (state.isSlurms()) {
      return state.name();
    }
    if (!text.endsWith("+")) {
      return null;
    }
    String start = text.substring(0, text.length() - 1).toUpperCase(Locale.ROOT);
    List<JobState> found =
        Arrays.stream(JobState.values())
            .filter(candidate -> candidate.isSlurms() && candidate.name().startsWith(start))
            .toList();
    return found.size() == 1 ? found.get(0).name() : null;
  }

  /**
   * Reads the words of a JSON document: a base state and flags. A flag that accounting stores wins
   * over the base state; null if there is no word.
   */
  @Nullable String read(List<String> words, int line) {
    String base = null;
    String other = null;
    JobState flag = null;
    for (String word : words) {
      JobState state = JobState.parse(word);
      if (state.isStoredFlag()) {
        flag = flag == null || state.compareTo(flag) < 0 ? state : flag;
      } else if (state.isBase()) {
        base = state.name();
      } else if (!OTHER_FLAGS.contains(word)) {
        other = read(word, line);
      }
    }
    return flag != null ? flag.name() : base == null ? other : base;
  }

  /** Returns whether a job may run again after an attempt with this state; false for null. */
  static boolean mayGoOn(@Nullable String state) {
    return state != null && JobState.parse(state).mayGoOn();
  }
}
