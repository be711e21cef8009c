package dev.nexa.slurm.records.signatures;

import static dev.nexa.slurm.base.error.Arguments.require;

import java.nio.file.Path;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The keys that may sign approvals. They are read from a file in the format of ssh-keygen(1),
 * ALLOWED SIGNERS. Each line has principals, options and a public key. git uses the same format.
 *
 * <pre>
 * # comment
 * ada@site,boss@site namespaces="nexa-slurm" ssh-ed25519 AAAA…
 * boss@site valid-after="20260101",valid-before="20270101Z" ssh-rsa AAAA…
 * </pre>
 *
 * @param file the file's name for messages
 * @param entries the usable lines, in file order
 * @param problems lines that cannot be read; if there are any, no signature may be trusted
 * @param ignored lines whose keys may not sign here, and why
 */
public record AllowedSigners(
    String file, List<Entry> entries, List<String> problems, List<String> ignored) {

  /**
   * One usable line.
   *
   * @param line line number, from 1
   * @param principals a list of patterns
   * @param namespaces a list of patterns of namespaces that the key may sign for; empty for all
   * @param validAfter start of validity, inclusive; empty for no start
   * @param validBefore end of validity, inclusive; empty for no end
   * @param key the public key
   */
  public record Entry(
      int line,
      String principals,
      Optional<String> namespaces,
      Optional<Instant> validAfter,
      Optional<Instant> validBefore,
      SshPublicKey key) {

    /** Returns whether the key may sign for a namespace (ssh-keygen(1), ALLOWED SIGNERS). */
    public boolean isFor(String namespace) {
      return namespaces.isEmpty() || PatternList.matches(namespaces.get(), namespace);
    }

    /** Returns whether the key is valid at a time. */
    public boolean isValidAt(Instant time) {
      return (validAfter.isEmpty() || !time.isBefore(validAfter.get()))
          && (validBefore.isEmpty() || !time.isAfter(validBefore.get()));
    }
  }

  /**
   * Returns the time zone of this machine from /etc/localtime, as ssh-keygen reads it without
   * {@code TZ}. A submitter can set {@code TZ}, and must not decide when a key expires.
   */
  public static ZoneId zoneOfMachine() {
    return KeyValidity.zone(Path.of("/etc/localtime"));
  }

  /**
   * Reads the file's text. It never throws: bad lines become problems or ignored lines.
   *
   * @param file the file's name for messages
   * @param local the time zone of times without a {@code Z}
   */
  public static AllowedSigners parse(String file, String text, ZoneId local) {
    List<Entry> entries = new ArrayList<>();
    List<String> problems = new ArrayList<>();
    List<String> ignored = new ArrayList<>();
    String[] lines = text.split("\n", -1);
    for (int i = 0; i < lines.length; i++) {
      String line = lines[i].strip();
      if (line.isEmpty() || line.startsWith("#")) {
        continue;
      }
      String at = file + ":" + (i + 1) + ": ";
      if (line.startsWith("-----BEGIN")) {
        String what = line.contains("PRIVATE KEY") ? "a private key" : "no line of ssh-keygen";
        problems.add(at + "this is " + what + "; write the line of the key's .pub file instead");
        break;
      }
      try {
        entries.add(new Line(line, i + 1, local).entry());
      } catch (UnsupportedOperationException unusable) {
        ignored.add(at + unusable.getMessage());
      } catch (IllegalArgumentException broken) {
        problems.add(at + broken.getMessage());
      }
    }
    return new AllowedSigners(file, entries, problems, ignored);
  }

  /**
   * Returns why the key may not sign as the principal for the namespace at that time; empty if it
   * may. If several lines have the key, the reason names the last of these lines.
   */
  public Optional<String> refusal(
      String principal, SshPublicKey key, String namespace, Instant time) {
    String nearest = "the key " + key.fingerprint() + " is not in " + file;
    for (Entry entry : entries) {
      if (!entry.key().equals(key)) {
        continue;
      }
      String at = file + ":" + entry.line() + ": the key " + key.fingerprint();
      if (!PatternList.matches(entry.principals(), principal)) {
        nearest = at + " is of " + entry.principals() + ", not of " + principal;
      } else if (!entry.isFor(namespace)) {
        nearest = at + " may not sign for " + namespace;
      } else if (!entry.isValidAt(time)) {
        nearest = at + " is not valid at " + time + window(entry);
      } else {
        return Optional.empty();
      }
    }
    return Optional.of(nearest);
  }

  private static String window(Entry entry) {
    return " ("
        + entry.validAfter().map(from -> "from " + from).orElse("")
        + (entry.validAfter().isPresent() && entry.validBefore().isPresent() ? " " : "")
        + entry.validBefore().map(to -> "to " + to).orElse("")
        + ")";
  }

  /** Returns the principals on all lines with this key, whatever their namespaces and validity. */
  public List<String> holders(SshPublicKey key) {
    return entries.stream()
        .filter(entry -> entry.key().equals(key))
        .flatMap(entry -> Stream.of(entry.principals().split(",", -1)))
        .toList();
  }

  /** Returns whether a principal is a name: neither a pattern nor an exclusion. */
  public static boolean isName(String principal) {
    return !principal.isEmpty() && principal.matches("[^!*?][^*?]*");
  }

  /** Parses one line. */
  private static final class Line {
    private final String text;
    private final int number;
    private final ZoneId local;
    private int at;
    private Optional<String> namespaces = Optional.empty();
    private Optional<Instant> after = Optional.empty();
    private Optional<Instant> before = Optional.empty();
    private boolean authority;

    Line(String text, int number, ZoneId local) {
      this.text = text;
      this.number = number;
      this.local = local;
    }

    Entry entry() {
      require(
          !SshPublicKey.isTypeName(word()),
          "no name before the key: expected such as ada@site " + word() + " AAAA…");
      String principals = principals();
      skipSpace();
      require(
          Stream.of(text.substring(at).split("[ \t\r]+", -1)).anyMatch(SshPublicKey::isTypeName),
          "no key on this line: expected such as ada@site ssh-ed25519 AAAA…");
      if (!SshPublicKey.isTypeName(word())) {
        options();
        skipSpace();
      }
      if (authority) {
        throw new UnsupportedOperationException(
            "cert-authority is not taken: name the signers' own keys");
      }
      require(SshPublicKey.isTypeName(word()), "expected a public key behind '" + principals + "'");
      return new Entry(number, principals, namespaces, after, before, key());
    }

    private SshPublicKey key() {
      String[] words = text.substring(at).split("[ \t]+", 3);
      require(words.length >= 2, "expected the key behind " + words[0]);
      byte[] blob = SshPublicKey.decoded(words[1]);
      require(new SshWire(blob).name().equals(words[0]), "its key is no " + words[0]);
      try {
        return SshPublicKey.of(blob);
      } catch (IllegalArgumentException mayNotSign) {
        throw new UnsupportedOperationException(mayNotSign.getMessage(), mayNotSign);
      }
    }

    private String principals() {
      boolean quoted = text.charAt(0) == '"';
      int end = quoted ? text.indexOf('"', 1) : spaceFrom(0);
      require(end >= 0, "expected a closing '\"' behind the principals");
      String principals = text.substring(quoted ? 1 : 0, end);
      at = quoted ? end + 1 : end;
      require(!principals.isEmpty(), "expected a principal such as ada@site");
      return principals;
    }

    private void options() {
      while (at < text.length() && !isSpace(text.charAt(at))) {
        option();
        if (at < text.length() && text.charAt(at) == ',') {
          at++;
          require(
              at != text.length() && !isSpace(text.charAt(at)),
              "expected an option behind the last ','");
        } else if (at < text.length() && !isSpace(text.charAt(at))) {
          throw new IllegalArgumentException("expected a ',' between options");
        }
      }
    }

    private void option() {
      if (takes("cert-authority")) {
        authority = true;
      } else if (takes("namespaces=")) {
        requireFirst(namespaces, "namespaces");
        namespaces = Optional.of(quoted());
      } else if (takes("valid-after=")) {
        requireFirst(after, "valid-after");
        after = Optional.of(KeyValidity.parse(quoted(), local));
      } else if (takes("valid-before=")) {
        requireFirst(before, "valid-before");
        before = Optional.of(KeyValidity.parse(quoted(), local));
      } else {
        throw new IllegalArgumentException(
            "unknown option '%s'; known are namespaces=\"…\", valid-after=\"…\", valid-before=\"…\""
                .formatted(word()));
      }
      require(
          after.isEmpty() || before.isEmpty() || after.get().isBefore(before.get()),
          "valid-after must be before valid-before");
    }

    private static void requireFirst(Optional<?> earlier, String name) {
      require(earlier.isEmpty(), "gives " + name + " twice");
    }

    private boolean takes(String name) {
      boolean here =
          text.toLowerCase(Locale.ROOT).startsWith(name, at) && text.length() >= at + name.length();
      at += here ? name.length() : 0;
      return here;
    }

    /**
     * Reads a value between quotes. A backslash before a quote makes the quote part of the value.
     */
    private String quoted() {
      require(
          at < text.length() && text.charAt(at) == '"', "expected a '\"' before an option's value");
      StringBuilder value = new StringBuilder();
      for (at++; at < text.length() && text.charAt(at) != '"'; at++) {
        boolean escaped = text.charAt(at) == '\\' && text.startsWith("\\\"", at);
        at += escaped ? 1 : 0;
        value.append(text.charAt(at));
      }
      require(at < text.length(), "expected a closing '\"' behind an option's value");
      at++;
      return value.toString();
    }

    private String word() {
      return text.substring(at, spaceFrom(at));
    }

    private int spaceFrom(int from) {
      int end = from;
      while (end < text.length() && !isSpace(text.charAt(end))) {
        end++;
      }
      return end;
    }

    private void skipSpace() {
      while (at < text.length() && isSpace(text.charAt(at))) {
        at++;
      }
    }

    private static boolean isSpace(char letter) {
      return letter == ' ' || letter == '\t' || letter == '\r';
    }
  }
}
