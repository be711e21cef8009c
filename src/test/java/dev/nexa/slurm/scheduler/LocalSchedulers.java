package dev.nexa.slurm.scheduler;

import dev.nexa.slurm.scheduler.local.LocalScheduler;
import dev.nexa.slurm.scheduler.local.LocalSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** Local schedulers whose supervisors run on the test's own classes. */
final class LocalSchedulers {
  /** Far from every number that a script prints. */
  private static final long FIRST_ID = 7_000_000;

  private LocalSchedulers() {}

  static LocalScheduler in(Path state, LocalSettings settings) throws IOException {
    Files.createDirectories(state);
    Files.writeString(state.resolve("last_id"), Long.toString(FIRST_ID));
    return new LocalScheduler(state, java(), environment(), settings);
  }

  static List<String> java() {
    String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
    return List.of(java, "-cp", System.getProperty("java.class.path"));
  }

  static Map<String, String> environment() {
    return ClientEnvironment.forJobs(System.getenv());
  }
}
