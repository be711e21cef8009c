package dev.nexa.slurm.cluster.scheduler.slurm;

import dev.nexa.slurm.base.units.SlurmSize;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.JobState;
import dev.nexa.slurm.cluster.scheduler.Tres;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Finds accounting rows that contradict themselves in a field that the cost depends on.
 *
 * <p>sacct prints most facts twice. ElapsedRaw is End - Start - Suspended
 * (as_mysql_jobacct_process.c, 20.11 to 26.05). AllocTRES repeats the CPUs of AllocCPUS and the
 * nodes of NNodes, and holds at least what ReqTRES requests. A job has both nodes and AllocTRES, or
 * neither. A row that has not ended has no cost yet, so only its state is checked.
 *
 * <p>{@link JobRows} takes back what is no contradiction in a row after RESIZING.
 *
 * <p>Not thread-safe: it caches the resources of the last row.
 */
final class RowFaults {
  private static final List<String> NO_NODES = List.of("", "None assigned", "None", "(null)");

  /** Resources of the last checked row, because thousands of rows repeat them. */
  private String allocated = "";

  private String requested = "";
  private String cpus = "";
  private int nodes;
  private List<String> ofResources = List.of();

  /**
   * Returns the faults of a row as sentences; empty for nearly all rows.
   *
   * @param elapsed ElapsedRaw as printed
   * @param suspended Suspended in seconds; empty if it is not known
   * @param allocCpus AllocCPUS as printed; empty if it was not queried
   */
  List<String> of(
      AccountingRecord row, String elapsed, Optional<Long> suspended, String allocCpus) {
    boolean held = !NO_NODES.contains(row.nodes());
    boolean allocates = !row.allocTres().isEmpty();
    if (!row.state().endsAttempt() || row.end().isEmpty()) {
      return notOver(row);
    }
    if (!held && !allocates) {
      return neverBegan(row, elapsed);
    }
    List<String> faults = new ArrayList<>(0);
    if (held != allocates) {
      faults.add(
          "NodeList says '" + row.nodes() + "', but AllocTRES says '" + row.allocTres() + "'");
    }
    if (row.start().isEmpty()) {
      faults.add("it held " + row.allocTres() + " until " + row.end().get() + " without a Start");
    } else {
      elapsed(row, row.start().get(), elapsed, suspended, faults);
      startsEarly(row).ifPresent(faults::add);
    }
    if (allocates) {
      faults.addAll(resources(row, allocCpus));
    }
    if (row.state() == JobState.REQUEUED) {
      // Its ReqTRES follows what the next attempt is given while that waits (seen with 22.05).
      for (String less : lessThanAsked(row.allocTres(), row.reqTres())) {
        if (less.startsWith("ReqTRES asked for mem=")) {
          faults.remove(less);
        }
      }
    }
    return faults;
  }

  private static List<String> notOver(AccountingRecord row) {
    if (row.state() == JobState.UNRECOGNIZED) {
      return List.of("State says '" + row.rawState() + "', which no Slurm prints");
    }
    if (row.state().endsAttempt()) {
      return List.of("State says " + row.rawState() + ", but End says nothing");
    }
    return row.end().isEmpty()
        ? List.of()
        : List.of("State says " + row.rawState() + ", but End says " + row.end().get());
  }

  /** For a job that never began, 22.05 prints the time of its cancellation as Start too. */
  private static List<String> neverBegan(AccountingRecord row, String elapsed) {
    boolean took = row.start().isPresent() && row.start().get().isBefore(row.end().orElseThrow());
    OptionalLong seconds = SlurmSize.count(elapsed);
    return took || (seconds.isPresent() && seconds.getAsLong() > 0)
        ? List.of(
            ("ElapsedRaw says '%s' and Start %s, End %s, but NodeList and AllocTRES say that"
                    + " it never began")
                .formatted(
                    elapsed,
                    row.start().map(Instant::toString).orElse("nothing"),
                    row.end().orElseThrow()))
        : List.of();
  }

