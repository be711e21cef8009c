package dev.nexa.slurm.command.workspace;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.ErrorCode.Group;
import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.job.config.run.ConfigKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * The command {@code nexa-slurm explain}: prints the page of an error code, the keys of a config,
 * or a page of the documentation.
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
          PositionalParamSpec.builder()
              .paramLabel("CODE|KEY|PAGE")
              .type(String.class)
              .required(false),
          "The code of an error, such as run-unknown; a key of a run's config, such as resources, or"
              + " `config` for all keys; a page such as docs/approvals.md, or `docs` for the list of"
              + " pages. Default: lists all codes.");
  private final OptionSpec json = jsonFlag();

  public ExplainCommand() {
    super(
        "explain",
        "Explains the code that stands in brackets after an error, or the keys of a run's config; prints a page of the documentation.",
        "nexa-slurm explain config-unknown-key",
        "nexa-slurm explain config",
        "nexa-slurm explain resources.memory",
        "nexa-slurm explain docs/approvals.md",
        "nexa-slurm explain");
  }

  @Override
  protected void work() {
    String typed = code.getValue();
    if (typed == null) {
      list();
      return;
    }
    List<ConfigKey> keys = ConfigKey.of(typed.equals(CONFIG) ? "" : typed);
    Optional<ErrorCode> known =
        ErrorCode.of(typed.replaceFirst("^(docs/errors/|errors/)(.*)\\.md$", "$2"));
    Optional<ConfigKey.Elsewhere> elsewhere = ConfigKey.elsewhere(typed);
    if (!keys.isEmpty()) {
      print(keys);
    } else if (known.isPresent()) {
      answer(
          json,
          () -> COLUMNS.addTo(new JsonObject(), known.get()).with("page", page(known.get())),
          () -> print(page(known.get())));
    } else if (elsewhere.isPresent()) {
      print(typed, elsewhere.get());
    } else if (typed.equals("docs")) {
      answer(
          json,
          () -> new JsonObject().with("pages", Pages.names()),
          () -> Pages.names().forEach(name -> say("nexa-slurm explain " + name)));
    } else {
      String page = Pages.of(typed).orElseThrow(() -> unknown(typed));
      answer(json, () -> new JsonObject().with("page", page), () -> print(page));
    }
  }

  /** Prints what a name of another program is here. */
  private void print(String typed, ConfigKey.Elsewhere elsewhere) {
    if (!given(json)) {
      String is =
          elsewhere.key().isEmpty()
              ? "A run's config has no key '" + typed + "'"
              : "'" + typed + "' is " + elsewhere.key() + " in a run's config";
      say(is + (elsewhere.remark().isEmpty() ? "." : ": " + elsewhere.remark() + "."));
    }
    if (given(json) || !elsewhere.key().isEmpty()) {
      print(elsewhere.key().isEmpty() ? List.of() : ConfigKey.of(elsewhere.key()));
    }
  }

  private void print(List<ConfigKey> keys) {
    if (given(json)) {
      print(new JsonObject().with("keys", KEYS.of(keys).json()));
      return;
    }
    for (ConfigKey key : keys) {
      print(key.path() + ": " + key.value());
      print(key.required() ? "; required" : "");
      say(key.fallback().isEmpty() ? "" : "; default " + key.fallback());
      say("    " + key.doc());
    }
  }

  private void list() {
    if (given(json)) {
      List<JsonObject> all = COLUMNS.of(List.of(ErrorCode.values())).json();
      print(new JsonObject().with("codes", all));
      return;
    }
    for (Group group : Group.values()) {
      List<ErrorCode> codes =
          Stream.of(ErrorCode.values()).filter(each -> each.group() == group).toList();
      Columns<ErrorCode> shown =
          COLUMNS.select("code").as(group.name()).and(COLUMNS.select("summary"));
      print(shown.of(codes).table() + (group == Group.DEFECT ? "" : "\n"));
    }
  }

  /** Returns the first paragraph of the code's page as one line. */
  private static String summary(ErrorCode code) {
    return page(code).split("\n\n", -1)[1].replace('\n', ' ');
  }

  private static String page(ErrorCode code) {
    return Pages.required("/docs/errors/" + code.text() + ".md");
  }

  private static String hint(String typed, List<String> names) {
    return Stream.of("docs/" + typed + ".md", "docs/" + typed + "s.md")
        .filter(names::contains)
        .findFirst()
        .map(page -> " (did you mean '" + page + "'?)")
        .orElseGet(() -> Nearest.hint(typed, names));
  }

  private static NexaException unknown(String typed) {
    List<String> names = new ArrayList<>();
    Stream.of(ErrorCode.values()).map(ErrorCode::text).forEach(names::add);
    for (ConfigKey key : ConfigKey.of("")) {
      names.add(key.path());
      // For a section, the keys below it.
      ConfigKey.of(key.path()).forEach(below -> names.add(below.path()));
    }
    names.addAll(Pages.names());
    return ErrorCode.OPTION_INVALID.error(
        "there is no error code, no key and no page '" + typed + "'" + hint(typed, names),
        Advice.command("lists all codes", "nexa-slurm", "explain"),
        Advice.command("lists the keys of a run's config", "nexa-slurm", "explain", CONFIG),
        Advice.command("lists the policy's keys", "nexa-slurm", "explain", "docs/policy-file.md"),
        Advice.command("lists the pages", "nexa-slurm", "explain", "docs"));
  }
}
