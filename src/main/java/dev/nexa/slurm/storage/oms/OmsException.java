package dev.nexa.slurm.storage.oms;

/** A signature, a key or a folder that breaks a rule of the format; the message says which. */
public final class OmsException extends Exception {
  private static final long serialVersionUID = 1L;

  OmsException(String message) {
    super(message);
  }

  OmsException(String message, Throwable cause) {
    super(message, cause);
  }
}
