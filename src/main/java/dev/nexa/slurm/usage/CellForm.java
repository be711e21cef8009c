package dev.nexa.slurm.usage;

import dev.nexa.slurm.units.SlurmSize;
import java.time.ZoneOffset;
import org.jspecify.annotations.Nullable;

/** Whether a cell can be what its column says: how a row with too many delimiters is mended. */
final class CellForm {
  private static final LocalTimes TIMES = new LocalTimes(ZoneOffset.UTC);

  private CellForm() {}

  static boolean fits(SacctField field, String cell) {
    return switch (field) {
      case JOBID, JOBIDRAW -> UsageId.parse(null, allocation(cell)) != null;
      case STATE -> cell.isEmpty() || States.isState(cell) || isCapitals(cell);
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
      case JOBNAME, REQGRES -> true;
    };
  }

  /** A state of a Slurm newer than we are. */
  private static boolean isCapitals(String cell) {
    for (int i = 0; i < cell.length(); i++) {
      char c = cell.charAt(i);
      if (c != '_' && (c < 'A' || c > 'Z')) {
        return false;
      }
    }
    return cell.length() > 3;
  }

  private static boolean isExitCode(String cell) {
    int colon = cell.indexOf(':');
    return colon > 0
        && SlurmSize.count(cell.substring(0, colon)).isPresent()
        && SlurmSize.count(cell.substring(colon + 1)).isPresent();
  }

  /** What stands before a step's name. */
  static String allocation(String jobId) {
    int point = point(jobId);
    return point < 0 ? jobId : jobId.substring(0, point);
  }

  /** The step's name; null for the job itself. */
  static @Nullable String step(String jobId) {
    int point = point(jobId);
    return point < 0 ? null : jobId.substring(point + 1);
  }

  /** A range that was cut short has points of its own: {@code 123_[1,2,...]}. */
  private static int point(String jobId) {
    return jobId.indexOf('.', jobId.indexOf(']') + 1);
  }
}
