package dev.nexa.slurm.base.text;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Recognizes secrets in what programs print and in their files. More counts here than in a config
 * ({@link Secrets}): a line that is left out in vain costs less than a password that leaves. Pure.
 */
final class OutputSecrets {
  private static final String QUOTES = "[\"'\\\\]{0,3}";

  /** A name and its value: {@code password: x}, {@code "token": "x"}, {@code --api-key=x}. */
  private static final Pattern PAIR =
      Pattern.compile(
          "(?<![A-Za-z0-9_.-])-{0,2}([A-Za-z_][A-Za-z0-9_.-]{1,60})"
              + QUOTES
              + "\\s{0,8}(?:=>|:=|[:=])\\s{0,8}"
              + QUOTES
              + "(?:(?:[Bb]earer|[Bb]asic|[Tt]oken|[Dd]igest)\\s{1,4})?"
              + QUOTES
              + "([^\\s\"'\\\\,;&)\\]}]+)");

  /** A flag and its value, also in a list of Python. */
  private static final Pattern FLAG =
      Pattern.compile(
          "(?<![A-Za-z0-9_.-])--([A-Za-z][A-Za-z0-9_-]{1,40})[\"']?[\\s,]{1,4}[\"']?([^\\s\"',;&)\\]-][^\\s\"',;&)\\]]*)");

  /** A name that says where a secret is, or how many there are; a file's name. */
  private static final Pattern ABOUT =
      Pattern.compile(
          ".*(?:FILE|PATH|DIR|NAME|COUNT|LENGTH|LEN|SIZE|TYPE|POLICY|STDIN|LIMIT|ERROR)S?"
              + "|.*\\.(?:ENV|YA?ML|JSON|TOML|INI|TXT|PY|SH)");

  /** The name of a variable, in the place of its value. */
  private static final Pattern VARIABLE = Pattern.compile("[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+");

  private static final Pattern PASSWORD = Pattern.compile("PASSW|PASSPH|SECRET|PWD|CREDENTIAL");
  private static final Pattern NUMBER = Pattern.compile("[0-9][0-9.,/%eE+:-]*[A-Za-z]{0,3}");
  private static final int SHORTEST_TOKEN = 6;

  /** Forms that have no name before them. */
  private static final List<Pattern> FORMS =
      List.of(
          form(
              "curl|wget|https?|lftp|smbclient",
              "(?:-u|--user|--proxy-user)",
              "[^\\s:\"',$<{]{1,60}:[^\\s\"',$<{*]"),
          form("mysql\\w*|mariadb\\w*", "-p(?=[^\\s\"',])", "[^$<{-]"),
          form("sshpass|login", "-p", "[^\\s\"',$<{-]"),
          form("redis-cli", "-a", "[^\\s\"',$<{-]"),
          Pattern.compile("-pass(?:in|out)?\\s+pass:\\S"),
          Pattern.compile("(?i)\\bbearer\\s+(?=\\S*[0-9])[A-Za-z0-9._~+/=-]{8,}"),
          Pattern.compile("(?i)\\b(?:machine|login)\\s+\\S{1,200}.{0,200}\\bpassword\\s+\\S"),
          Pattern.compile("(?i)(?:^|[:\\]])\\s*password\\s+\\S+\\s*$"),
          Pattern.compile("(?i)\\b(?:identified\\s+by|password)\\s+'[^']"),
          Pattern.compile(
              "(?i)\\b(?:api|access|secret|private|auth|account) (?:key|token)[:=]\\s{0,4}(?=\\S*[0-9])[A-Za-z0-9+_-]{6}"),
          Pattern.compile("(?i)wandb.{0,40}(?:login|key).{0,40}\\b[0-9a-f]{40}\\b"),
          Pattern.compile("\\bsk-(?:ant|proj|or)-[A-Za-z0-9_-]{16}"),
          Pattern.compile("://[A-Za-z0-9_-]{20,}@"),
          Pattern.compile("\\bsig=[A-Za-z0-9%+/=]{16}"),
          // A name in capitals and its value, as in KeyError("AWS_SECRET_ACCESS_KEY wJal...").
          Pattern.compile(
              "\\b[A-Z][A-Z0-9_]*(?:SECRET|TOKEN|PASSWORD|API_KEY|ACCESS_KEY)[A-Z0-9_]*[\"':,]{0,2}\\s{1,4}[\"']?(?=\\S*[0-9])(?=\\S*[a-z])[A-Za-z0-9+/=_-]{16}"),
          // A private key in base64, as Kubernetes keeps it.
          Pattern.compile("LS0tLS1CRUdJTi[A-Za-z0-9+/]{20}"));

  private OutputSecrets() {}

  private static Pattern form(String program, String flag, String value) {
    return Pattern.compile(
        "(?i:\\b(?:" + program + ")\\b).{0,400}?[\\s\"']" + flag + "[\\s\"',=]{0,6}" + value);
  }

  /** Returns the kind of secret that a line probably holds; empty for an ordinary line. */
  static Optional<String> in(String line) {
    Optional<String> known = Secrets.inText(line);
    if (known.isEmpty() && FORMS.stream().anyMatch(form -> form.matcher(line).find())) {
      return Optional.of("a password or a token");
    }
    return known.or(() -> named(PAIR.matcher(line))).or(() -> named(FLAG.matcher(line)));
  }

  private static Optional<String> named(Matcher pair) {
    for (int at = 0; pair.find(at); at = pair.end(1)) {
      String name = pair.group(1).replaceAll("([a-z])([A-Z])", "$1_$2").toUpperCase(Locale.ROOT);
      if (isOfOne(name) && !isHarmless(pair.group(2), name)) {
        return Optional.of("a secret, by the name " + pair.group(1));
      }
    }
    return Optional.empty();
  }

  private static boolean isOfOne(String name) {
    return (Secrets.isStrong(name) || name.equals("PWD")) && !ABOUT.matcher(name).matches();
  }

  private static boolean isHarmless(String value, String name) {
    boolean ordinary =
        value.length() < SHORTEST_TOKEN
            || NUMBER.matcher(value).matches()
            || VARIABLE.matcher(value).matches()
            || value.indexOf('(') > 0 // a line of a program
            || value.indexOf('[') > 0;
    return (ordinary && !PASSWORD.matcher(name).find())
        || "([*".indexOf(value.charAt(0)) >= 0
        || value.regionMatches(true, 0, "SHA256:", 0, 7)
        || Secrets.isHarmless(value, name);
  }
}
