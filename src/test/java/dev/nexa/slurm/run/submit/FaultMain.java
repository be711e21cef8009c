package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.cluster.scheduler.slurm.ClientTimeouts;
import dev.nexa.slurm.run.Context;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A process of ours that does one step of a fault trial: {@code WORKSPACE STEP RUN WRITE}. It kills
 * itself with SIGKILL at that write; never where that is 0. The step CLOCK prints the time.
 */
final class FaultMain {
  private FaultMain() {}

  public static void main(String[] args) throws IOException {
    if (args[1].equals("CLOCK")) {
      System.out.println(Instant.now().getEpochSecond());
      return;
    }
    AtomicInteger left = new AtomicInteger(Integer.parseInt(args[3]));
    Sync disk =
        new Sync() {
          @Override
          public void force(Path path) throws IOException {
            count(left);
            Sync.DISK.force(path);
          }

          @Override
          public void force(FileChannel open, Path file) throws IOException {
            count(left);
            open.force(true);
          }
        };
    Context context =
        new Context(
            Path.of(args[0]), System.getenv(), CrashPoint.NONE, disk, ClientTimeouts.DEFAULT);
    FaultTrial.Step.valueOf(args[1]).perform(context, Integer.parseInt(args[2]));
  }

  private static void count(AtomicInteger left) throws IOException {
    if (left.decrementAndGet() == 0) {
      new ProcessBuilder("kill", "-9", "" + ProcessHandle.current().pid()).start();
      while (true) {
        Thread.onSpinWait();
      }
    }
  }
}
