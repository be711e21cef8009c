package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DeniedAccess;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Prints an error: what happened, then what to do next; with {@code --json} also a document. */
public final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(
      Exception failure, CommandLine commandLine, ParseResult parsed) {
    commandLine.getOut().flush();
    if (RootCommand.of(commandLine.getCommandSpec()).showsStacktrace()) {
      failure.printStackTrace(commandLine.getErr());
    }
    return print(commandLine, known(failure));
  }

  private static NexaException known(Exception failure) {
    if (failure instanceof NexaException known) {
      boolean ofFile = known.code() == ErrorCode.SUBMIT_NOT_STARTED;
      return ofFile && known.getCause() instanceof UncheckedIOException io
          ? withOwner(known, io)
          : known;
    }
    if (failure instanceof UncheckedIOException io) {
      return ErrorCode.IO_FAILED.error(
          String.valueOf(io.getMessage()), io, ofFile(io.getCause()).toArray(Advice[]::new));
    }
    return ErrorCode.DEFECT.error(
        "this is a defect: " + failure,
        failure,
        Advice.step("please report it with what --stacktrace prints"));
  }

  /** Returns the advice on a failure: its own, or who can let this user read or write the file. */
  public static List<Advice> advice(Exception failure) {
    return known(failure).advice();
  }

  private static NexaException withOwner(NexaException known, UncheckedIOException io) {
    List<Advice> advice = new ArrayList<>(ofFile(io.getCause()));
    advice.addAll(known.advice());
    return new NexaException(
        known.code(), String.valueOf(known.getMessage()), io, advice.toArray(Advice[]::new));
  }

  private static List<Advice> ofFile(@Nullable Throwable cause) {
    return cause instanceof FileSystemException failed && failed.getFile() != null
        ? DeniedAccess.advice(failed, Path.of(failed.getFile()))
        : List.of();
  }

  /** Prints the error for people, and the document if the user asked for JSON. */
  static int print(CommandLine commandLine, NexaException happened) {
    NexaException failure = RootCommand.of(commandLine.getCommandSpec()).advised(happened);
    tell(commandLine.getErr(), failure);
    // Only a DocumentWriter knows that no half document is in front.
    if (commandLine.getOut() instanceof DocumentWriter out
        && !out.hasBegun()
        && commandLine.getCommandSpec().findOption("--json") != null) {
      out.print(json(failure));
      out.flush();
    }
    return failure.exitCode().status();
  }

  /** Prints an error that does not end the command. */
  public static void tell(Subcommand command, NexaException failure) {
    tell(command.err(), RootCommand.of(command.spec()).advised(failure));
  }

  /** Prints an error's message with its code, then its advice, one line each. */
  public static void tell(PrintWriter err, NexaException failure) {
    err.println("nexa-slurm: " + failure.getMessage() + " [" + failure.code().text() + "]");
    for (Advice line : failure.advice()) {
      // A note is not an action, so it gets no arrow.
      err.println((line.kind() == Advice.Kind.NOTE ? "" : "  → ") + line);
    }
  }

  /**
   * Returns the document that a command with {@code --json} prints if it fails: error.schema.json.
   */
  static String json(NexaException failure) {
    ErrorCode code = failure.code();
    JsonObject error =
        new JsonObject()
            .with("code", code.text())
            .with("exit_status", code.exitCode().status())
            .with("group", code.group().text())
            .with("message", String.valueOf(failure.getMessage()));
    if (failure instanceof ConfigException config) {
      List<JsonObject> problems = config.problems().stream().map(Failures::json).toList();
      error.with("place", problems.get(0).object("place")).with("problems", problems);
    }
    error
        .with("advice", failure.advice().stream().map(Failures::json).toList())
        .with("explain", page(code));
    return Json.pretty(new JsonObject().with("error", error));
  }

  /** Returns the path of the code's page, below the repository's root and in the jar. */
  static String page(ErrorCode code) {
    return "docs/errors/" + code.text() + ".md";
  }

  private static JsonObject json(Problem problem) {
    Position at = problem.at();
    JsonObject place = new JsonObject().with("file", at.source());
    if (at.line() > 0) {
      place.with("line", at.line());
    }
    place.withUnlessEmpty("key", problem.key());
    return new JsonObject()
        .with("code", problem.code().text())
        .with("message", problem.message())
        .with("place", place);
  }

  private static JsonObject json(Advice advice) {
    return switch (advice.kind()) {
      case NOTE -> new JsonObject().with("note", advice.text());
      case STEP, INSTEAD -> new JsonObject().with("step", advice.text());
      case COMMAND -> {
        JsonObject command = new JsonObject().with("command", advice.command());
        yield advice.text().isEmpty() ? command : command.with("why", advice.text());
      }
    };
  }
}
