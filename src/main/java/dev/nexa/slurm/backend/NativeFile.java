package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.YamlText;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A runner's own config file. No shell reads it, so the storage tiers are written out; what only
 * the job knows, such as its run id, goes on the command line.
 */
final class NativeFile {
  private NativeFile() {}

  /** Ours with the user's own options over it, at any depth. */
  static RunnerFile yaml(String name, JsonObject ours, JsonObject options, Plan plan) {
    return RunnerFile.text(name, YamlText.of(allWrittenOut(merged(ours, options), plan)));
  }

  private static JsonObject merged(JsonObject ours, JsonObject theirs) {
    JsonObject merged = new JsonObject();
    ours.members().forEach(merged::with);
    for (Map.Entry<String, @Nullable Object> option : theirs.members().entrySet()) {
      boolean both =
          ours.members().get(option.getKey()) instanceof JsonObject
              && option.getValue() instanceof JsonObject;
      merged.with(
          option.getKey(),
          both
              ? merged(ours.object(option.getKey()), theirs.object(option.getKey()))
              : option.getValue());
    }
    return merged;
  }

  private static JsonObject allWrittenOut(JsonObject object, Plan plan) {
    JsonObject written = new JsonObject();
    for (Map.Entry<String, @Nullable Object> member : object.members().entrySet()) {
      written.with(member.getKey(), writtenOut(member.getValue(), plan));
    }
    return written;
  }

  private static @Nullable Object writtenOut(@Nullable Object value, Plan plan) {
    if (value instanceof String text) {
      return plan.atTiers(text);
    }
    if (value instanceof JsonObject object) {
      return allWrittenOut(object, plan);
    }
    if (!(value instanceof List<?> list)) {
      return value;
    }
    List<@Nullable Object> written = new ArrayList<>();
    for (Object element : list) {
      written.add(writtenOut(element, plan));
    }
    return written;
  }
}
