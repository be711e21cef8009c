package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;

/**
 * Finds the newest gate of a release's model if it failed, and release.json says that one passed.
 */
public final class LaterVerdict {
  private LaterVerdict() {}

  /**
   * Returns why the release's verdict is no longer the newest one; empty if it is, if it failed
   * itself, or if the workspace does not have the run of the gate.
   */
  public static Optional<DeployCheck.Refusal> of(Workspace workspace, ReleaseFile release) {
    Optional<RunId> run = RunId.parse(release.origin().run());
    Optional<RunId> gate =
        release
            .gate()
            .filter(ReleaseFile.Gate::passed)
            .flatMap(it -> RunId.parse(it.run()))
            .filter(id -> Files.exists(workspace.run(id).plan()));
    if (run.isEmpty() || gate.isEmpty()) {
      return Optional.empty();
    }
    try {
      return new FindJudgement(workspace, run.get())
          .gate()
          .filter(newest -> !newest.passed())
          .map(newest -> refusal(newest.run(), gate.get()));
    } catch (NexaException unknown) {
      return Optional.of(
          new DeployCheck.Refusal(String.valueOf(unknown.getMessage()), unknown.advice()));
    }
  }

  private static DeployCheck.Refusal refusal(RunId failed, RunId packaged) {
    return new DeployCheck.Refusal(
        failed.equals(packaged)
            ? "release.json says that the gate "
                + packaged
                + " passed, and its run says that it failed"
            : "after its gate " + packaged + ", the gate " + failed + " of the same model failed",
        List.of(
            Advice.command("shows what the gate measured", "nexa-slurm", "why", failed),
            Advice.step("if the model is good, run the right gate once more: the newest counts")));
  }
}
