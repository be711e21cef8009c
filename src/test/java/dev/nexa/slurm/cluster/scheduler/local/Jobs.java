package dev.nexa.slurm.cluster.scheduler.local;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Jobs for tests that need no files: number 12, submitted at 1000, on a host of 8 processors. */
final class Jobs {
  private Jobs() {}

  static Job of(String directives) {
    return of(directives, Optional.empty());
  }

  static Job of(String directives, String array) {
    return of(directives, Optional.of(array));
  }

  private static Job of(String directives, Optional<String> array) {
    LocalSubmission submission =
        new LocalSubmission(
            "key",
            List.of(),
            "/logs/100%%/%A_%a.out",
            Path.of("/work"),
            array,
            "",
            Map.of("PATH", "/usr/bin:/bin"),
            "box",
            "0022",
            8,
            1000,
            LocalSettings.DEFAULT);
    return Job.of(12, submission, "#!/bin/bash\n" + directives + "\ntrue\n");
  }
}
