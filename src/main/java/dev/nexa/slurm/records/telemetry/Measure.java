package dev.nexa.slurm.records.telemetry;

import java.util.Locale;

/** A quantity that the sampler samples, of one GPU or of the job's share of a node. */
public enum Measure {
  /** The share of the time when any kernel ran, as nvidia-smi and rocm-smi report it. */
  GPU_UTILIZATION(Unit.PERCENT, true),
  /** The share of the multiprocessors that were busy, as DCGM reports it. */
  SM_ACTIVITY(Unit.PERCENT, true),
  GPU_MEMORY(Unit.BYTES, true),
  GPU_POWER(Unit.WATTS, true),
  GPU_TEMPERATURE(Unit.CELSIUS, true),
  /** The utilization of all CPUs that the job holds on the node. */
  CPU_UTILIZATION(Unit.PERCENT, false),
  MEMORY(Unit.BYTES, false),
  DISK_READ(Unit.BYTES_PER_SECOND, false),
  DISK_WRITTEN(Unit.BYTES_PER_SECOND, false),
  /** The bytes that the whole node receives. */
  NETWORK_RECEIVED(Unit.BYTES_PER_SECOND, false),
  /** The bytes that the whole node sends. */
  NETWORK_SENT(Unit.BYTES_PER_SECOND, false);

  /** The unit of a measure's values. */
  public enum Unit {
    PERCENT("%"),
    BYTES("B"),
    BYTES_PER_SECOND("B/s"),
    WATTS("W"),
    CELSIUS("C");

    private final String symbol;

    Unit(String symbol) {
      this.symbol = symbol;
    }

    /** Returns the symbol, for people. */
    public String symbol() {
      return symbol;
    }

    /** Returns whether values are counted in whole units; otherwise in steps of one percent. */
    boolean isWhole() {
      return this != BYTES && this != BYTES_PER_SECOND;
    }
  }

  private final Unit unit;
  private final boolean gpu;

  Measure(Unit unit, boolean gpu) {
    this.unit = unit;
    this.gpu = gpu;
  }

  /** Returns the name in documents, such as {@code gpu_utilization}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT);
  }

  public Unit unit() {
    return unit;
  }

  /** Returns whether each GPU has a value of its own. */
  public boolean isOfGpu() {
    return gpu;
  }
}
