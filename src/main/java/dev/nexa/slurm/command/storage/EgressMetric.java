package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * The metric {@code egress_bytes}, which a push adds to its task's metrics. The run is charged for
 * it.
 */
final class EgressMetric {
  private static final String KEY = "egress_bytes";

  private EgressMetric() {}

  /**
   * Adds bytes to what the task has sent out so far. Does nothing outside a job, or if there is
   * nothing to add. Other metrics stay.
   *
   * @param environment has {@code NEXA_METRICS} in a job
   * @param more further metrics, which replace metrics of the same name
   * @throws NexaException if the task's metrics are no JSON object; they stay as they are
   */
  static void add(Map<String, String> environment, long bytes, JsonObject more) {
    String name = environment.getOrDefault("NEXA_METRICS", "");
    if (name.isEmpty() || (bytes == 0 && more.isEmpty())) {
      return;
    }
    Path file = Path.of(name);
    try {
      JsonObject metrics =
          Files.exists(file) ? Json.parseObject(DurableFiles.read(file)) : new JsonObject();
      metrics.with(more);
      BigDecimal before = metrics.optionalDecimal(KEY).orElse(BigDecimal.ZERO);
      metrics.with(KEY, before.add(BigDecimal.valueOf(bytes)));
      DurableFiles.onDisk().replace(file, Json.compact(metrics) + "\n");
    } catch (IllegalArgumentException | IllegalStateException broken) {
      throw ErrorCode.RECORD_DAMAGED.error(
          file + " cannot be read, and lacks the " + bytes + " bytes that were sent",
          broken,
          Advice.step("the files are copied; write a JSON object into $NEXA_METRICS"));
    }
  }
}
