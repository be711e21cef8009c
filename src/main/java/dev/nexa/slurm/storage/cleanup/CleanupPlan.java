package dev.nexa.slurm.storage.cleanup;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The paths that a cleanup would move into the trash, and the paths that it keeps. */
public final class CleanupPlan {
  /** So many entries of a tier that are not the workspace's are named; the others are counted. */
  private static final int MOST_NAMED = 100;

  private final List<Candidate> candidates = new ArrayList<>();
  private final List<KeptPath> kept = new ArrayList<>();
  private final Map<String, Integer> foreign = new HashMap<>();
  private final List<String> notes = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();

  CleanupPlan() {}

  void remove(Candidate candidate) {
    candidates.add(candidate);
  }

  void keep(Path path, String reason) {
    kept.add(new KeptPath(path, reason));
  }

  /** Keeps the path if there is a reason. Returns whether there is one. */
  boolean keep(Path path, Optional<String> reason) {
    reason.ifPresent(why -> keep(path, why));
    return reason.isPresent();
  }

  /** Keeps an entry that is not the workspace's; a tier may have any number of them. */
  void keepForeign(Path path, String reason) {
    if (foreign.merge(path.getParent() + ": " + reason, 1, Integer::sum) <= MOST_NAMED) {
      kept.add(new KeptPath(path, reason));
    }
  }

  void note(String note) {
    notes.add(note);
  }

  /** Adds a note about a thing that somebody must fix. */
  void problem(String problem) {
    problems.add(problem);
  }

  /** Orders both lists by path; a folder is read in any order. */
  void sort() {
    candidates.sort(Comparator.comparing(Candidate::full));
    kept.sort(Comparator.comparing(KeptPath::path));
  }

  /** Returns what is moved, ordered by path. */
  public List<Candidate> candidates() {
    return candidates;
  }

  /** Returns what is kept, ordered by path. */
  public List<KeptPath> kept() {
    return kept;
  }

  /**
   * Returns the sentences of {@link #problems}, then sentences about tiers that were not looked at,
   * and about entries that are not named.
   */
  public List<String> notes() {
    List<String> all = new ArrayList<>(problems);
    all.addAll(notes);
    foreign.forEach(
        (key, count) -> {
          if (count > MOST_NAMED) {
            all.add(count - MOST_NAMED + " further entries are kept in " + key);
          }
        });
    return all;
  }

  /** Returns sentences about what somebody must fix: tiers and journals that cannot be read. */
  public List<String> problems() {
    return List.copyOf(problems);
  }

  /** Returns the bytes of all candidates. */
  public long bytes() {
    return candidates.stream().mapToLong(Candidate::bytes).sum();
  }
}
