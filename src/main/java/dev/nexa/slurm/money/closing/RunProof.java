package dev.nexa.slurm.money.closing;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.estimate.CostLine;
import dev.nexa.slurm.money.ledger.LedgerLine;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Finds the cost files behind amounts. */
record RunProof(Workspace workspace) {
  /** Returns the digests of the files behind a run's newest line, and what the cost file lacks. */
  Posting.Proof of(LedgerLine run) {
    Optional<Path> file = file(run.runId(), run.version());
    if (file.isEmpty()) {
      return new Posting.Proof(
          Optional.empty(), run.sha256(), List.of("its cost file is not there"));
    }
    byte[] bytes = DurableFiles.readBytes(file.get());
    return new Posting.Proof(
        Optional.of(Sha256.of(bytes)), run.sha256(), lacks(run, bytes), gpuHour(run, bytes));
  }

  private static Optional<BigDecimal> gpuHour(LedgerLine run, byte[] bytes) {
    try {
      return CostFile.parse(Statements.utf8(bytes), "the cost file").lines().stream()
          .filter(line -> line.what().equalsIgnoreCase("gpu:" + run.gpuType()))
          .map(CostLine::unitPrice)
          .findFirst();
    } catch (RuntimeException unreadable) {
      return Optional.empty(); // lacks() reports it.
    }
  }

  private static List<String> lacks(LedgerLine run, byte[] bytes) {
    List<String> lacks = new ArrayList<>();
    try {
      CostFile cost = CostFile.parse(Statements.utf8(bytes), "the cost file");
      BigDecimal ledger = run.cost();
      if (ledger == null || cost.total().amount().compareTo(ledger) != 0) {
        lacks.add("its cost file says " + cost.total() + ", the ledger says " + ledger);
      }
      if (cost.version() != run.version()) {
        lacks.add(
            "its cost file has version " + cost.version() + ", the ledger has " + run.version());
      }
      lacks.addAll(cost.limits());
    } catch (RuntimeException unreadable) {
      lacks.add("its cost file cannot be read: " + unreadable.getMessage());
    }
    return lacks;
  }

  /** Returns the file of a version of a run's cost; empty if it is not there. */
  Optional<Path> file(String run, long version) {
    return RunId.parse(run)
        .map(workspace::run)
        .flatMap(
            folder ->
                Stream.of(folder.cost(Math.toIntExact(version)), folder.cost())
                    .filter(Files::exists)
                    .findFirst());
  }
}
