package dev.nexa.slurm.usage;

import dev.nexa.slurm.files.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What could not be read, and where. The first thousand are kept, the others counted. */
public final class Problems {
  private static final int MOST = 1000;

  private final List<Problem> kept = new ArrayList<>();
  private final Set<String> told = new HashSet<>();
  private int more;
  private int ofRows;

  /**
   * One of them.
   *
   * @param line from 1; 0 where it is about no line
   */
  public record Problem(int line, String message) {
    public JsonObject toJson() {
      return new JsonObject().with("line", line == 0 ? null : line).with("message", message);
    }

    /** {@code line 12: …}. */
    @Override
    public String toString() {
      return (line == 0 ? "" : "line " + line + ": ") + message;
    }
  }

  /** Adds one. */
  public void add(int line, String message) {
    ofRows++;
    keep(line, message);
  }

  private void keep(int line, String message) {
    if (kept.size() < MOST) {
      kept.add(new Problem(line, message));
    } else {
      more++;
    }
  }

  /** Adds one that would come again with each row. */
  void addOnce(int line, String message) {
    if (told.size() < MOST && told.add(message)) {
      keep(line, message);
    }
  }

  /** How many are about something that was left out, and not about a column. */
  public int ofRows() {
    return ofRows;
  }

  /** All of them by line, those about no line last. */
  public List<Problem> list() {
    List<Problem> all = new ArrayList<>(kept);
    all.sort(
        Comparator.comparingInt(
            problem -> problem.line() == 0 ? Integer.MAX_VALUE : problem.line()));
    if (more > 0) {
      all.add(new Problem(0, "and " + more + " more"));
    }
    return all;
  }
}
