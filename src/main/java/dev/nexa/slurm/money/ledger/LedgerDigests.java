package dev.nexa.slurm.money.ledger;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Utf8Pool;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The SHA-256 of each line of the ledger, also of lines that a newer one has replaced.
 *
 * @param digests the digests of all lines of the chosen runs
 * @param problems a sentence for each damaged line
 */
public record LedgerDigests(Set<String> digests, List<String> problems) {
  /** Reads the whole ledger. */
  public static LedgerDigests of(Workspace workspace, Predicate<String> runs) {
    Set<String> digests = new HashSet<>();
    List<String> problems = new ArrayList<>();
    Utf8Pool words = new Utf8Pool(1);
    for (Path file : new Ledger(workspace).files(problems)) {
      String name = workspace.root().relativize(file).toString();
      new LedgerScan(DurableFiles.readBytes(file), name, Ledger.month(file), words, problems)
          .scan(
              line -> {
                if (runs.test(line.runId())) {
                  digests.add(line.sha256());
                }
              });
    }
    return new LedgerDigests(digests, problems);
  }
}
