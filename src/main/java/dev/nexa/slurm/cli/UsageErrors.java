package dev.nexa.slurm.cli;

import dev.nexa.slurm.error.ExitCode;
import java.io.PrintWriter;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Tells what is wrong with the command line, what was probably meant, and where to read on. */
final class UsageErrors implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine commandLine = wrong.getCommandLine();
    PrintWriter err = commandLine.getErr();
    err.println("nexa-slurm: " + wrong.getMessage());
    UnmatchedArgumentException.printSuggestions(wrong, err);
    err.println("  → " + commandLine.getCommandSpec().qualifiedName() + " --help");
    return ExitCode.USAGE.status();
  }
}
