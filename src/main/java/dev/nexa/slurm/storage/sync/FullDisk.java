package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Recognizes the failures of a disk or a quota without room, and advises what to do about them. */
public final class FullDisk {
  private static final String FULL = "No space left on device";
  private static final String QUOTA = "Disk quota exceeded";

  private FullDisk() {}

  /** Returns whether the failure, or one of its causes, is ENOSPC or EDQUOT. */
  static boolean isCause(Throwable failure) {
    for (@Nullable Throwable one = failure; one != null; one = one.getCause()) {
      if (one instanceof IOException && isReason(String.valueOf(one.getMessage()))) {
        return true;
      }
    }
    return false;
  }

  /** Returns whether the reason of a failure is a disk or a quota without room. */
  public static boolean isReason(String reason) {
    return reason.contains(FULL) || reason.contains(QUOTA);
  }

  /** Returns what to do about a full disk. */
  public static Advice advice(Path folder) {
    return Advice.step(
        ("make room on the disk of %s (`df -h %s`), then type the command again:"
                + " what was copied is not copied again")
            .formatted(folder, folder));
  }

  static NexaException error(Path folder, Throwable failure) {
    String what = "the disk of " + folder + " is full: " + failure.getMessage();
    return ErrorCode.IO_FAILED.error(what, failure, advice(folder));
  }
}
