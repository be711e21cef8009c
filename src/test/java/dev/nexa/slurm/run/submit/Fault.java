package dev.nexa.slurm.run.submit;

import dev.nexa.slurm.run.submit.FaultTrial.Step;
import java.util.EnumSet;
import java.util.Random;
import java.util.Set;

/** What can go wrong while a command runs. Each is done to one step of a {@link FaultTrial}. */
enum Fault {
  DIES_AT_CRASH_POINT("dies at a crash point", Step.SUBMIT, Step.PASS),
  DIES_BEFORE_WRITE("dies before the n-th write", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DIES_AFTER_WRITE("dies after the n-th write", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DIES_IN_APPEND("dies in the middle of an append", Step.SUBMIT, Step.PASS, Step.CANCEL),
  SIGKILL_AT_WRITE("a process, SIGKILL at the n-th write", Step.SUBMIT, Step.PASS),
  SIGKILL_ANY_TIME("a process, SIGKILL at any moment", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DISK_FULL("ENOSPC, a tmpfs that is full", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DISK_FAILS_ONCE("EIO at the n-th fsync", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DISK_FAILS("EIO at each fsync from the n-th", Step.SUBMIT, Step.PASS, Step.CANCEL),
  DISK_SLOW("each fsync takes 15 ms", Step.SUBMIT, Step.PASS, Step.CANCEL),
  READ_ONLY("a tmpfs that is read-only", Step.SUBMIT, Step.PASS, Step.CANCEL, Step.AUDIT),
  SACCT_HANGS("sacct hangs", Step.PASS, Step.AUDIT),
  SACCT_KILLED("sacct is killed", Step.PASS, Step.AUDIT),
  SACCT_HALF("sacct ends with 0, cut at a byte", Step.PASS, Step.AUDIT),
  SACCT_HALF_A_ROW("sacct ends with 0, cut at a row", Step.PASS, Step.AUDIT),
  SACCT_ERRORS("sacct prints errors between rows", Step.PASS, Step.AUDIT),
  SACCT_OUT_OF_ORDER("sacct's rows out of order", Step.PASS, Step.AUDIT),
  SACCT_TWICE("sacct's rows twice", Step.PASS, Step.AUDIT),
  SACCT_FUTURE("sacct's rows from the future", Step.PASS, Step.AUDIT),
  SACCT_ROWS_MISSING("sacct lacks rows for a while", Step.PASS, Step.AUDIT),
  SACCT_FAILS("sacct ends with 1", Step.PASS, Step.AUDIT),
  SQUEUE_FAILS("squeue ends with 1", Step.PASS, Step.AUDIT),
  SQUEUE_HANGS("squeue hangs", Step.PASS, Step.AUDIT),
  SQUEUE_EMPTY("squeue is empty, jobs run", Step.PASS, Step.AUDIT),
  SBATCH_JOB_UNKNOWN("sbatch times out, a job is made", Step.SUBMIT, Step.PASS),
  SBATCH_NO_JOB("sbatch times out, no job is made", Step.SUBMIT, Step.PASS),
  SBATCH_HANGS("sbatch makes a job and hangs", Step.SUBMIT, Step.PASS),
  SBATCH_WRONG_ID("sbatch prints another number", Step.SUBMIT, Step.PASS),
  SBATCH_TWO_IDS("sbatch prints a number after the id", Step.SUBMIT, Step.PASS),
  SBATCH_TWO_JOBS("sbatch makes two jobs, prints one", Step.SUBMIT, Step.PASS),
  SBATCH_REFUSES_A_JOB("sbatch refuses, a job is made", Step.SUBMIT, Step.PASS),
  SBATCH_REFUSES_IN_DOUBT("sbatch times out and refuses, a job is made", Step.SUBMIT, Step.PASS),
  SCANCEL_FAILS("scancel ends with 1", Step.CANCEL, Step.PASS),
  CLOCK_AHEAD("the clock an hour ahead", Step.SUBMIT, Step.PASS, Step.CANCEL, Step.AUDIT),
  CLOCK_BEHIND("the clock an hour behind", Step.SUBMIT, Step.PASS, Step.CANCEL, Step.AUDIT),
  ALL_AT_ONCE("3 submitters, 2 reconcilers, one dies", Step.SUBMIT, Step.PASS);

  private static final String TIMED_OUT =
      "echo 'sbatch: error: Batch job submission failed: Socket timed out on send/recv operation'"
          + " >&2; exit 1";

  private static final String REFUSED =
      "echo 'sbatch: error: Batch job submission failed: Invalid qos specification' >&2; exit 1";

  private final String told;

  @SuppressWarnings("ImmutableEnumChecker")
  private final Set<Step> steps;

  Fault(String told, Step first, Step... others) {
    this.told = told;
    this.steps = EnumSet.of(first, others);
  }

  String told() {
    return told;
  }

  /** Whether it can happen in such a step. */
  boolean fits(Step step) {
    return steps.contains(step);
  }

  /** Whether it needs a whole process of ours: half a second, not some milliseconds. */
  boolean needsProcess() {
    return this == SIGKILL_AT_WRITE
        || this == SIGKILL_ANY_TIME
        || this == CLOCK_AHEAD
        || this == CLOCK_BEHIND;
  }

  /** Whether it needs a file system of its own, which only root may mount. */
  boolean needsTmpfs() {
    return this == DISK_FULL || this == READ_ONLY;
  }

  /**
   * Does the step with this fault.
   *
   * @param at which write or crash point; 0 for any
   * @return whether it came to pass
   */
  boolean strike(FaultTrial trial, Step step, int run, int at, Random random) {
    int write = at > 0 ? at : 1 + random.nextInt(step == Step.CANCEL ? 2 : 16);
    long bytes = trial.cluster().rowBytes();
    return switch (this) {
      case DIES_AT_CRASH_POINT ->
          trial.diesAt(step, run, at > 0 ? at - 1 : random.nextInt(CrashPoint.values().length));
      case DIES_BEFORE_WRITE -> trial.onDisk(step, run, FaultyDisk.How.DIES_BEFORE, write);
      case DIES_AFTER_WRITE -> trial.onDisk(step, run, FaultyDisk.How.DIES_AFTER, write);
      case DIES_IN_APPEND -> trial.onDisk(step, run, FaultyDisk.How.TORN, write);
      case DISK_FAILS_ONCE -> trial.onDisk(step, run, FaultyDisk.How.FAILS, write);
      case DISK_FAILS -> trial.onDisk(step, run, FaultyDisk.How.FAILS_ON, write);
      case DISK_SLOW -> trial.onDisk(step, run, FaultyDisk.How.SLOW, 1);
      case SIGKILL_AT_WRITE -> trial.killedAt(step, run, write);
      case SIGKILL_ANY_TIME -> trial.killedAfter(step, run, 250 + random.nextInt(900));
      case CLOCK_AHEAD -> trial.withClock(step, run, 3600);
      case CLOCK_BEHIND -> trial.withClock(step, run, -3600);
      case DISK_FULL -> trial.onFullDisk(step, run, random.nextInt(9));
      case READ_ONLY -> trial.readOnly(step, run);
      case ALL_AT_ONCE -> trial.allAtOnce(write);
      case SACCT_HANGS -> trial.with("sacct", "exec sleep 600", step, run);
      case SACCT_KILLED ->
          trial.with("sacct", "rows | head -c " + part(bytes, random) + "; kill -9 $$", step, run);
      case SACCT_HALF -> trial.with("sacct", "rows | head -c " + part(bytes, random), step, run);
      case SACCT_HALF_A_ROW ->
          trial.with("sacct", "rows | head -n " + random.nextInt(6), step, run);
      case SACCT_ERRORS -> {
        String error = "sacct: error: slurm_persist_conn_open: Connection refused";
        int row = random.nextInt(5);
        yield trial.with("sacct", "rows | sed '" + row + "i\\" + error + "'; true", step, run)
            && row > 0;
      }
      case SACCT_OUT_OF_ORDER ->
          trial.with("sacct", random.nextBoolean() ? "rows | tac" : "rows | sort -R", step, run);
      case SACCT_TWICE ->
          trial.with("sacct", random.nextBoolean() ? "rows; rows" : "rows | sed p", step, run);
      case SACCT_FUTURE ->
          trial.with(
              "sacct",
              "rows | awk -F '\\037' -v OFS='\\037'"
                  + " '{ for (i = 9; i <= 11; i++) if ($i ~ /^[0-9]+$/) $i += 7200 } 1'",
              step,
              run);
      case SACCT_ROWS_MISSING ->
          trial.with(
              "sacct",
              "rows | awk 'BEGIN { srand(" + random.nextInt(99) + ") } rand() < 0.5'",
              step,
              run);
      case SACCT_FAILS -> trial.with("sacct", "rows; exit 1", step, run);
      case SQUEUE_FAILS ->
          trial.with("squeue", "echo 'Unable to contact slurm controller' >&2; exit 1", step, run);
      case SQUEUE_HANGS -> trial.with("squeue", "exec sleep 600", step, run);
      case SQUEUE_EMPTY -> trial.with("squeue", "true", step, run);
      case SBATCH_JOB_UNKNOWN -> trial.with("sbatch", "accept; " + TIMED_OUT, step, run);
      case SBATCH_NO_JOB -> trial.with("sbatch", TIMED_OUT, step, run);
      case SBATCH_HANGS -> trial.with("sbatch", "accept; exec sleep 600", step, run);
      case SBATCH_WRONG_ID -> trial.with("sbatch", "accept; echo 77", step, run);
      case SBATCH_TWO_IDS -> trial.with("sbatch", "accept; echo $id; echo 77", step, run);
      case SBATCH_TWO_JOBS -> trial.with("sbatch", "accept; accept; echo $id", step, run);
      case SBATCH_REFUSES_A_JOB -> trial.with("sbatch", "accept; " + REFUSED, step, run);
      case SBATCH_REFUSES_IN_DOUBT ->
          trial.with("sbatch", "accept; (" + TIMED_OUT + "); " + REFUSED, step, run);
      case SCANCEL_FAILS ->
          trial.with("scancel", "echo 'Unable to contact slurm controller' >&2; exit 1", step, run);
    };
  }

  private static long part(long bytes, Random random) {
    return (long) (random.nextDouble() * (bytes + 1));
  }
}
