package dev.nexa.slurm.records.approvals;

import dev.nexa.slurm.base.json.JsonDiff;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.TimeLimit;
import dev.nexa.slurm.job.config.shared.ResourceOption;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Compares the limits of a run with the approved limits, in words for people: {@code memory of each
 * task: 500 MiB was approved, this is 1 GiB (resources.memory)}.
 */
final class ApprovedLimits {
  /** How a limit is named, and the key of the config that sets it. */
  private record Word(String name, String key) {}

  private static final Map<String, Word> WORDS = words();

  private ApprovedLimits() {}

  private static Map<String, Word> words() {
    Map<String, Word> words = new HashMap<>();
    words.put("tasks", new Word("tasks", "array.shards or sweep"));
    words.put("attempts", new Word("attempts of each task", "requeues or chain"));
    words.put("requeues", new Word("requeues of each task", "requeues"));
    words.put("chain", new Word("jobs of the chain", "chain"));
    words.put("time_limit_seconds", new Word("time limit", "resources.time"));
    words.put("nodes", new Word("nodes of each task", "resources.nodes"));
    words.put("gpus", new Word("GPUs of each task", "resources.gpus_per_node"));
    words.put("gpu_type", new Word("GPU type", "resources.gpu_type"));
    words.put("cpus", new Word("CPUs of each task", "resources.cpus_per_task"));
    words.put("memory_bytes", new Word("memory of each task", "resources.memory"));
    words.put("grow", new Word("sizes of later attempts", "grow"));
    words.put("cluster", new Word("cluster profile", "cluster"));
    words.put("api_model", new Word("model of the API", "data.generate"));
    words.put("api_input_tokens", new Word("input tokens of the API", "data.generate"));
    words.put("api_output_tokens", new Word("output tokens of the API", "data.generate"));
    words.put("exclusive", new Word("whole nodes", "resources.exclusive"));
    for (ResourceOption option : ResourceOption.values()) {
      String name = option == ResourceOption.RESERVATION ? "Slurm reservation" : option.key();
      words.put(option.approvalKey(), new Word(name, "resources." + option.key()));
    }
    return words;
  }

  /** Returns a line for each limit that differs, by key. */
  static List<String> differences(JsonObject approved, JsonObject now) {
    List<JsonDiff.Change> changes = ApprovedValues.changes(approved, now);
    boolean attemptsFollow =
        changes.stream()
            .anyMatch(change -> change.path().equals("requeues") || change.path().equals("chain"));
    return changes.stream()
        .filter(change -> !change.path().equals("attempts") || !attemptsFollow)
        .map(ApprovedLimits::line)
        .toList();
  }

  private static String line(JsonDiff.Change change) {
    Optional<Word> word = Optional.ofNullable(WORDS.get(change.path()));
    String before = shown(change.path(), change.before());
    String after = shown(change.path(), change.after());
    if (before.equals(after)) {
      before = ApprovedValues.shown(change.before());
      after = ApprovedValues.shown(change.after());
    }
    String name = word.map(Word::name).orElse(change.path());
    String key = word.map(known -> " (" + known.key() + ")").orElse("");
    return name + ": " + before + " was approved, this is " + after + key;
  }

  private static String shown(String path, @Nullable Object value) {
    if (value instanceof Number number) {
      BigDecimal exact = new BigDecimal(number.toString());
      return switch (path) {
        case "memory_bytes" -> Memory.plain(exact.longValue());
        case "time_limit_seconds" -> TimeLimit.clock(Duration.ofSeconds(exact.longValue()));
        default -> exact.toPlainString();
      };
    }
    if (value instanceof Boolean flag) {
      return flag ? "yes" : "no";
    }
    return ApprovedValues.shown(value);
  }
}
