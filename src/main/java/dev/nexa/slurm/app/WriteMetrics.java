package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.journal.Heartbeat;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.report.MetricsText;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** {@code reconcile --metrics}: the newest pass for Prometheus. */
public final class WriteMetrics {
  private final Nexa nexa;

  public WriteMetrics(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * Replaces the file, so that nobody reads half of it; none where no run was ever made.
   *
   * @throws NexaException if its folder is missing
   */
  public void write(Path file) {
    Workspace workspace = nexa.workspace();
    Optional<Heartbeat> last = Heartbeat.read(workspace);
    if (last.isPresent()) {
      Path folder = file.toAbsolutePath().normalize().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw new NexaException(
            ExitCode.USAGE,
            "--metrics: there is no folder " + folder + " for " + file.getFileName(),
            "mkdir -p " + folder,
            "or name a file in the folder that node_exporter reads, its"
                + " --collector.textfile.directory");
      }
      String root = nexa.root().toAbsolutePath().normalize().toString();
      int unfinished = workspace.openRuns().size();
      String text = MetricsText.of(root, last.get(), unfinished, Instant.now());
      workspace.files().replace(file, text);
    }
  }
}
