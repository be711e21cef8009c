package dev.nexa.slurm.command.records;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.Heartbeat;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.run.Context;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/** Implements {@code reconcile --metrics}: writes the newest pass for Prometheus. */
public final class WriteMetrics {
  private final Context context;

  public WriteMetrics(Context context) {
    this.context = context;
  }

  /**
   * Replaces the file atomically. Writes nothing if there was no pass.
   *
   * @throws NexaException if the file's folder is missing
   */
  public void write(Path file) {
    Workspace workspace = context.workspace();
    Optional<Heartbeat> last = Heartbeat.read(workspace);
    if (last.isPresent()) {
      Path folder = file.toAbsolutePath().normalize().getParent();
      if (folder == null || !Files.isDirectory(folder)) {
        throw new NexaException(
            ErrorCode.FILE_NOT_FOUND,
            "--metrics: there is no folder " + folder + " for " + file.getFileName(),
            Advice.command("", "mkdir", "-p", String.valueOf(folder)),
            Advice.step(
                "or name a file in the folder that node_exporter reads, its"
                    + " --collector.textfile.directory"));
      }
      String root = context.root().toAbsolutePath().normalize().toString();
      int unfinished = workspace.openRuns().size();
      Instant now = Instant.now();
      String text =
          MetricsText.of(root, last.get(), unfinished, now)
              + MetricsText.of(root, Figures.of(context, now));
      workspace.files().replace(file, text);
    }
  }
}
