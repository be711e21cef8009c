package dev.nexa.slurm.run.decision;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.records.approvals.ApprovalUse;
import dev.nexa.slurm.records.documents.CostFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.RunState;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Reads the final cost of the run behind an approval's use. The run may be in another workspace.
 */
final class SettledApprovalUse {
  private SettledApprovalUse() {}

  /**
   * Returns the total of the run's cost file. Empty if the run is not finished, if there is no cost
   * file, or if the file differs from the digest in the run's journal.
   */
  static Optional<BigDecimal> cost(ApprovalUse use) {
    if (use.run().isEmpty()) {
      return Optional.empty();
    }
    Path run = Path.of(use.run().get());
    Path name = run.getFileName();
    if (name == null || RunId.parse(name.toString()).isEmpty() || !run.isAbsolute()) {
      return Optional.empty();
    }
    Path cost = run.resolveSibling("manifests").resolve("cost_" + name + ".json");
    // A run with a pending rerun keeps its old cost file until it is reconciled.
    if (Files.exists(run.resolveSibling("open").resolve(name)) || !Files.isReadable(cost)) {
      return Optional.empty();
    }
    try {
      RunState state = RunState.of(RunFolder.at(run).orElseThrow().journal().read());
      byte[] bytes = DurableFiles.readBytes(cost);
      if (!state.finished() || !state.costDigest().map(Sha256.of(bytes)::equals).orElse(true)) {
        // The reservation counts until the cost file is restored.
        return Optional.empty();
      }
      CostFile file = CostFile.parse(new String(bytes, StandardCharsets.UTF_8), cost.toString());
      return file.status().ended() && file.currency().equals(use.reservation().currency())
          ? Optional.of(file.total().amount())
          : Optional.empty();
    } catch (IllegalArgumentException | UncheckedIOException | NexaException unreadable) {
      return Optional.empty();
    }
  }
}
