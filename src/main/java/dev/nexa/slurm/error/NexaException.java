package dev.nexa.slurm.error;

import java.util.List;

/**
 * A failure with advice: what happened, with which value, and the next command to type. Its message
 * is fit for a person; a stack trace is only shown for {@link ExitCode#DEFECT}.
 */
public class NexaException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final ExitCode exitCode;
  private final List<String> advice;

  public NexaException(ExitCode exitCode, String message, List<String> advice) {
    super(message);
    this.exitCode = exitCode;
    this.advice = List.copyOf(advice);
  }

  public NexaException(ExitCode exitCode, String message, String... advice) {
    this(exitCode, message, List.of(advice));
  }

  /** The same, keeping the cause for whoever debugs it. */
  public NexaException(ExitCode exitCode, String message, Throwable cause, String... advice) {
    super(message, cause);
    this.exitCode = exitCode;
    this.advice = List.of(advice);
  }

  public ExitCode exitCode() {
    return exitCode;
  }

  /** What to do or type next, one line each; may be empty. */
  public List<String> advice() {
    return advice;
  }
}
