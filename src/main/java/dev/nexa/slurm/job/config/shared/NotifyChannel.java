package dev.nexa.slurm.job.config.shared;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * A channel of {@code notify}: where notifications go, and which ones. It holds no secret, only the
 * place of one.
 *
 * @param name the name that the file gives it
 * @param urlEnv the variable with the address; empty if a file has it, or if there is none
 * @param urlFile the file with the address
 * @param to the people who get the mail; empty for other kinds
 * @param sendmail the program that takes the mail
 * @param command the program and its arguments; empty for other kinds
 * @param kinds the events that it gets
 */
public record NotifyChannel(
    String name,
    Kind kind,
    Optional<String> urlEnv,
    Optional<String> urlFile,
    List<String> to,
    String sendmail,
    List<String> command,
    List<NoticeKind> kinds) {

  private static final String SENDMAIL = "/usr/sbin/sendmail";

  /** How a channel sends. */
  public enum Kind implements InLowerCase {
    /** Posts Slack's JSON to an address. */
    SLACK,
    /** Posts the notification as a JSON document to an address. */
    WEBHOOK,
    /** Gives a mail to sendmail. */
    MAIL,
    /** Starts a program. */
    COMMAND
  }

  /** The section of the policy: channels by name. */
  public static final Section OF_POLICY = keys(NoticeKind.ofPolicy());

  /** The section of a run's config: channels by name. */
  public static final Section OF_RUN = keys(NoticeKind.ofRun());

  private static Section keys(List<NoticeKind> kinds) {
    String[] names = new String[kinds.size()];
    for (int i = 0; i < names.length; i++) {
      names[i] = kinds.get(i).text();
    }
    return section(
        required(
            "kind",
            ValueType.choice("slack", "webhook", "mail", "command"),
            "How it sends: Slack's JSON or a plain JSON document to an address, a mail by sendmail, or a"
                + " program that gets the document."),
        optional(
            "url_env",
            ValueType.text("a variable's name such as NEXA_SLACK", "[A-Za-z_][A-Za-z0-9_]{0,99}"),
            "The environment variable that holds the address, for slack and webhook. Cron passes none."),
        optional(
            "url_file",
            ValueType.PATH,
            "The file that holds the address, for slack and webhook: of mode 0600, owned by the user whose"
                + " pass sends."),
        optional(
            "to",
            listOf(
                ValueType.text(
                    "a mail address", "[A-Za-z0-9][A-Za-z0-9._%+-]{0,63}(@[A-Za-z0-9.-]{1,252})?")),
            "The people who get the mail."),
        withDefault(
            "sendmail",
            ValueType.PATH,
            SENDMAIL,
            "The program that takes a mail. It is called with -i -t."),
        optional(
            "command",
            listOf(ValueType.LITERAL),
            "The program, by its absolute path, and its arguments. It gets the document on its standard"
                + " input."),
        optional(
            "events",
            listOf(ValueType.choice(names)),
            "The events that it gets. Default: all of them."));
  }

  /** Adds problems that concern several keys of the section {@code notify}. */
  public static void check(Values values) {
    Values notify = values.section("notify");
    for (String name : notify.names()) {
      Values one = notify.section(name);
      Optional<String> kind = one.optionalText("kind");
      if (kind.isEmpty()) {
        continue;
      }
      boolean posts = kind.get().equals("slack") || kind.get().equals("webhook");
      only(one, kind.get(), posts, "url_env");
      only(one, kind.get(), posts, "url_file");
      only(one, kind.get(), kind.get().equals("mail"), "to");
      only(one, kind.get(), kind.get().equals("command"), "command");
      one.requireAbsolute("url_file");
      one.requireAbsolute("sendmail");
      if (posts && one.has("url_env") == one.has("url_file")) {
        one.report(
            "kind",
            ("expected either url_file or url_env, %s: url_file:"
                    + " ${env:HOME}/.config/nexa/%s.url")
                .formatted(one.has("url_env") ? "got both" : "got neither", name));
      } else if (kind.get().equals("mail") && one.texts("to").isEmpty()) {
        one.report("kind", "missing key to; expected to: [ann@example.org]");
      } else if (kind.get().equals("command")) {
        List<String> command = one.texts("command");
        if (command.isEmpty() || !command.get(0).startsWith("/")) {
          one.report(
              one.has("command") ? "command" : "kind",
              "expected the program's absolute path first: command: [/usr/local/bin/page]");
        }
      }
    }
  }

  private static void only(Values one, String kind, boolean allowed, String key) {
    if (!allowed && one.has(key)) {
      one.report(key, "a channel of kind " + kind + " has no " + key);
    }
  }

  /** Returns the channels of the section {@code notify}; empty if the file has none. */
  public static List<NotifyChannel> from(Values values, boolean ofRun) {
    List<NotifyChannel> channels = new ArrayList<>();
    Values notify = values.section("notify");
    for (String name : notify.names()) {
      Values one = notify.section(name);
      List<NoticeKind> kinds = ofRun ? NoticeKind.ofRun() : NoticeKind.ofPolicy();
      channels.add(
          new NotifyChannel(
              name,
              Kind.valueOf(one.text("kind").toUpperCase(Locale.ROOT)),
              one.optionalText("url_env"),
              one.optionalText("url_file"),
              one.texts("to"),
              one.text("sendmail"),
              one.texts("command"),
              one.has("events")
                  ? one.texts("events").stream().map(NoticeKind::of).toList()
                  : kinds));
    }
    return channels;
  }

  /** Returns the object that plan.json keeps, by the channels' names. */
  public static JsonObject toJson(List<NotifyChannel> channels) {
    JsonObject json = new JsonObject();
    for (NotifyChannel one : channels) {
      json.with(
          one.name,
          new JsonObject()
              .with("kind", one.kind.text())
              .withOptional("url_env", one.urlEnv)
              .withOptional("url_file", one.urlFile)
              .with("to", one.to)
              .with("sendmail", one.sendmail)
              .with("command", one.command)
              .with("events", one.kinds.stream().map(NoticeKind::text).toList()));
    }
    return json;
  }

  /** Reads an object of {@link #toJson}. */
  public static List<NotifyChannel> parse(JsonObject json) {
    List<NotifyChannel> channels = new ArrayList<>();
    for (Map.Entry<String, ?> entry : json.members().entrySet()) {
      JsonObject one = json.object(entry.getKey());
      channels.add(
          new NotifyChannel(
              entry.getKey(),
              Kind.valueOf(one.text("kind").toUpperCase(Locale.ROOT)),
              one.optionalText("url_env"),
              one.optionalText("url_file"),
              one.texts("to"),
              one.text("sendmail"),
              one.texts("command"),
              one.texts("events").stream().map(NoticeKind::of).toList()));
    }
    return channels;
  }

  /**
   * Returns the place where the channel's messages arrive, which holds no secret. Two channels with
   * one target are one channel.
   */
  public String target() {
    return kind.text()
        + " "
        + urlEnv.map(name -> "$" + name).orElse("")
        + urlFile.orElse("")
        + String.join(",", to)
        + String.join(" ", command);
  }
}
