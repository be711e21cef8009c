package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Use;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunId;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** What the run of an approval's use has cost in the end, from whatever workspace it is in. */
final class SettledUse {
  private SettledUse() {}

  /** The total of its cost file; empty while it is not over, and where there is none. */
  static Optional<BigDecimal> cost(Use use) {
    if (use.run().isEmpty()) {
      return Optional.empty();
    }
    Path run = Path.of(use.run().get());
    Path name = run.getFileName();
    if (name == null || RunId.parse(name.toString()).isEmpty() || !run.isAbsolute()) {
      return Optional.empty();
    }
    Path cost = run.resolveSibling("manifests").resolve("cost_" + name + ".json");
    // A run of which something is to run again has its old cost file until it is reconciled.
    boolean open = Files.exists(run.resolveSibling("open").resolve(name));
    if (open || !Files.isReadable(cost)) {
      return Optional.empty();
    }
    try {
      JsonObject json = Json.parseObject(DurableFiles.read(cost));
      String status = json.text("status");
      boolean over = status.equals("completed") || status.equals("failed");
      return over && json.text("currency").equals(use.reservation().currency())
          ? Optional.of(json.decimal("total"))
          : Optional.empty();
    } catch (IllegalArgumentException | UncheckedIOException unreadable) {
      return Optional.empty();
    }
  }
}
