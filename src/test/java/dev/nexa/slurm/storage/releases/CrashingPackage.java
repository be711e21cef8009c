package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.Steps;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.storage.releases.PackageRelease.PackageStep;
import java.nio.file.Path;

/** A process that packages a release, and kills itself with SIGKILL at a step. */
final class CrashingPackage {
  private CrashingPackage() {}

  /** The durable tier, the model's folder, the step. */
  public static void main(String[] args) {
    new PackageRelease(
            args[0],
            Steps.told(
                step -> {
                  if (step == PackageStep.valueOf(args[2])) {
                    kill();
                  }
                }))
        .run(Models.draft("demo", Path.of(args[1])), Progress.NONE);
  }

  private static void kill() {
    try {
      new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start().waitFor();
      Thread.sleep(60_000);
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }
}
