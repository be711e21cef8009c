package dev.nexa.slurm.costs;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.journal.Ledger;
import dev.nexa.slurm.journal.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Every run that has ended, once: by its newest line in the ledger, which is the last one of the
 * newest month. So the cost of a run that ran again in a later month counts there, all of it.
 */
public final class FinishedRuns {
  private final Workspace workspace;
  private final List<String> problems = new ArrayList<>();

  public FinishedRuns(Workspace workspace) {
    this.workspace = workspace;
  }

  /** Tells each run, newest first; none is kept, so that 100,000 need no more memory than one. */
  public void forEach(Consumer<FinishedRun> told) {
    Set<String> seen = new HashSet<>();
    List<Path> files = new Ledger(workspace).files();
    Words words = new Words();
    for (int i = files.size() - 1; i >= 0; i--) {
      Path file = files.get(i);
      String name = workspace.root().relativize(file).toString();
      byte[] bytes = DurableFiles.readBytes(file);
      new LedgerScan(bytes, name, Ledger.month(file), words, problems)
          .scan(
              run -> {
                if (seen.add(run.runId())) {
                  told.accept(run);
                }
              });
    }
  }

  /** Lines that were not counted, and why. */
  public List<String> problems() {
    return problems;
  }
}
