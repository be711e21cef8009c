package dev.nexa.slurm.usage;

import dev.nexa.slurm.scheduler.Tres;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** GPUs of an allocation; where they are not tracked they are unknown, which is not none. */
final class Gpus {
  private static final String NO_TYPE = "gpu";

  private Gpus() {}

  /**
   * By type, those without one under {@code gpu}; null where the list names some and we can't read
   * how many.
   */
  static @Nullable Map<String, Long> of(Tres tres, boolean tracked) {
    if (tres.gpus().isEmpty()) {
      return tracked ? null : Map.of();
    }
    Map<String, Long> gpus = tres.gpusBy(NO_TYPE, 0);
    gpus.values().removeIf(count -> count == 0);
    return Map.copyOf(gpus);
  }

  /** Whether AllocTRES names GPUs, be it none of them. */
  static boolean tracked(String tres) {
    return tres.startsWith("gres/gpu=")
        || tres.startsWith("gres/gpu:")
        || tres.contains(",gres/gpu=")
        || tres.contains(",gres/gpu:");
  }

  /** Whether ReqTRES names them. */
  static boolean asked(String tres) {
    return tracked(tres) && !Tres.parse(tres).gpus().equals(Optional.of(0L));
  }

  /** Whether ReqGRES names them: {@code gpu:4}, {@code gres:gpu:a100:2}, {@code PER_NODE:gpu:4}. */
  static boolean namedByGres(String gres) {
    for (String part : gres.split("[,:/=]", -1)) {
      if (part.equals(NO_TYPE)) {
        return true;
      }
    }
    return false;
  }

  static long sum(Map<String, Long> gpus) {
    long sum = 0;
    for (long count : gpus.values()) {
      sum += count;
    }
    return sum;
  }
}
