package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.money.ledger.Ledger;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Adds finished runs to a workspace, spread over the year before a moment; the same each time. The
 * newest have manifests and cost files, so that they get pages.
 */
public final class ManyReportedRuns {
  private static final DateTimeFormatter ID =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);
  private static final List<String> STAGES = List.of("train", "train", "eval", "generate", "data");
  private static final List<String> PROJECTS =
      List.of(
          "assistant",
          "assistant",
          "assistant",
          "vision",
          "vision",
          "retrieval",
          "speech",
          "safety");
  private static final List<String> USERS =
      List.of("amira", "amira", "bence", "chiara", "dewei", "elif", "farid");
  private static final List<String> MODELS =
      List.of("Llama-3.1-8B", "Llama-3.1-8B", "Qwen2.5-7B", "Mistral-7B-v0.3", "SmolLM2-1.7B");
  private static final int WITH_FILES = 150;

  private ManyReportedRuns() {}

  /** DIR RUNS [TASKS]: so many runs below DIR/runs; the newest has so many tasks. */
  public static void main(String[] args) throws IOException {
    write(
        Path.of(args[0]),
        Integer.parseInt(args[1]),
        args.length > 2 ? Integer.parseInt(args[2]) : 8,
        Instant.now());
  }

  public static void write(Path workspace, int count, int tasks, Instant now) throws IOException {
    Path manifests = Files.createDirectories(workspace.resolve("runs/manifests"));
    SplittableRandom random = new SplittableRandom(7);
    Duration step = Duration.ofDays(360).dividedBy(count);
    TreeMap<String, StringBuilder> ledgers = new TreeMap<>();
    for (int i = count; i > 0; i--) {
      // More runs lately than a year ago.
      double age = Math.pow((double) i / count, 1.35);
      Instant ended = now.minusSeconds((long) (age * step.toSeconds() * count) + 60);
      One run = new One(random, ended, i, i == 1 ? tasks : 1 + random.nextInt(3));
      ledgers
          .computeIfAbsent(ended.toString().substring(0, 7), month -> new StringBuilder())
          .append(Ledger.sealed(run.ledger()))
          .append('\n');
      if (i <= WITH_FILES) {
        Files.writeString(manifests.resolve(run.id + ".json"), Json.pretty(run.manifest()));
        Files.writeString(manifests.resolve("cost_" + run.id + ".json"), Json.pretty(run.cost()));
      }
    }
    for (var ledger : ledgers.entrySet()) {
      Files.writeString(
          workspace.resolve("runs/ledger-" + ledger.getKey() + ".jsonl"),
          ledger.getValue(),
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    }
  }

  /** The values of one run. */
  private static final class One {
    private final SplittableRandom random;
    private final String id;
    private final String stage;
    private final String state;
    private final boolean completed;
    private final String project;
    private final String user;
    private final String model;
    private final String name;
    private final long gpus;
    private final long seconds;
    private final int tasks;
    private final Instant created;
    private final Instant started;
    private final Instant ended;
    private final BigDecimal gpuCost;
    private final BigDecimal cpuCost;

    One(SplittableRandom random, Instant ended, int number, int tasks) {
      this.random = random;
      this.ended = Instant.ofEpochSecond(ended.getEpochSecond());
      this.tasks = tasks;
      stage = STAGES.get(random.nextInt(STAGES.size()));
      int luck = random.nextInt(14);
      state = luck == 0 ? "timeout" : luck == 1 ? "failed" : luck == 2 ? "cancelled" : "completed";
      completed = state.equals("completed");
      project = PROJECTS.get(random.nextInt(PROJECTS.size()));
      user = USERS.get(random.nextInt(USERS.size()));
      model = MODELS.get(random.nextInt(MODELS.size()));
      name =
          model.toLowerCase(java.util.Locale.ROOT).split("-", 2)[0]
              + "-"
              + stage
              + "-"
              + number % 97;
      gpus = stage.equals("data") ? 0 : 1L << random.nextInt(4);
      seconds = 600L + random.nextInt(30_000);
      started = this.ended.minusSeconds(seconds);
      created = started.minusSeconds(20 + (long) (Math.pow(random.nextDouble(), 3) * 20_000));
      id = stage + "_" + ID.format(created) + "_" + (2 + number);
      gpuCost = amount(gpus * seconds * tasks, "2.40");
      cpuCost = amount(8 * Math.max(1, gpus) * seconds * tasks, "0.03");
    }

    private BigDecimal total() {
      return gpuCost.add(cpuCost);
    }

    private List<String> tags() {
      List<String> tags =
          new ArrayList<>(List.of(stage, "project:" + project, "experiment:" + name));
      if (random.nextInt(3) == 0) {
        tags.add("pipeline:distill-" + project);
      }
      return tags;
    }

    JsonObject ledger() {
      BigDecimal expected =
          total()
              .multiply(BigDecimal.valueOf(80 + random.nextInt(50)).movePointLeft(2))
              .setScale(2, RoundingMode.HALF_EVEN);
      return new JsonObject()
          .with("run_id", id)
          .with("version", 1)
          .with("stage", stage)
          .with("status", completed ? "completed" : state.equals("cancelled") ? state : "failed")
          .with("state", state)
          .with("model", model)
          .with("dataset", project + "_v" + (1 + random.nextInt(4)))
          .with("backend", "axolotl")
          .with("tags", tags())
          .with("cluster", "default")
          .with("user", user)
          .with("account", "lab")
          .with("partition", gpus == 0 ? "cpu" : gpus > 4 ? "h100-node" : "gpu")
          .with("gpu_type", gpus == 0 ? null : "h100")
          .with("currency", "USD")
          .with("cost", total().toPlainString())
          .with("wasted", completed ? "0.00" : total().toPlainString())
          .with("credit", "0.00")
          .with(
              "lines",
              new JsonObject()
                  .with("cpu", cpuCost.toPlainString())
                  .with("gpu", gpuCost.toPlainString()))
          .with(
              "reservation",
              total().multiply(new BigDecimal("1.6")).setScale(2, RoundingMode.UP).toPlainString())
          .with("expected", random.nextInt(4) == 0 ? null : expected.toPlainString())
          .with("gpu_seconds", gpus * seconds * tasks)
          .with("gpu_seconds_wasted", completed ? 0 : gpus * seconds * tasks)
          .with("cpu_seconds", 8 * seconds * tasks)
          .with("tasks", tasks)
          .with("tasks_failed", completed ? 0 : 1)
          .with("attempts", tasks)
          .with("created", created)
          .with("started", started)
          .with("ended", ended)
          .with("queue_seconds", Duration.between(created, started).toSeconds());
    }

    JsonObject manifest() {
      JsonObject states = new JsonObject();
      states.with("completed", completed ? tasks : tasks - 1);
      if (!completed) {
        states.with(state, 1);
      }
      return new JsonObject()
          .with("run_id", id)
          .with("stage", stage)
          .with("status", completed ? "completed" : state.equals("cancelled") ? state : "failed")
          .with("model", model)
          .with("dataset", project)
          .with("hardware", gpus == 0 ? "8 CPUs" : gpus + "x h100")
          .with("tags", List.of(stage, "project:" + project))
          .with("schema_version", 1)
          .with("state", state)
          .with("cost", total().toPlainString())
          .with("currency", "USD")
          .with("cluster", "default")
          .with("tasks", new JsonObject().with("total", tasks).with("states", states))
          .with("attempts", tasks)
          .with(
              "metrics", new JsonObject().with("loss", new BigDecimal("1.0" + random.nextInt(999))))
          .with("created", created)
          .with("started", started)
          .with("ended", ended);
    }

    JsonObject cost() {
      List<JsonObject> attempts = new ArrayList<>();
      BigDecimal each = total().divide(BigDecimal.valueOf(tasks), 6, RoundingMode.HALF_EVEN);
      for (int task = 0; task < tasks; task++) {
        long late = tasks == 1 ? 0 : random.nextLong(Math.max(1, seconds / 3));
        attempts.add(
            new JsonObject()
                .with("task", task)
                .with("job_id", 410_000 + task)
                .with("array_job_id", 410_000)
                .with("name", id)
                .with(
                    "state",
                    completed || task > 0 ? "COMPLETED" : state.toUpperCase(java.util.Locale.ROOT))
                .with("exit_code", completed || task > 0 ? "0:0" : "1:0")
                .with("submit", created)
                .with("start", started.plusSeconds(late))
                .with("elapsed_seconds", seconds - late)
                .with("nodes", "node" + (1 + random.nextInt(24)))
                .with("cpus", 8)
                .with("gpus", gpus == 0 ? new JsonObject() : new JsonObject().with("h100", gpus))
                .with("cost", each.toPlainString()));
      }
      String total = total().toPlainString();
      JsonObject line =
          new JsonObject()
              .with("what", "gpu:h100")
              .with(
                  "quantity",
                  BigDecimal.valueOf(gpus * seconds * tasks)
                      .divide(BigDecimal.valueOf(3600), 4, RoundingMode.HALF_EVEN)
                      .toPlainString())
              .with("unit", "gpu_hour")
              .with("unit_price", "2.40")
              .with("source", "internal price list 2026")
              .with("amount", gpuCost.toPlainString());
      return new JsonObject()
          .with("run_id", id)
          .with("breakdown", new JsonObject().with("compute_hours", total()))
          .with("total", total())
          .with("schema_version", 1)
          .with("version", 1)
          .with("currency", "USD")
          .with("status", completed ? "completed" : "failed")
          .with("estimate", new JsonObject().with("config_digest", "0").with("reservation", total))
          .with("wasted", completed ? "0.00" : total)
          .with("credit", new JsonObject().with("amount", "0.00").with("states", List.of()))
          .with("actual", new JsonObject().with("lines", List.of(line)).with("attempts", attempts));
    }

    private static BigDecimal amount(long seconds, String hourly) {
      return BigDecimal.valueOf(seconds)
          .multiply(new BigDecimal(hourly))
          .divide(BigDecimal.valueOf(3600), 2, RoundingMode.HALF_EVEN);
    }
  }
}
