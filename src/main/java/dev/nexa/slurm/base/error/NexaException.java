package dev.nexa.slurm.base.error;

import java.util.List;

/**
 * A failure that a user can act on: a code, a message with the value at fault, and advice.
 *
 * <p>The command prints the message, the advice and the code. It prints a stack trace only if the
 * user asks for it.
 */
public class NexaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ErrorCode code;
  private final transient List<Advice> advice;

  /**
   * Creates a failure.
   *
   * @param message the reason, with the value at fault
   * @param advice what the user can do next, one line each
   */
  public NexaException(ErrorCode code, String message, List<Advice> advice) {
    super(message);
    this.code = code;
    this.advice = List.copyOf(advice);
  }

  public NexaException(ErrorCode code, String message, Advice... advice) {
    this(code, message, List.of(advice));
  }

  /** Creates a failure with the exception that caused it. */
  public NexaException(ErrorCode code, String message, Throwable cause, Advice... advice) {
    super(message, cause);
    this.code = code;
    this.advice = List.of(advice);
  }

  /** Returns the stable name of the failure. */
  public ErrorCode code() {
    return code;
  }

  /** Returns the exit status of the process. */
  public ExitCode exitCode() {
    return code.exitCode();
  }

  /** Returns what the user can do next, one line each; may be empty. */
  public List<Advice> advice() {
    return advice;
  }
}
