package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Position;
import dev.nexa.slurm.job.config.yaml.Problem;
import java.util.List;

/** The document that a command with {@code --json} prints if it fails: error.schema.json. */
final class FailureJson {
  private FailureJson() {}

  static String of(NexaException failure) {
    ErrorCode code = failure.code();
    JsonObject error =
        new JsonObject()
            .with("code", code.text())
            .with("exit_status", code.exitCode().status())
            .with("group", code.group().text())
            .with("message", String.valueOf(failure.getMessage()));
    if (failure instanceof ConfigException config) {
      List<JsonObject> problems = config.problems().stream().map(FailureJson::problem).toList();
      error.with("place", problems.get(0).object("place")).with("problems", problems);
    }
    error
        .with("advice", failure.advice().stream().map(FailureJson::advice).toList())
        .with("explain", page(code));
    return Json.pretty(new JsonObject().with("error", error));
  }

  /** Returns the path of the code's page, below the repository's root and in the jar. */
  static String page(ErrorCode code) {
    return "docs/errors/" + code.text() + ".md";
  }

  private static JsonObject problem(Problem problem) {
    Position at = problem.at();
    JsonObject place = new JsonObject().with("file", at.source());
    if (at.line() > 0) {
      place.with("line", at.line());
    }
    if (!problem.key().isEmpty()) {
      place.with("key", problem.key());
    }
    return new JsonObject()
        .with("code", problem.code().text())
        .with("message", problem.message())
        .with("place", place);
  }

  private static JsonObject advice(Advice advice) {
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
