package dev.nexa.slurm.submit;

import java.util.function.Consumer;

/**
 * The points at which a process can die on the way from a config to a finished run. The kill suite
 * dies at each of them, many times, on a real Slurm.
 */
public enum CrashPoint {
  /** The run's directory exists, nothing else. */
  RUN_CLAIMED,
  /** open/ names the run, its files are not there yet. */
  RUN_OPENED,
  /** Script, plan and estimate are on disk, no event is. */
  RUN_STAGED,
  /** The intent is durable, sbatch was not called. */
  INTENT_WRITTEN,
  /** sbatch runs, its pid is not recorded; it lives on without us. */
  CLIENT_STARTED,
  /** sbatch runs and its pid is recorded. */
  CLIENT_RECORDED,
  /** sbatch has answered, nothing of that is recorded. */
  CLIENT_ANSWERED,
  /** The receipt is durable, the manifest is not written. */
  RECEIPT_WRITTEN,
  /** The first manifest is written, `latest` points elsewhere. */
  MANIFEST_WRITTEN,
  /** The job was looked up, what was found is not recorded. */
  LOOKED_UP,
  /**
   * No job of a submission can claim a task any more, the journal does not say that it is closed.
   */
  SUBMISSION_SHUT,
  /** A submission without a job is closed, the next one is not begun. */
  SUBMISSION_CLOSED,
  /** The final cost file is written, the manifest is not. */
  FINAL_COST_WRITTEN,
  /** The final manifest is written, the journal does not say finished. */
  FINAL_MANIFEST_WRITTEN,
  /** The ledger has the run's line, the journal does not say finished. */
  LEDGER_WRITTEN,
  /** The journal says finished, open/ still names the run. */
  FINISHED_WRITTEN;

  /** Told of each point as it is passed; does nothing but in the kill suite. */
  public static final Consumer<CrashPoint> NONE = point -> {};
}
