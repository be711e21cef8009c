package dev.nexa.slurm.run.submit;

import java.util.function.Consumer;

/**
 * The points where a process can die between a config and a finished run. A test suite kills the
 * process at each of them, many times, on a real Slurm.
 */
public enum CrashPoint {
  /** open/ names the run. Its folder does not exist yet. */
  RUN_NAMED,
  /** The run's folder exists and is empty. No process holds its lock. */
  RUN_CLAIMED,
  /** The submitter holds the run's lock. The run's files do not exist yet. */
  RUN_LOCKED,
  /** Script, plan and estimate are on disk. The journal is empty. */
  RUN_STAGED,
  /** The files of all stages of a pipeline are on disk. pipeline.json is not. */
  PIPELINE_STAGED,
  /** pipeline.json is durable. No stage was submitted. */
  PIPELINE_WRITTEN,
  /** The intent is durable. sbatch was not called. */
  INTENT_WRITTEN,
  /** sbatch runs. Its pid is not recorded, and it survives this process. */
  CLIENT_STARTED,
  /** sbatch runs and its pid is recorded. */
  CLIENT_RECORDED,
  /** sbatch has answered. The answer is not recorded. */
  CLIENT_ANSWERED,
  /** The receipt is durable. The manifest is not written. */
  RECEIPT_WRITTEN,
  /** The first manifest is written. The command has printed nothing. */
  MANIFEST_WRITTEN,
  /** The job was looked up. The result is not recorded. */
  LOOKED_UP,
  /**
   * No job of a submission can claim a task any more. The journal does not say that it is closed.
   */
  SUBMISSION_SHUT,
  /** A submission without a job is closed. Its successor is not begun. */
  SUBMISSION_CLOSED,
  /** The final cost file is written. The final manifest is not. */
  FINAL_COST_WRITTEN,
  /** The final manifest is written. The journal does not say finished. */
  FINAL_MANIFEST_WRITTEN,
  /** The ledger has the run's line. The journal does not say finished. */
  LEDGER_WRITTEN,
  /** The journal says finished. open/ still names the run. */
  FINISHED_WRITTEN;

  /** Ignores all crash points. Only the tests that kill the process use another consumer. */
  public static final Consumer<CrashPoint> NONE = point -> {};
}
