package dev.nexa.slurm.money.summary;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.money.ledger.Ledger;
import java.io.BufferedWriter;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Makes a workspace with a ledger of many runs, spread over a year; the same each time. {@code
 * dev/bench-costs} measures with it.
 */
public final class ManyRuns {
  private static final Instant BEGIN = Instant.parse("2025-01-01T00:00:00Z");
  private static final DateTimeFormatter ID =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);
  private static final List<String> STAGES = List.of("data", "generate", "train", "eval");
  private static final List<String> GPUS = List.of("h100", "a100", "rtx_5090");

  private ManyRuns() {}

  /** DIR N: that many runs below DIR/runs. */
  public static void main(String[] args) throws IOException {
    write(Path.of(args[0]), Integer.parseInt(args[1]));
  }

  public static void write(Path workspace, int count) throws IOException {
    Path runs = Files.createDirectories(workspace.resolve("runs"));
    SplittableRandom random = new SplittableRandom(1);
    long step = 365L * 86_400 / count;
    String month = "";
    BufferedWriter out = null;
    for (int i = 0; i < count; i++) {
      Instant ended = BEGIN.plusSeconds(i * step);
      String own = ended.toString().substring(0, 7);
      if (out == null || !own.equals(month)) {
        if (out != null) {
          out.close();
        }
        month = own;
        Path file = runs.resolve("ledger-" + month + ".jsonl");
        out = Files.newBufferedWriter(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
      }
      out.write(Ledger.sealed(line(random, ended)) + "\n");
    }
    if (out != null) {
      out.close();
    }
  }

  private static JsonObject line(SplittableRandom random, Instant ended) {
    String stage = STAGES.get(random.nextInt(STAGES.size()));
    boolean completed = random.nextInt(10) > 0;
    String model = "model-" + random.nextInt(40);
    long seconds = 60L + random.nextInt(40_000);
    long queued = random.nextInt(7200);
    long gpus = 1L << random.nextInt(6);
    Instant started = ended.minusSeconds(seconds);
    Instant created = started.minusSeconds(queued + 1);
    BigDecimal gpu = amount(gpus * seconds, "5.50");
    BigDecimal cpu = amount(8 * gpus * seconds, "0.04");
    BigDecimal memory = amount(64 * gpus * seconds, "0.005");
    BigDecimal cost = gpu.add(cpu).add(memory);
    return new JsonObject()
        .with("run_id", stage + "_" + ID.format(ended.minusSeconds(42_000)))
        .with("version", random.nextInt(100) == 0 ? 2 : 1)
        .with("stage", stage)
        .with("status", completed ? "completed" : "failed")
        .with("state", completed ? "completed" : "timeout")
        .with("model", model)
        .with("dataset", "science_assistant_v" + random.nextInt(9))
        .with("backend", "axolotl")
        .with(
            "tags",
            List.of(
                "backend:axolotl",
                stage,
                "project:p" + random.nextInt(20),
                "experiment:e" + random.nextInt(500)))
        .with("cluster", "default")
        .with("user", "user" + random.nextInt(30))
        .with("account", "lab" + random.nextInt(6))
        .with("partition", "gpu")
        .with("gpu_type", GPUS.get(random.nextInt(GPUS.size())))
        .with("currency", "USD")
        .with("cost", cost.toPlainString())
        .with("wasted", completed ? "0.00" : cost.toPlainString())
        .with("credit", "0.00")
        .with(
            "lines",
            new JsonObject()
                .with("cpu", cpu.toPlainString())
                .with("gpu", gpu.toPlainString())
                .with("memory", memory.toPlainString()))
        .with(
            "quantities",
            new JsonObject()
                .with("cpu", hours(8 * gpus * seconds))
                .with("gpu", hours(gpus * seconds))
                .with("memory", hours(64 * gpus * seconds)))
        .with("reservation", cost.multiply(BigDecimal.valueOf(3)).toPlainString())
        .with("expected", null)
        .with("gpu_seconds", gpus * seconds)
        .with("gpu_seconds_wasted", completed ? 0 : gpus * seconds)
        .with("cpu_seconds", 8 * gpus * seconds)
        .with("cpu_seconds_wasted", completed ? 0 : 8 * gpus * seconds)
        .with("tasks", 1)
        .with("tasks_failed", completed ? 0 : 1)
        .with("attempts", 1)
        .with("created", created)
        .with("started", started)
        .with("ended", ended)
        .with("queue_seconds", queued)
        .with("loss", stage.equals("train") ? new BigDecimal("1.2345") : null)
        .with("price_book", "default");
  }

  private static BigDecimal amount(long seconds, String anHour) {
    return BigDecimal.valueOf(seconds)
        .multiply(new BigDecimal(anHour))
        .divide(BigDecimal.valueOf(3600), 2, RoundingMode.HALF_EVEN);
  }

  private static String hours(long seconds) {
    return BigDecimal.valueOf(seconds)
        .divide(BigDecimal.valueOf(3600), 4, RoundingMode.HALF_EVEN)
        .toPlainString();
  }
}
