package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ErrorCode.Group;
import dev.nexa.slurm.base.error.ExitCode;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.ConfigKey;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The command {@code nexa-slurm explain}: prints the page of an error code, or the keys of a
 * config.
 */
public final class ExplainCommand extends Subcommand {
  private static final Columns<ErrorCode> COLUMNS =
      new Columns<ErrorCode>()
          .text("code", ErrorCode::text)
          .number("exit_status", code -> code.exitCode().status())
          .text("group", code -> code.group().text())
          .text("summary", ExplainCommand::summary)
          .as("WHAT HAPPENED");

  /** The word that stands for the top level of a run's config. */
  private static final String CONFIG = "config";

  private static final Columns<ConfigKey> KEYS =
      new Columns<ConfigKey>()
          .text("key", ConfigKey::path)
          .text("value", ConfigKey::value)
          .text("required", key -> key.required() ? "true" : "false")
          .text("default", ConfigKey::fallback)
          .text("doc", ConfigKey::doc);

  private final PositionalParamSpec code =
      add(
          PositionalParamSpec.builder().paramLabel("CODE|KEY").type(String.class).required(false),
          "The code of an error, such as run-unknown; or a key of a run's config, such as resources;"
              + " or `config` for all keys. Default: lists all codes.");
  private final OptionSpec json = jsonFlag();

  public ExplainCommand() {
    super(
        "explain",
        "Explains the code that stands in brackets after an error, or the keys of a run's config.",
        "nexa-slurm explain config-unknown-key",
        "nexa-slurm explain config",
        "nexa-slurm explain resources.memory",
        "nexa-slurm explain");
  }

  @Override
  public Integer call() {
    String typed = code.getValue();
    if (typed == null) {
      list();
      return ExitCode.OK.status();
    }
    List<ConfigKey> keys = ConfigKey.of(typed.equals(CONFIG) ? "" : typed);
    if (!keys.isEmpty()) {
      print(keys);
      return ExitCode.OK.status();
    }
    ErrorCode known = ErrorCode.of(typed).orElseThrow(() -> unknown(typed));
    out()
        .print(
            given(json)
                ? Json.pretty(COLUMNS.addTo(new JsonObject(), known).with("page", page(known)))
                : page(known));
    return ExitCode.OK.status();
  }

  private void print(List<ConfigKey> keys) {
    if (given(json)) {
      out().print(Json.pretty(new JsonObject().with("keys", KEYS.of(keys).json())));
      return;
    }
    for (ConfigKey key : keys) {
      out().print(key.path() + ": " + key.value());
      out().print(key.required() ? "; required" : "");
      out().println(key.fallback().isEmpty() ? "" : "; default " + key.fallback());
      out().println("    " + key.doc());
    }
  }

  private void list() {
    if (given(json)) {
      List<JsonObject> all = COLUMNS.of(List.of(ErrorCode.values())).json();
      out().print(Json.pretty(new JsonObject().with("codes", all)));
      return;
    }
    for (Group group : Group.values()) {
      List<ErrorCode> codes =
          Stream.of(ErrorCode.values()).filter(each -> each.group() == group).toList();
      Columns<ErrorCode> shown =
          COLUMNS.select("code").as(group.name()).and(COLUMNS.select("summary"));
      out().print(shown.of(codes).table() + (group == Group.DEFECT ? "" : "\n"));
    }
  }

  /** Returns the first paragraph of the code's page as one line. */
  private static String summary(ErrorCode code) {
    return page(code).split("\n\n", -1)[1].replace('\n', ' ');
  }

  private static String page(ErrorCode code) {
    String path = "/docs/errors/" + code.text() + ".md";
    try (InputStream in = ExplainCommand.class.getResourceAsStream(path)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no " + path);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot read " + path + " from the jar", failed);
    }
  }

  private static NexaException unknown(String typed) {
    List<String> names = new ArrayList<>();
    for (ErrorCode code : ErrorCode.values()) {
      names.add(code.text());
    }
    for (ConfigKey key : ConfigKey.of("")) {
      names.add(key.path());
      // Of a section, the keys below it.
      ConfigKey.of(key.path()).forEach(below -> names.add(below.path()));
    }
    return new NexaException(
        ErrorCode.OPTION_INVALID,
        "there is no error code and no key '" + typed + "'" + Nearest.hint(typed, names),
        Advice.command("lists all codes", "nexa-slurm", "explain"),
        Advice.command("lists the keys of a run's config", "nexa-slurm", "explain", CONFIG));
  }
}
