package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints an error of the command line, a suggestion for a mistyped name, and where to read more.
 */
public final class UsageErrors implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine commandLine = wrong.getCommandLine();
    List<Advice> advice = new ArrayList<>();
    StringWriter near = new StringWriter();
    UnmatchedArgumentException.printSuggestions(wrong, new PrintWriter(near));
    near.toString().lines().map(Advice::step).forEach(advice::add);
    String command = commandLine.getCommandSpec().qualifiedName();
    advice.add(
        Advice.command(
            "", Stream.concat(Stream.of(command.split(" ", -1)), Stream.of("--help")).toArray()));
    return Failures.print(
        commandLine, new NexaException(code(wrong), String.valueOf(wrong.getMessage()), advice));
  }

  private static ErrorCode code(ParameterException wrong) {
    if (wrong instanceof UnmatchedArgumentException) {
      return ErrorCode.OPTION_UNKNOWN;
    }
    boolean commandMissing = wrong.getArgSpec() == null && wrong.getValue() == null;
    return wrong instanceof MissingParameterException || commandMissing
        ? ErrorCode.ARGUMENT_MISSING
        : ErrorCode.OPTION_INVALID;
  }
}
