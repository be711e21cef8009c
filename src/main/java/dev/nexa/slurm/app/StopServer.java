package dev.nexa.slurm.app;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunState;
import dev.nexa.slurm.serve.ApiKey;
import dev.nexa.slurm.serve.Registration;
import java.nio.file.Files;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** {@code serve stop}: ends a server, waits until it is gone, and leaves nothing registered. */
public final class StopServer {
  private final Nexa nexa;

  public StopServer(Nexa nexa) {
    this.nexa = nexa;
  }

  /** The final manifest; of a server that had ended already, the one it has. */
  public JsonObject stop(RunFolder run, Consumer<String> progress) {
    if (!Files.exists(ApiKey.file(run))) {
      throw new NexaException(
          ExitCode.USAGE,
          run.id() + " is no server",
          "`nexa-slurm serve list` shows the servers; `nexa-slurm cancel "
              + run.id()
              + "` ends it");
    }
    if (!RunState.of(run.journal().read()).finished()) {
      new CancelRun(nexa).cancel(run, OptionalInt.empty());
    }
    JsonObject manifest =
        RunState.of(run.journal().read()).finished()
            ? Json.parseObject(DurableFiles.read(run.manifest()))
            : new AwaitRun(nexa).await(run, progress);
    // A job that was killed hard could not do it.
    Registration.remove(AwaitServer.sharedFolder(run), run.id());
    return manifest;
  }
}
