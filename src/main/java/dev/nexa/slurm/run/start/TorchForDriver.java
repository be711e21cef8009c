package dev.nexa.slurm.run.start;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.records.diagnostics.Diagnosis;
import dev.nexa.slurm.records.diagnostics.NodeCheck;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Compares the CUDA of a run's torch with the drivers that {@code diag} found on the nodes. */
final class TorchForDriver {
  /** For each CUDA the oldest driver, by NVIDIA's CUDA Compatibility (minor versions). */
  private static final Map<String, Integer> OLDEST = Map.of("11", 450, "12", 525, "13", 580);

  private static final Pattern CUDA =
      Pattern.compile("^cuda(?:: [^=]*)? = '(([0-9]+)\\.[0-9.]+)'", Pattern.MULTILINE);
  private static final Pattern DRIVER = Pattern.compile("([0-9]{3})\\.[0-9.]*[0-9]");
  private static final int SHOWN = 8;
  private static final int LARGEST = 1 << 16;

  private TorchForDriver() {}

  /** Returns a note about nodes whose driver is too old; empty where one of both is not known. */
  static Optional<String> note(Workspace workspace, Path environment) {
    try {
      return compared(workspace, environment);
    } catch (RuntimeException unreadable) { // a note stops no submit
      return Optional.of(
          "note: the torch of %s was not compared with the nodes' drivers: %s"
              .formatted(environment, unreadable.getMessage()));
    }
  }

  private static Optional<String> compared(Workspace workspace, Path environment) {
    for (Path python : DurableFiles.list(environment.resolve("lib"), "python*")) {
      Path version = python.resolve("site-packages/torch/version.py");
      if (!Files.exists(version)) {
        continue;
      }
      // uv can make links to its cache.
      Path file = DurableFiles.attempt("read", version, () -> version.toRealPath());
      Matcher cuda = CUDA.matcher(DurableFiles.readRegular(file, LARGEST));
      if (cuda.find() && OLDEST.containsKey(cuda.group(2))) {
        int oldest = OLDEST.get(cuda.group(2));
        List<String> old = olderThan(oldest, workspace);
        return old.isEmpty()
            ? Optional.empty()
            : Optional.of(
                "note: the torch of %s is built for CUDA %s, which needs an NVIDIA driver of %d or newer; diag found %s"
                    .formatted(environment, cuda.group(1), oldest, Plural.some(old, SHOWN)));
      }
    }
    return Optional.empty();
  }

  /** Returns the drivers that are older, by node, as the newest check of each found them. */
  private static List<String> olderThan(int oldest, Workspace workspace) {
    Map<String, String> drivers = new TreeMap<>();
    for (Diagnosis diagnosis : Diagnosis.newestFirst(workspace)) {
      for (NodeCheck check : diagnosis.checks()) {
        Matcher driver = DRIVER.matcher(check.text());
        if (check.check().equals("driver") && driver.find()) {
          drivers.putIfAbsent(check.node(), driver.group());
        }
      }
    }
    drivers.values().removeIf(driver -> Integer.parseInt(driver.substring(0, 3)) >= oldest);
    return drivers.entrySet().stream()
        .map(node -> node.getValue() + " on " + node.getKey())
        .toList();
  }
}
