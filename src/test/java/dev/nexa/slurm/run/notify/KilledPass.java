package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.run.Context;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A pass in a process of its own, which is killed at a step. */
final class KilledPass {
  private KilledPass() {}

  /** Takes the workspace, the step, and which time it is passed. */
  public static void main(String[] args) throws Exception {
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[2]));
    Context context = new Context(Path.of(args[0]), Map.of("PATH", "/usr/bin:/bin"));
    SendStep step = SendStep.valueOf(args[1]);
    new SendNotices(
            context,
            Duration.ofSeconds(20),
            passed -> {
              if (passed == step && left.decrementAndGet() == 0) {
                kill();
              }
            })
        .pass(new ArrayList<>());
  }

  private static void kill() {
    try {
      new ProcessBuilder("/bin/sh", "-c", "kill -KILL " + ProcessHandle.current().pid())
          .start()
          .waitFor();
      Thread.sleep(60_000);
    } catch (java.io.IOException | InterruptedException failed) {
      throw new IllegalStateException(failed);
    }
  }
}
