package dev.nexa.slurm.job.render;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Sweep;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes {@code runner/<task>/point.env}: the values of one point of a sweep, as shell text that
 * the job script reads. A value may name a storage tier, which becomes the job's variable.
 */
final class SweepPointFile {
  private static final String NAME = "point.env";

  private SweepPointFile() {}

  /**
   * Returns the file of one task.
   *
   * @param words the task's words for those that differ between the points; an empty one is left
   *     out
   */
  static RunnerFile of(int task, JsonObject point, List<Optional<String>> words) {
    StringBuilder text = new StringBuilder(256);
    line(text, "NEXA_POINT", String.format(Locale.ROOT, "%03d", task));
    for (Map.Entry<String, @Nullable Object> set : point.members().entrySet()) {
      Object value = set.getValue();
      String shown = value instanceof String string ? string : Json.compact(value);
      line(text, Sweep.variable(set.getKey()), shown);
    }
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).isPresent()) {
        line(text, ShellFormat.varying(i), words.get(i).get());
      }
    }
    return RunnerFile.text(task + "/" + NAME, text.toString());
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append("export %s=%s\n".formatted(name, ShellFormat.INSTANCE.quoted(value)));
  }
}
