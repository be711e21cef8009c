package dev.nexa.slurm.app;

import dev.nexa.slurm.journal.Heartbeat;
import dev.nexa.slurm.journal.Workspace;
import dev.nexa.slurm.report.MetricsText;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** {@code reconcile --metrics}: the newest pass for Prometheus. */
public final class WriteMetrics {
  private final Nexa nexa;

  public WriteMetrics(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Replaces the file, so that nobody reads half of it; none where no run was ever made. */
  public void write(Path file) {
    Workspace workspace = nexa.workspace();
    Optional<Heartbeat> last = Heartbeat.read(workspace);
    if (last.isPresent()) {
      String root = nexa.root().toAbsolutePath().normalize().toString();
      int unfinished = workspace.openRuns().size();
      String text = MetricsText.of(root, last.get(), unfinished, Instant.now());
      workspace.files().replace(file, text);
    }
  }
}
