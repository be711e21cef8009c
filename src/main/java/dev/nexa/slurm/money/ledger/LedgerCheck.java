package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;

/** Compares the newest ledger line of each run with the run's own files. */
public final class LedgerCheck {
  private final Map<String, LedgerLine> lines = new HashMap<>();
  private final FinishedRuns finished;

  /** Reads the ledger. */
  public LedgerCheck(Workspace workspace) {
    finished = new FinishedRuns(workspace);
    finished.forEach(line -> lines.put(line.runId(), line));
  }

  /** Returns why lines cannot be read, one sentence for each line. */
  public List<String> problems() {
    return finished.problems();
  }

  /** Returns the runs that have a ledger line, by id. */
  public SortedSet<String> runs() {
    return new TreeSet<>(lines.keySet());
  }

  /** Returns the version of a run's newest line; 0 if it has none. */
  public long version(RunId run) {
    LedgerLine line = lines.get(run.value());
    return line == null ? 0 : line.version();
  }

  /**
   * Describes the ledger line of a run that has no other file left, so that its cost cannot be
   * verified.
   *
   * @param run a run of {@link #runs}
   */
  public String orphan(String run) {
    LedgerLine line = Objects.requireNonNull(lines.get(run));
    BigDecimal cost = line.cost();
    return ("ledger: %s is %s and cost %s, and its folder, its manifest and its"
            + " cost file are not there: restore them from a"
            + " backup")
        .formatted(run, line.status(), cost == null ? "nothing" : cost.toPlainString());
  }

  /**
   * Returns how a run's line differs from its cost file; empty if they agree.
   *
   * @param status the cost file's status
   * @param total the cost file's total
   */
  public Optional<String> difference(RunId run, String status, BigDecimal total) {
    LedgerLine line = lines.get(run.value());
    if (line == null) {
      return Optional.of("ledger: no line of " + run);
    }
    BigDecimal cost = line.cost();
    if (cost != null && cost.compareTo(total) == 0 && status.equals(line.status())) {
      return Optional.empty();
    }
    return Optional.of(
        "ledger: %s is %s and cost %s, its cost file says %s and %s"
            .formatted(
                run,
                line.status(),
                cost == null ? "nothing" : cost.toPlainString(),
                status,
                total.toPlainString()));
  }
}
