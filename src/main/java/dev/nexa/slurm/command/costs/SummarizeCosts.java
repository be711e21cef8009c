package dev.nexa.slurm.command.costs;

import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.money.bills.Bills;
import dev.nexa.slurm.money.bills.Charges;
import dev.nexa.slurm.money.ledger.FinishedRuns;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.money.ledger.UnlistedRuns;
import dev.nexa.slurm.money.summary.Accuracy;
import dev.nexa.slurm.money.summary.CostSummary;
import dev.nexa.slurm.money.summary.GroupBy;
import dev.nexa.slurm.money.summary.GroupOrder;
import dev.nexa.slurm.money.summary.NoMatch;
import dev.nexa.slurm.money.summary.RunFilter;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import java.math.BigDecimal;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Implements {@code costs} and {@code costs accuracy}. Reads the ledger, imported bills, and the
 * names of cost files, to see whether the ledger is complete.
 */
public record SummarizeCosts(Context context) {
  private static final int PIECE = 1 << 16;

  /**
   * Returns the cost of finished runs, in groups.
   *
   * @param order the order of the groups; empty for the usual order
   * @param problems receives a line for each record that is not counted
   */
  public CostSummary summarize(
      GroupBy by, RunFilter where, Optional<GroupOrder> order, List<String> problems) {
    CostSummary summary =
        new CostSummary(by, where, new Bills(context.workspace()).charges(), order);
    read(summary::add, problems);
    return summary;
  }

  /** Returns the cost of a run before rounding. */
  public BigDecimal unrounded(String run, Money cost) {
    return CostFile.unrounded(context.workspace().run(new RunId(run)), cost);
  }

  /** Returns the sentence for a workspace without a settled run. */
  public String none() {
    return "No run has ended in "
        + context.workspace().root().toAbsolutePath().normalize()
        + " yet, or none is settled. `nexa-slurm reconcile` settles the runs that have ended.\n";
  }

  /** Returns the sentence about runs that no sum includes yet; empty if there are none. */
  public Optional<String> unsettled() {
    int open = context.workspace().openRuns().size();
    return open == 0
        ? Optional.empty()
        : Optional.of(
            ("note: not included: %d %s not settled; `nexa-slurm reconcile` settles those that"
                    + " have ended")
                .formatted(open, open == 1 ? "run that is" : "runs that are"));
  }

  /**
   * Writes finished runs as FOCUS rows, in CSV.
   *
   * @param problems receives a line for each record that is not counted
   * @param out receives the text in pieces of some 64 KiB
   */
  public void focus(RunFilter where, List<String> problems, Consumer<String> out) {
    Charges charges = new Bills(context.workspace()).charges();
    FocusRows rows = new FocusRows();
    StringBuilder text = new StringBuilder(2 * PIECE).append(FocusRows.heading());
    read(
        run -> {
          if (where.accepts(run)) {
            rows.lines(text, run, charges.apiRows(run));
            if (text.length() > PIECE) {
              out.accept(text.toString());
              text.setLength(0);
            }
          }
        },
        problems);
    out.accept(text.toString());
  }

  /**
   * Counts all runs, to explain a filter that no run matches.
   *
   * @param completed whether only completed runs count
   */
  public NoMatch unmatched(RunFilter where, boolean completed) {
    return NoMatch.among(new FinishedRuns(context.workspace()), where, completed);
  }

  /** Returns how accurate estimates were, in groups. */
  public Accuracy accuracy(GroupBy by, RunFilter where, List<String> problems) {
    Accuracy accuracy = new Accuracy(by, where);
    read(accuracy::add, problems);
    return accuracy;
  }

  /** Reads the ledger, and adds a line for each record that is not counted. */
  private void read(Consumer<LedgerLine> each, List<String> problems) {
    UnlistedRuns unlisted = UnlistedRuns.of(context.workspace());
    FinishedRuns runs = new FinishedRuns(context.workspace());
    runs.forEach(
        run -> {
          unlisted.seen(run);
          each.accept(run);
        });
    problems.addAll(runs.problems());
    unlisted.report(problems);
  }
}
