package dev.nexa.slurm.storage.sync;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Which paths a sync copies. As in {@code aws s3 sync}, a {@code *} also matches slashes, and the
 * last rule that matches decides.
 */
public final class Filters {
  /** The rule that is always first. It excludes files that a program still writes. */
  public static final Rule UNFINISHED = new Rule(false, "*.tmp");

  /** The reason why a file is not copied if its name looks like one of our names. */
  static final String OURS = "names that begin with .nexa- are ours";

  /**
   * One option.
   *
   * @param include whether it is {@code --include}
   * @param glob the pattern: {@code *}, {@code ?} and {@code [a-z]}
   */
  public record Rule(boolean include, String glob) {}

  private record Compiled(Rule rule, Pattern pattern) {}

  private static final Pattern WILDCARD = Pattern.compile("[*?\\[]");

  private static final int LONGEST_KEY = 1024;
  private static final int LONGEST_NAME = 255;

  private final List<Compiled> rules;

  /** Makes the filters from the rules, in the order of the command line. */
  public Filters(List<Rule> rules) {
    this.rules = rules.stream().map(rule -> new Compiled(rule, pattern(rule.glob()))).toList();
  }

  /** Returns whether the path is copied. */
  public boolean takes(String path) {
    boolean taken = true;
    for (Compiled rule : rules) {
      if (rule.pattern().matcher(path).matches()) {
        taken = rule.rule().include();
      }
    }
    return taken;
  }

  /** Returns a pattern that matches only this path. */
  public static String literal(String path) {
    return path.replaceAll("[*?\\[]", "[$0]");
  }

  /**
   * Returns whether a path below the folder may be copied. Returns false only if no path below it
   * can be copied.
   */
  boolean mayTakeBelow(String folder) {
    String below = folder + "/";
    boolean taken = true;
    for (Compiled rule : rules) {
      String glob = rule.rule().glob();
      if (rule.rule().include()) {
        String literal = WILDCARD.split(glob, 2)[0];
        taken |= literal.startsWith(below) || below.startsWith(literal);
      } else if (glob.endsWith("*") && rule.pattern().matcher(below).matches()) {
        taken = false;
      }
    }
    return taken;
  }

  /** Returns whether a part of the path is one of our own folders, which are never copied. */
  static boolean isOurs(String path) {
    return path.startsWith(".nexa-") || path.contains("/.nexa-");
  }

  /** Returns whether the path is a name of ours that lies in none of our folders. */
  static boolean isOurName(String path) {
    int slash = path.lastIndexOf('/');
    return isOurs(path) && (slash < 0 || !isOurs(path.substring(0, slash)));
  }

  private static Pattern pattern(String glob) {
    StringBuilder regex = new StringBuilder();
    for (int i = 0; i < glob.length(); i++) {
      char c = glob.charAt(i);
      int end = c == '[' ? glob.indexOf(']', i + 2) : -1;
      if (c == '*') {
        regex.append(".*");
      } else if (c == '?') {
        regex.append('.');
      } else if (end > 0) {
        String set = glob.substring(i + 1, end).replace("\\", "\\\\").replace("[", "\\[");
        set = set.replace("&", "\\&").replace("^", "\\^");
        regex.append('[').append(set.startsWith("!") ? "^" + set.substring(1) : set).append(']');
        i = end;
      } else {
        regex.append(Pattern.quote(String.valueOf(c)));
      }
    }
    return Pattern.compile(regex.toString(), Pattern.DOTALL);
  }

  /**
   * Returns why a path cannot be both a file's and an object's, as a part of a sentence; empty if
   * it can.
   */
  static Optional<String> unusable(String path, String prefix) {
    if (path.isEmpty() || path.endsWith("/")) {
      return Optional.of("an object that stands for a folder");
    }
    if (!path.codePoints().allMatch(Filters::fitsXml)) {
      return Optional.of("its name holds a character that S3's XML cannot hold");
    }
    for (String name : path.split("/", -1)) {
      if (name.isEmpty() || name.equals(".") || name.equals("..")) {
        return Optional.of("its name cannot be a path below the folder");
      }
      if (bytes(name) > LONGEST_NAME) {
        return Optional.of("its name is longer than " + LONGEST_NAME + " bytes");
      }
    }
    return bytes(prefix + path) > LONGEST_KEY
        ? Optional.of("its key would be longer than " + LONGEST_KEY + " bytes")
        : Optional.empty();
  }

  /** Returns whether XML 1.0 has the character (its section 2.2): S3 answers in XML. */
  private static boolean fitsXml(int c) {
    return c == '\t'
        || c == '\n'
        || c == '\r'
        || (c >= ' ' && c < Character.MIN_SURROGATE)
        || (c > Character.MAX_SURROGATE && c < 0xfffe)
        || c > 0xffff;
  }

  private static int bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8).length;
  }
}
