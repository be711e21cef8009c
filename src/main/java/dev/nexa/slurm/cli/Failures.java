package dev.nexa.slurm.cli;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Tells a failure: what happened, then what to type next. */
final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(
      Exception failure, CommandLine commandLine, ParseResult parsed) {
    PrintWriter err = commandLine.getErr();
    commandLine.getOut().flush();
    if (RootCommand.of(commandLine.getCommandSpec()).showsStacktrace()) {
      failure.printStackTrace(err);
    }
    if (failure instanceof NexaException known) {
      tell(err, known);
      return known.exitCode().status();
    }
    if (failure instanceof UncheckedIOException io) {
      err.println("nexa-slurm: " + io.getMessage());
      return ExitCode.DEFECT.status();
    }
    err.println("nexa-slurm: this is a defect: " + failure);
    err.println("  → please report it with what --stacktrace prints");
    return ExitCode.DEFECT.status();
  }

  static void tell(PrintWriter err, NexaException failure) {
    err.println("nexa-slurm: " + failure.getMessage());
    for (String line : failure.advice()) {
      // A note is nothing to do.
      err.println((line.startsWith("note: ") ? "" : "  → ") + line);
    }
  }
}
