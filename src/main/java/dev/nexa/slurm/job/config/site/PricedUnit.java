package dev.nexa.slurm.job.config.site;

import java.util.ArrayList;
import java.util.List;

/**
 * A unit that has one price in a price book; GPUs, their shards and tokens have one price for each
 * type. A new price is one more constant here, and the code that counts its units.
 */
public enum PricedUnit {
  CPU("cpu", "cpu_hour", "cpu_hour", Of.PART, "One CPU for one hour."),
  MEMORY("memory", "memory_gib_hour", "gib_hour", Of.PART, "One GiB of memory for one hour."),
  NODE(
      "node",
      "node_hour",
      "node_hour",
      Of.ALLOCATION,
      "One whole node for one hour. It is charged instead of the node's parts if a job gets whole nodes."),
  BILLING(
      "billing",
      "billing_hour",
      "billing_hour",
      Of.ALLOCATION,
      "One of Slurm's billing units (TRESBillingWeights) for one hour. It is charged instead of GPUs,"
          + " shards, CPUs and memory."),
  STORAGE("storage", "storage_gb_month", "gb_month", Of.RUN, "10^9 bytes kept for 730 hours."),
  EGRESS("egress", "egress_gb", "gb", Of.BOOK, "10^9 bytes sent out."),
  ENERGY(
      "energy",
      "energy_kwh",
      "kwh",
      Of.RUN,
      "One kWh that a run used, times the profile's `energy.pue`; for sites whose other prices leave out"
          + " electricity. No estimate has it."),
  ARCHIVE(
      "archive",
      "archive_gb_month",
      "gb_month",
      Of.BOOK,
      "10^9 bytes kept for 730 hours in an archive. `archive list` shows it; no run is charged.");

  /** The thing that a unit belongs to. */
  private enum Of {
    /** A part of an allocation. */
    PART,
    /** A whole allocation. Its price replaces the prices of the parts. */
    ALLOCATION,
    /** Something that a run has besides its allocations. */
    RUN,
    /** Something besides allocations, with one price for all runs: no override changes it. */
    BOOK
  }

  /**
   * The units that a run has beside its allocations. They are known when the run has ended. No
   * estimate reserves them.
   */
  public static final List<PricedUnit> BESIDE = List.of(STORAGE, EGRESS, ENERGY);

  /** The units that a run's rates have beside {@link #NODE} and {@link #BILLING}. */
  public static final List<PricedUnit> OF_RUNS = ofRuns();

  private final String what;
  private final String key;
  private final String unit;
  private final Of of;
  private final String doc;

  PricedUnit(String what, String key, String unit, Of of, String doc) {
    this.what = what;
    this.key = key;
    this.unit = unit;
    this.of = of;
    this.doc = doc;
  }

  private static List<PricedUnit> ofRuns() {
    List<PricedUnit> units = new ArrayList<>(List.of(CPU, MEMORY));
    units.addAll(BESIDE);
    return List.copyOf(units);
  }

  /** Returns the name in the lines of an estimate and a cost file. */
  public String what() {
    return what;
  }

  /** Returns the price's key in a price book and in the rates of a run. */
  public String key() {
    return key;
  }

  /** Returns the unit in the lines of an estimate and a cost file. */
  public String unit() {
    return unit;
  }

  /** Returns whether it is a part of an allocation, as GPUs are. */
  public boolean isPart() {
    return of == Of.PART;
  }

  /** Returns whether an entry of a price book may have a price of its own. */
  public boolean isOfEntries() {
    return of != Of.BOOK;
  }

  /** Returns what the key means, for the documentation. */
  String doc() {
    return doc;
  }
}
