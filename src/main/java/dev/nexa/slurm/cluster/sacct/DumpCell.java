package dev.nexa.slurm.cluster.sacct;

import dev.nexa.slurm.base.units.SlurmSize;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/**
 * Checks whether a cell is a possible value of its column. Rows with too many delimiters are
 * repaired by this check.
 */
final class DumpCell {
  private static final LocalTimes TIMES = new LocalTimes(ZoneOffset.UTC);

  private DumpCell() {}

  static boolean fits(SacctField field, String cell) {
    return switch (field) {
      case JOBID, JOBIDRAW -> UsageId.parse(null, allocation(cell)) != null;
      // A word in capitals may be a state of a newer Slurm.
      case STATE -> cell.isEmpty() || States.isState(cell) || cell.matches("[A-Z_]{4,}");
      case SUBMIT, START, END -> TIMES.read(cell) != LocalTimes.UNREADABLE;
      case ELAPSED, SUSPENDED, TOTALCPU ->
          LocalTimes.isNothing(cell) || Durations.millis(cell) >= 0;
      case ELAPSEDRAW, ALLOCCPUS, NCPUS, NTASKS ->
          cell.isEmpty() || SlurmSize.count(cell).isPresent();
      case EXITCODE -> cell.isEmpty() || isExitCode(cell);
      case ALLOCTRES, REQTRES, USAGETOTAL -> cell.isEmpty() || cell.indexOf('=') > 0;
      case MAXRSS, ENERGYRAW, ENERGY -> cell.isEmpty() || SlurmSize.bytes(cell, 1).isPresent();
      case NODELIST -> cell.equals("None assigned") || cell.indexOf(' ') < 0;
      case CLUSTER, USER, ACCOUNT -> cell.indexOf(' ') < 0;
      case JOBNAME, REQGRES, PARTITION, TIMELIMITRAW -> true;
    };
  }

  private static boolean isExitCode(String cell) {
    int colon = cell.indexOf(':');
    return colon > 0
        && SlurmSize.count(cell.substring(0, colon)).isPresent()
        && SlurmSize.count(cell.substring(colon + 1)).isPresent();
  }

  /** Returns the part of a JobID before the step's name. */
  static String allocation(String jobId) {
    int point = point(jobId);
    return point < 0 ? jobId : jobId.substring(0, point);
  }

  /** Returns the step's name; null if the row is the job itself. */
  static @Nullable String step(String jobId) {
    int point = point(jobId);
    return point < 0 ? null : jobId.substring(point + 1);
  }

  /**
   * Finds the point before a step's name. A range that Slurm cut short has points of its own:
   * {@code 123_[1,2,...]}.
   */
  private static int point(String jobId) {
    return jobId.indexOf('.', jobId.indexOf(']') + 1);
  }
}
