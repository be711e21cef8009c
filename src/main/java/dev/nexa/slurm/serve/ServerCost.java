package dev.nexa.slurm.serve;

import dev.nexa.slurm.estimate.Rates;
import dev.nexa.slurm.estimate.Usage;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.units.Money;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a server costs while it stands, by what one task is charged for and the rates that its run
 * was estimated with.
 */
public final class ServerCost {
  private final JsonObject billed;
  private final long nodes;
  private final Rates rates;

  private ServerCost(JsonObject plan, Rates rates) {
    this.billed = plan.object("billed");
    this.nodes = plan.object("allocation").number("nodes");
    this.rates = rates;
  }

  /** Of a run's folder; empty where it can't be read, because it is another user's or gone. */
  public static Optional<ServerCost> of(Path runDir) {
    Path plan = runDir.resolve("plan.json");
    Path estimate = runDir.resolve("estimate.json");
    if (!Files.isReadable(plan) || !Files.isReadable(estimate)) {
      return Optional.empty();
    }
    return Optional.of(
        new ServerCost(
            Json.parseObject(DurableFiles.read(plan)),
            Rates.fromJson(Json.parseObject(DurableFiles.read(estimate)).object("rates"))));
  }

  public Money perHour() {
    return during(Duration.ofHours(1));
  }

  /** What it costs to stand that long. */
  public Money during(Duration time) {
    long gpus = billed.number("gpus");
    Map<String, Long> byType =
        gpus == 0 ? Map.of() : Map.of(billed.optionalText("gpu_type").orElse("unknown"), gpus);
    Usage usage =
        rates.usage(
            byType,
            billed.number("cpus"),
            billed.number("memory_bytes"),
            nodes,
            Math.max(0, time.toSeconds()));
    return rates.total(rates.price(usage));
  }
}
