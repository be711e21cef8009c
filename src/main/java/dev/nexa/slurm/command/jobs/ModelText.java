package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.job.estimate.model.AnalyticEstimate;
import dev.nexa.slurm.job.estimate.model.MemoryFit;
import dev.nexa.slurm.job.estimate.model.MemoryParts;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** Formats the predictions from a run's model for a user: memory and GPU-hours. */
public final class ModelText {
  private static final double GIB = 1L << 30;
  private static final double SMALL = 100;

  private ModelText() {}

  /** Returns the text; empty if nothing is known. */
  public static String of(Optional<MemoryFit> memory, Optional<AnalyticEstimate> analytic) {
    StringBuilder text = new StringBuilder();
    if (analytic.isPresent()) {
      AnalyticEstimate hours = analytic.get();
      text.append("From FLOPs: ").append(hours(hours.lowGpuHours())).append(" to ");
      text.append(hours(hours.highGpuHours())).append(" GPU-hours, around ");
      text.append(hours(hours.middleGpuHours())).append(": ").append(hours.sentence());
      text.append(".\n");
    }
    if (memory.isPresent()) {
      text.append("Memory of a GPU: ").append(memory.get().sentence());
      text.append(" (").append(parts(memory.get().parts())).append(").\n");
    }
    List<String> assumptions =
        memory.isPresent()
            ? memory.get().assumptions()
            : analytic.isPresent() ? analytic.get().assumptions() : List.of();
    if (!assumptions.isEmpty()) {
      text.append("Assumed: ").append(String.join("; ", assumptions)).append(".\n");
    }
    return text.isEmpty() ? "" : "\n" + text;
  }

  private static String parts(MemoryParts parts) {
    StringBuilder text = new StringBuilder();
    part(text, "weights", parts.weights());
    part(text, "gradients", parts.gradients());
    part(text, "optimizer", parts.optimizer());
    part(text, "activations", parts.activations());
    part(text, "KV cache", parts.kvCache());
    part(text, "buffers and context", parts.buffers() + parts.overhead());
    return text.toString();
  }

  private static void part(StringBuilder text, String name, long bytes) {
    if (bytes > 0) {
      text.append(text.isEmpty() ? "" : ", ").append(name);
      text.append(String.format(Locale.ROOT, " %.1f", bytes / GIB));
    }
  }

  private static String hours(double hours) {
    return String.format(Locale.ROOT, hours < SMALL ? "%.1f" : "%,.0f", hours);
  }
}
