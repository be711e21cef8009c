package dev.nexa.slurm.run.serving;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunState;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.control.CancelRun;
import dev.nexa.slurm.run.server.ApiKey;
import dev.nexa.slurm.run.server.Registration;
import dev.nexa.slurm.run.status.AwaitRun;
import java.nio.file.Files;
import java.util.OptionalInt;
import java.util.function.Consumer;

/**
 * Implements {@code serve stop}: ends a server, waits for its end, and removes its registration.
 */
public record StopServer(Context context) {
  /**
   * Stops the server.
   *
   * @return the final manifest; of a server that had already ended, its existing manifest
   * @throws NexaException with {@link ExitCode#USAGE} if the run is not a server, or belongs to
   *     another user; with {@link ExitCode#DEFECT} if accounting does not settle it
   */
  public ManifestFile stop(RunFolder run, Consumer<String> progress) {
    run.requireOwn();
    if (!Files.exists(ApiKey.file(run))) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          run.id() + " is no server",
          Advice.command("shows the servers", "nexa-slurm", "serve", "list"),
          Advice.command("ends it", "nexa-slurm", "cancel", run.id()));
    }
    if (!RunState.of(run.journal().read()).finished()) {
      new CancelRun(context).cancel(run, OptionalInt.empty());
    }
    try {
      return RunState.of(run.journal().read()).finished()
          ? ManifestFile.read(run)
          : new AwaitRun(context).await(run, progress);
    } finally {
      // A job that was killed with SIGKILL could not remove it.
      Registration.remove(AwaitServer.sharedFolder(run), run);
    }
  }
}
