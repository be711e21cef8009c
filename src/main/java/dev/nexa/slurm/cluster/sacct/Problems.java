package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.json.JsonObject;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Collects the parts of a dump that could not be read, with their lines. It keeps the first 1000
 * and counts the others.
 */
public final class Problems {
  private static final int MOST = 1000;

  private final List<Problem> kept = new ArrayList<>();
  private final Set<String> told = new HashSet<>();
  private int more;
  private int ofRows;

  /**
   * One problem.
   *
   * @param line line of the dump, from 1; 0 if the problem is not about a line
   * @param message a sentence without a full stop
   */
  public record Problem(int line, String message) {
    /**
     * Returns the problem's entry in {@code usage --json}; {@code line} is null if it is not about
     * a line.
     */
    public JsonObject toJson() {
      return new JsonObject().with("line", line == 0 ? null : line).with("message", message);
    }

    /** Returns {@code line 12: …}. */
    @Override
    public String toString() {
      return (line == 0 ? "" : "line " + line + ": ") + message;
    }
  }

  /** Adds a problem. */
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

  /**
   * Adds a problem only once, however often its message comes, for problems that every row would
   * repeat.
   */
  void addOnce(int line, String message) {
    if (told.size() < MOST && told.add(message)) {
      keep(line, message);
    }
  }

  /**
   * Returns the number of problems of {@link #add}, which are about rows and not about a column.
   */
  public int ofRows() {
    return ofRows;
  }

  /**
   * Returns the kept problems by line, then those without a line, then a count of those that were
   * not kept.
   */
  public List<Problem> list() {
    List<Problem> all = new ArrayList<>(kept);
    all.sort(Comparator.comparingInt(one -> one.line() == 0 ? Integer.MAX_VALUE : one.line()));
    if (more > 0) {
      all.add(new Problem(0, "and " + more + " more"));
    }
    return all;
  }
}
