package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.cluster.scheduler.Tres;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the GPUs of an allocation. If the site does not track GPUs, their number is unknown, not 0.
 */
final class Gpus {
  private static final String NO_TYPE = "gpu";

  private Gpus() {}

  /**
   * Returns GPUs by type, with GPUs without a type under {@code gpu}.
   *
   * @param tracked whether the list names GPUs
   * @return null if the list names GPUs, but their number cannot be read
   */
  static @Nullable Map<String, Long> of(Tres tres, boolean tracked) {
    if (tres.gpus().isEmpty()) {
      return tracked ? null : Map.of();
    }
    Map<String, Long> gpus = tres.gpusBy(NO_TYPE, 0);
    gpus.values().removeIf(count -> count == 0);
    return Map.copyOf(gpus);
  }

  /** Returns whether a TRES list names GPUs, even if their number is 0. */
  static boolean tracked(String tres) {
    return tres.startsWith("gres/gpu=")
        || tres.startsWith("gres/gpu:")
        || tres.contains(",gres/gpu=")
        || tres.contains(",gres/gpu:");
  }

  /** Returns whether ReqTRES requests GPUs, at least one or an unknown number. */
  static boolean asked(String tres) {
    return tracked(tres) && !Tres.parse(tres).gpus().equals(Optional.of(0L));
  }

  /**
   * Returns whether ReqGRES names GPUs: {@code gpu:4}, {@code gres:gpu:a100:2}, {@code
   * PER_NODE:gpu:4}.
   */
  static boolean namedByGres(String gres) {
    for (String part : gres.split("[,:/=]", -1)) {
      if (part.equals(NO_TYPE)) {
        return true;
      }
    }
    return false;
  }
}
