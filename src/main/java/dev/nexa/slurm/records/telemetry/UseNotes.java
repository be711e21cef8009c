package dev.nexa.slurm.records.telemetry;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.records.documents.ManifestFile;
import dev.nexa.slurm.records.runs.RunFolder;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Notes on how well a run used the resources that it held. Each note names a number that was
 * sampled, and ends with the key to change. Pure.
 *
 * <p>Only a run that completed, and that ran long enough, can have used its GPUs badly. A failed
 * run may never have begun its work. A short run mostly starts and writes its results.
 */
public final class UseNotes {
  /** From this idle share on, there is a note. */
  private static final BigDecimal IDLE = new BigDecimal("0.5");

  /** Fewer samples of an attempt, or a shorter run, give no evidence of idle GPUs. */
  private static final int FEWEST_SAMPLES = 6;

  private static final Duration SHORTEST = Duration.ofMinutes(2);

  /** The GPUs probably waited for the CPUs if P50 of the CPUs is this percentage or more. */
  private static final BigDecimal BUSY_CPUS = new BigDecimal(85);

  /** SM activity and GPU utilization, in percent, that do not fit together. */
  private static final BigDecimal FEW_SMS = new BigDecimal(25);

  private static final BigDecimal BUSY_GPUS = new BigDecimal(80);

  /** Peaks of memory as shares of the available memory. */
  private static final double SMALL = 0.5;

  private static final double NEARLY_ALL = 0.95;

  private UseNotes() {}

  /**
   * Returns the notes on a run that has ended; empty if its manifest has no samples. Never throws,
   * because the notes only add to another command's output.
   */
  public static List<String> of(RunFolder run) {
    return summary(run).map(use -> of(use, gpusPerNode(run), worked(run))).orElse(List.of());
  }

  /**
   * Returns the note on idle GPUs of a run that has ended; empty if they worked, or if it trained
   * with another adapter. Never throws.
   */
  public static Optional<String> idle(RunFolder run, String adapter) {
    boolean same =
        read(() -> run.shownPlan().json().object("training").optionalText("adapter"))
            .map(other -> other.orElse("none").equals(adapter))
            .orElse(false);
    return same && worked(run)
        ? summary(run).flatMap(use -> idle(use, gpusPerNode(run)))
        : Optional.empty();
  }

  private static boolean worked(RunFolder run) {
    return read(() -> worked(ManifestFile.read(run))).orElse(false);
  }

  private static boolean worked(ManifestFile run) {
    return run.state().equals("completed")
        && Duration.between(run.started().orElseThrow(), run.ended().orElseThrow())
                .compareTo(SHORTEST)
            >= 0;
  }

  private static Optional<TelemetrySummary> summary(RunFolder run) {
    return read(() ->
            ManifestFile.read(run).telemetry().map(it -> Codec.read(it, TelemetrySummary.class)))
        .flatMap(summary -> summary);
  }

  private static int gpusPerNode(RunFolder run) {
    return read(() -> (int) (run.shownPlan().gpus() / Math.max(1, run.shownPlan().nodes())))
        .orElse(0);
  }

  /** Returns the value that was read; empty if it cannot be read. */
  private static <T> Optional<T> read(Supplier<T> file) {
    try {
      return Optional.of(file.get());
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * Returns the notes, the most expensive note first; empty if there are none.
   *
   * @param gpusPerNode how many GPUs the run had on each node
   * @param worked whether the run completed and was long enough to be judged
   */
  static List<String> of(TelemetrySummary use, int gpusPerNode, boolean worked) {
    List<String> notes = new ArrayList<>();
    lost(use).ifPresent(notes::add);
    if (worked) {
      idle(use, gpusPerNode).ifPresent(notes::add);
      fewMultiprocessors(use).ifPresent(notes::add);
    }
    memory(use).ifPresent(notes::add);
    return notes;
  }

  private static Optional<String> lost(TelemetrySummary use) {
    return use.lost()
        .map(
            one ->
                ("node %s showed %s of %s GPUs while task %s ran. Report it to the"
                        + " administrators; another attempt avoids the node: try requeues=1")
                    .formatted(one.node(), one.seen(), one.expected(), one.task()));
  }

  /** Returns the note on idle GPUs; empty if they worked. */
  static Optional<String> idle(TelemetrySummary use, int gpusPerNode) {
    Optional<BigDecimal> share = use.sampled().idle().flatMap(TelemetrySummary.Idle::atWork);
    if (share.isEmpty()
        || share.get().compareTo(IDLE) < 0
        || use.sampled().samples() < FEWEST_SAMPLES * (long) use.sampled().files()) {
      return Optional.empty();
    }
    StringBuilder note = new StringBuilder("the GPUs were idle ");
    note.append(percent(share.get().movePointRight(2))).append(" of the time");
    if (use.sampled().idle().get().all().compareTo(share.get()) != 0) {
      note.append(" from their first to their last work");
    }
    TelemetrySummary.Figures cpus = use.measures().all().get(Measure.CPU_UTILIZATION);
    TelemetrySummary.Figures memory = use.measures().all().get(Measure.GPU_MEMORY);
    if (cpus != null && cpus.p50().compareTo(BUSY_CPUS) >= 0) {
      note.append(" and the CPUs busy to ").append(percent(cpus.p50()));
      return Optional.of(note.append(": try more resources.cpus_per_task").toString());
    }
    if (memory != null
        && use.gpuMemoryBytes().isPresent()
        && gpusPerNode > 0
        && memory.peak().doubleValue() * gpusPerNode < SMALL * use.gpuMemoryBytes().get()) {
      note.append(", and ").append(Memory.rounded(memory.peak().longValue()));
      note.append(" of the ").append(Memory.rounded(use.gpuMemoryBytes().get() / gpusPerNode));
      note.append(" of each were used: try a larger batch_size");
      return Optional.of(
          note.append(gpusPerNode > 1 ? ", or fewer resources.gpus_per_node" : "").toString());
    }
    return Optional.of(
        note.append(
                gpusPerNode > 1
                    ? ": try fewer resources.gpus_per_node"
                    : ": if the program waits for its data, try more resources.cpus_per_task")
            .toString());
  }

  private static Optional<String> fewMultiprocessors(TelemetrySummary use) {
    TelemetrySummary.Figures busy = use.measures().all().get(Measure.GPU_UTILIZATION);
    TelemetrySummary.Figures active = use.measures().all().get(Measure.SM_ACTIVITY);
    if (busy == null
        || active == null
        || busy.mean().compareTo(BUSY_GPUS) < 0
        || active.mean().compareTo(FEW_SMS) > 0) {
      return Optional.empty();
    }
    return Optional.of(
        ("a kernel ran %s of the time, but DCGM says that only %s of the"
                + " multiprocessors were busy: try a larger batch_size")
            .formatted(percent(busy.mean()), percent(active.mean())));
  }

  private static Optional<String> memory(TelemetrySummary use) {
    TelemetrySummary.Figures memory = use.measures().all().get(Measure.MEMORY);
    if (memory == null
        || use.memoryLimitBytes().isEmpty()
        || memory.peak().doubleValue() < NEARLY_ALL * use.memoryLimitBytes().get()) {
      return Optional.empty();
    }
    return Optional.of(
        "a node used %s of %s of memory, nearly all: try more resources.memory"
            .formatted(
                Memory.rounded(memory.peak().longValue()),
                Memory.rounded(use.memoryLimitBytes().get())));
  }

  private static String percent(BigDecimal percent) {
    return percent.setScale(0, RoundingMode.HALF_UP) + " %";
  }
}
