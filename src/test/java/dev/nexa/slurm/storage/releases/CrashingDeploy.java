package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.storage.releases.SwitchRelease.DeployStep;
import java.nio.file.Path;
import java.util.Optional;

/** A process that deploys or rolls back, and kills itself with SIGKILL at a step. */
final class CrashingDeploy {
  private CrashingDeploy() {}

  /** The folder; {@code deploy}, {@code test}, {@code fail} or {@code rollback}; release; step. */
  public static void main(String[] args) {
    DeploySite site = new DeploySite(Path.of(args[0]));
    try (SwitchRelease writer =
        site.writer(
            step -> {
              if (step == DeployStep.valueOf(args[3])) {
                kill();
              }
            })) {
      writer.settle();
      if (args[1].equals("rollback")) {
        writer.rollback(args[2], "digest", "by hand");
      } else {
        SwitchRelease.Smoke smoke =
            new SwitchRelease.Smoke(
                args[1].equals("deploy") ? "none" : "1 prompt",
                args[1].equals("fail") ? Optional.of("it said no") : Optional.empty());
        writer.deploy(args[2], "digest", "", smoke.words(), () -> smoke);
      }
    }
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