  private static void elapsed(
      AccountingRecord row,
      Instant start,
      String elapsed,
      Optional<Long> suspended,
      List<String> faults) {
    long between = row.end().orElseThrow().getEpochSecond() - start.getEpochSecond();
    OptionalLong seconds = SlurmSize.count(elapsed);
    long expected = Math.max(0, between - suspended.orElse(0L));
    if (seconds.isEmpty() || seconds.getAsLong() != expected) {
      faults.add(
          "ElapsedRaw says '%s', but from Start %s to End %s are %s s%s"
              .formatted(
                  elapsed,
                  start,
                  row.end().orElseThrow(),
                  between,
                  suspended.orElse(0L) > 0 ? ", of them suspended " + suspended.get() : ""));
    } else if (between < 0) {
      faults.add("End " + row.end().orElseThrow() + " is before Start " + start);
    }
  }

  /** Returns the fault of a row that began before it was queued. */
  static Optional<String> startsEarly(AccountingRecord row) {
    return row.start().isPresent() && row.start().get().isBefore(row.submit())
        ? Optional.of("Start " + row.start().get() + " is before Submit " + row.submit())
        : Optional.empty();
  }

  private List<String> resources(AccountingRecord row, String allocCpus) {
    boolean same =
        row.allocTres().equals(allocated)
            && row.reqTres().equals(requested)
            && allocCpus.equals(cpus)
            && row.nodeCount() == nodes;
    if (!same) {
      allocated = row.allocTres();
      requested = row.reqTres();
      cpus = allocCpus;
      nodes = row.nodeCount();
      ofResources = resources(allocated, requested, allocCpus, nodes);
    }
    return ofResources;
  }

  private static List<String> resources(
      String allocated, String requested, String allocCpus, int nodeCount) {
    List<String> faults = new ArrayList<>();
    Tres tres = Tres.parse(allocated);
    OptionalLong cpus = SlurmSize.count(allocCpus);
    if (tres.knownCpus().isEmpty()) {
      faults.add("AllocTRES names no CPUs: '" + allocated + "'");
    } else if (!allocCpus.isEmpty() && !cpus.equals(tres.knownCpus())) {
      faults.add("AllocCPUS says '" + allocCpus + "', but AllocTRES says '" + allocated + "'");
    }
    OptionalLong nodes = Tres.nodes(allocated);
    if (nodes.isEmpty() || nodes.getAsLong() != nodeCount) {
      faults.add("NNodes says " + nodeCount + ", but AllocTRES says '" + allocated + "'");
    }
    if (tres.gpus().isPresent() && tres.gpus().get() < Tres.sum(tres.gpusByType())) {
      faults.add("AllocTRES names more GPUs by type than in all: '" + allocated + "'");
    }
    faults.addAll(lessThanAsked(allocated, requested));
    return faults;
  }

  /** Returns a fault for each resource whose allocation is smaller than its request. */
  static List<String> lessThanAsked(String allocated, String requested) {
    List<String> faults = new ArrayList<>(0);
    for (String item : requested.isEmpty() ? new String[0] : requested.split(",", -1)) {
      String name = item.substring(0, Math.max(0, item.indexOf('=')));
      String granted = SlurmSize.item(allocated, name);
      if (!granted.equals(SlurmSize.item(requested, name)) && isLess(granted, name, item)) {
        faults.add(
            "ReqTRES asked for %s, but AllocTRES says %s"
                .formatted(item, granted.isEmpty() ? "nothing of " + name : name + "=" + granted));
      }
    }
    return faults;
  }

  /**
   * Returns whether less was allocated than requested. Billing and energy are not compared, because
   * billing weights may change between request and start.
   */
  private static boolean isLess(String granted, String name, String item) {
    OptionalLong asked = SlurmSize.bytes(item.substring(name.length() + 1), 1);
    OptionalLong got = SlurmSize.bytes(granted, 1);
    if (name.equals("billing") || name.equals("energy") || asked.orElse(0) == 0) {
      return false;
    }
    return got.isEmpty() || got.getAsLong() < asked.orElse(0);
  }
}
