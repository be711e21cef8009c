package dev.nexa.slurm.cluster.scheduler;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.cluster.scheduler.local.LocalScheduler;
import dev.nexa.slurm.cluster.scheduler.local.LocalSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Local schedulers whose supervisors run on the test's own classes. */
public final class LocalSchedulers {
  /** Far from every number that a script prints. */
  private static final long FIRST_ID = 7_000_000;

  private static final Duration PATIENCE = Duration.ofSeconds(60);

  private LocalSchedulers() {}

  public static LocalScheduler in(Path state, LocalSettings settings) throws IOException {
    Files.createDirectories(state);
    Files.createDirectories(state.resolve("jobs/" + FIRST_ID));
    return new LocalScheduler(state, java(), environment(), settings);
  }

  static List<String> java() {
    return OwnJvm.java(System.getProperty("java.class.path"));
  }

  /** What jobs inherit from a submitter who has more than they should see. */
  static Map<String, String> environment() {
    return ClientEnvironment.forJobs(submitters());
  }

  static Map<String, String> submitters() {
    Map<String, String> all = new HashMap<>(System.getenv());
    all.put("SECRET_MARKER", "not for jobs");
    all.put("SBATCH_TIMELIMIT", "999");
    all.put("SLURM_RESTART_COUNT", "7");
    return all;
  }

  /** Waits until no supervisor is left that could write into a folder about to be deleted. */
  public static void awaitEnd(Path folder) {
    Instant deadline = Instant.now().plus(PATIENCE);
    while (ProcessHandle.allProcesses().anyMatch(process -> supervises(process, folder))) {
      if (Instant.now().isAfter(deadline)) {
        throw new AssertionError("supervisors are still at work in " + folder);
      }
      try {
        Thread.sleep(20);
      } catch (InterruptedException interrupted) {
        throw new AssertionError(interrupted);
      }
    }
  }

  static boolean supervises(ProcessHandle process, Path folder) {
    String words = "local.JobRunner " + folder;
    return process
        .info()
        .arguments()
        .map(arguments -> String.join(" ", arguments).contains(words))
        .orElse(false);
  }
}
