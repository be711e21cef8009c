package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;

/**
 * Thrown if a run's file is not the file that was submitted, and the run's cost or another
 * submission depends on it.
 */
public final class ChangedFileException extends NexaException {
  private static final long serialVersionUID = 1L;

  ChangedFileException(ProvenFiles.Changed changed) {
    super(
        ErrorCode.FILE_CHANGED,
        changed.sentence(),
        Advice.step("put the file back as it was, from a backup"),
        Advice.command("lists what differs", "nexa-slurm", "audit", changed.run()),
        Advice.command("submits the config anew", "nexa-slurm", "submit", changed.config()));
  }
}
