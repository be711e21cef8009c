package dev.nexa.slurm.command.nodes;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.render.Renderer;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.diagnostics.NodeCheck;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks this machine, without a job: {@code diag --here}. */
final class ThisMachine {
  private static final Duration PATIENCE = Duration.ofMinutes(30);

  private ThisMachine() {}

  /** Runs the checks with the profile's tiers, and returns what they found. */
  static Diagnosis check(Context context, ClusterProfile profile, String level) {
    Map<String, String> environment = new HashMap<>(context.environment());
    Storage storage = profile.storage();
    environment.put("NEXA_SCRATCH", storage.scratch());
    environment.put("NEXA_DURABLE", storage.durable());
    environment.put("NEXA_SHARED", storage.shared());
    profile.health().ifPresent(health -> environment.putAll(health.variables()));
    try {
      Path folder = Files.createTempDirectory("nexa-diag");
      try {
        new DiagFiles(context.source()).writeTo(folder);
        List<String> argv =
            List.of("bash", folder.resolve("diag.sh").toString(), "node", level, "-");
        CommandResult result =
            new CommandRunner().run(new Command(argv, environment, folder, PATIENCE));
        return new Diagnosis("", NodeCheck.read(result.out()));
      } finally {
        for (String name : Renderer.DIAG_FILES) {
          Files.deleteIfExists(folder.resolve(name));
        }
        Files.deleteIfExists(folder);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot run the checks", failed);
    }
  }
}
