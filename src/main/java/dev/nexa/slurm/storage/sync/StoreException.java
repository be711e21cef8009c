package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;

/** A request that the store refused or did not answer, while others may succeed. */
public final class StoreException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The reason why the request failed. */
  public enum Kind {
    /** The object is another version than the request allows. */
    CHANGED,
    /** There is no such object or upload. */
    MISSING,
    /** The store gave no answer, or an answer that says: try again. */
    BUSY,
    /** The store refuses this request, and would refuse it again. */
    REFUSED,
    /** The object lies in an archive. It must be restored before it can be read. */
    ARCHIVED
  }

  private final Kind kind;

  /** Creates the exception. The message holds no headers: they can hold secrets. */
  public StoreException(Kind kind, String message) {
    super(message);
    this.kind = kind;
  }

  /** Returns the failure of what changed meanwhile. */
  public static StoreException changed(String message) {
    return new StoreException(Kind.CHANGED, message);
  }

  /** Returns a failure that another attempt may not have. */
  public static StoreException busy(String message) {
    return new StoreException(Kind.BUSY, message);
  }

  /** Returns the reason why the request failed. */
  public Kind kind() {
    return kind;
  }

  /** Returns the error code of a command that ends because of this exception. */
  public ErrorCode code() {
    return switch (kind) {
      case BUSY -> ErrorCode.S3_UNAVAILABLE;
      case REFUSED, ARCHIVED -> ErrorCode.S3_REFUSED;
      case CHANGED, MISSING -> ErrorCode.CONCURRENT_CHANGE;
    };
  }
}
