package dev.nexa.slurm.storage.cleanup;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A process that cleans up or undoes, and kills itself with SIGKILL at a step. */
final class CrashingCleanup {
  private CrashingCleanup() {}

  /** The folder, {@code clean} or an id to undo, the step, and which passing of it. */
  public static void main(String[] args) {
    CleanupSite site = new CleanupSite(Path.of(args[0]));
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[3]));
    Consumer<Enum<?>> passing =
        step -> {
          if (step == CleanupStep.valueOf(args[2]) && left.decrementAndGet() == 0) {
            kill();
          }
        };
    CleanTiers clean = site.clean(passing);
    if (args[1].equals("clean")) {
      clean.run(site.plan(clean, Duration.ZERO));
    } else {
      clean.undo(args[1]);
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
