package dev.nexa.slurm.render;

import dev.nexa.slurm.config.Sweep;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * {@code runner/<task>/point.env}: what one point of a sweep sets, as shell that the job script
 * reads. A value may name a storage tier, which is the job's variable there.
 */
final class PointFile {
  private static final String NAME = "point.env";

  private PointFile() {}

  /**
   * The file of one task.
   *
   * @param words what stands for the words that differ between the points
   */
  static RunnerFile of(int task, JsonObject point, List<Optional<String>> words) {
    StringBuilder text = new StringBuilder(256);
    line(text, "NEXA_POINT", String.format(Locale.ROOT, "%03d", task));
    for (Map.Entry<String, @Nullable Object> set : point.members().entrySet()) {
      Object value = set.getValue();
      line(
          text,
          Sweep.variable(set.getKey()),
          value instanceof String string ? string : Json.compact(value));
    }
    for (int i = 0; i < words.size(); i++) {
      if (words.get(i).isPresent()) {
        line(text, ShellFormat.varying(i), words.get(i).get());
      }
    }
    return RunnerFile.text(task + "/" + NAME, text.toString());
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append("export ")
        .append(name)
        .append('=')
        .append(ShellFormat.INSTANCE.quoted(value))
        .append('\n');
  }
}
