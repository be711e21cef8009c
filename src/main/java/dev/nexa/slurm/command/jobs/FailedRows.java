package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.diagnosis.ExplainRun;
import dev.nexa.slurm.run.reconcile.RunRow;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Adds to the rows of {@code status} why a run failed. Loaded only if one has failed. */
final class FailedRows {
  /** Each run takes a call of sacct and reads logs. */
  private static final int MOST = 5;

  private final ExplainRun explain;
  private final Context context;

  FailedRows(Context context) {
    this.context = context;
    this.explain = new ExplainRun(context);
  }

  /** Returns the rows, oldest first; the newest failed ones that have no note get one. */
  List<RunRow> explained(List<RunRow> rows) {
    List<RunRow> explained = new ArrayList<>(rows);
    int asked = 0;
    for (int i = rows.size() - 1; i >= 0 && asked < MOST; i--) {
      RunRow row = rows.get(i);
      if (row.failed() > 0 && row.note().isEmpty()) {
        Optional<String> why = explain.headline(context.workspace().run(new RunId(row.runId())));
        explained.set(i, why.map(row::noted).orElse(row));
        asked++;
      }
    }
    return explained;
  }
}
