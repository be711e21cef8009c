package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;

/** A request that the store refused or did not answer, while others may succeed. */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What became of the request. */
  public enum Kind {
    /** The object is another version than the request allows. */
    CHANGED,
    /** There is no such object or upload. */
    MISSING,
    /** No answer, or an answer that says: try again. */
    BUSY,
    /** The store refuses this request, and would refuse it again. */
    REFUSED,
    /** The object lies in an archive, from which it must be restored before it can be read. */
    ARCHIVED
  }

  private final Kind kind;

  /** Creates the exception. The message holds no headers: they can hold secrets. */
  public StoreException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** Returns what became of the request. */
  public Kind kind() {
    return kind;
  }

  /** Returns the code of the error that a command ends with because of it. */
  public ErrorCode code() {
    return switch (kind) {
      case BUSY -> ErrorCode.S3_UNAVAILABLE;
      case REFUSED, ARCHIVED -> ErrorCode.S3_REFUSED;
      case CHANGED, MISSING -> ErrorCode.CONCURRENT_CHANGE;
    };
  }
}
