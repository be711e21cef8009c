package dev.nexa.slurm.job.render;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Text that gets out of quotes which were set by care: quotes, substitutions, escapes, globs, what
 * looks like an option or a comment. Whatever of it is executed leaves a file named {@code canary}.
 */
public final class HostileText {
  private static final List<String> PIECES =
      List.of(
          "'",
          "\"",
          "`",
          "\\",
          "$",
          "#",
          " ",
          "  ",
          "-",
          "--",
          "!",
          "*",
          "?",
          "[a-z]",
          "~",
          "~root",
          "{a,b}",
          ";",
          "&",
          "|",
          "<",
          ">",
          "(",
          ")",
          "=",
          "%",
          "%A",
          "%%",
          "^",
          ",",
          ":",
          "@",
          "+",
          "$(touch canary)",
          "`touch canary`",
          "';touch canary;'",
          "\";touch canary;\"",
          "\\';touch canary;\\'",
          "&& touch canary #",
          "|touch canary",
          ">canary",
          "$((1+1))",
          "$IFS",
          "${HOME}",
          "${x:-$(touch canary)}",
          "$'\\n'",
          "\\n",
          "\\\\",
          "\\0",
          "\\x41",
          "!!",
          "-n",
          "-rf",
          "--help",
          "#SBATCH --time=1",
          "<<EOF",
          "[=x]",
          "${x}",
          "<#if>",
          "?eval",
          "x",
          "é",
          "漢字",
          "😀",
          "\u00a0",
          "\u2028",
          "\u202e",
          "\ufeff",
          "e\u0301",
          "nul",
          "010");

  /** What config keys of paths take for references of their own, and bash for variables. */
  private static final List<String> TIERS =
      List.of("${durable}", "${scratch}", "${shared}", "${run_dir}", "${durable", "$durable");

  /**
   * Each alone, for every field: what other programs than bash, or other lines, would make of it.
   */
  private static final List<String> WORST =
      List.of(
          "$(touch canary)",
          "`touch canary`",
          "$(/usr/bin/touch canary)",
          "';touch canary;'",
          "\";touch canary;\"",
          ">canary",
          "x\ntouch canary",
          "x\n#SBATCH --uid=0",
          "\n#SBATCH --uid=0\n",
          "\"\n#SBATCH --wrap=\"touch canary\"\n",
          "x\r\ntouch canary\r\n",
          "x\rtouch canary",
          "a\0b",
          "a\tb",
          "\u001b]0;x\u0007",
          "\u007f",
          "x\u0085touch canary",
          "x\u2028touch canary",
          "x\u2029#SBATCH --uid=0",
          "\u202etxt.exe",
          "a\u2066b\u2069",
          "a\u200bb",
          "\ufeffx",
          "\ud83d",
          "x\udc00",
          "[=x]",
          "[=stage]",
          "${x}",
          "${stage?interpret}",
          "[=\"freemarker.template.utility.Execute\"?new()(\"touch canary\")]",
          "<#include '/etc/passwd'>",
          "<#assign stage='x'>",
          "x?interpret",
          "[#--",
          "<#--",
          "</#if>",
          "<@words/>",
          "-rf",
          "--uid=0",
          "--wrap=touch canary",
          "-",
          "../../../../etc/passwd",
          "/../../etc/passwd",
          "..",
          ".",
          "~root",
          "%j",
          "%A_%a %%",
          "*",
          "{a,b}",
          "[a-z]",
          "!!",
          "'",
          "\"",
          "\\",
          "`",
          "''",
          "\"\"",
          "\u00ab\u201c\u2018\u2019\u201d\u00bb",
          " ",
          "  x  ",
          "",
          "null",
          "~",
          "true",
          "1e999",
          ".inf",
          "010",
          "#",
          "x # y",
          "a: b",
          "- a",
          "&a",
          "*a",
          "!!python/object:os.system",
          "${env:HOME",
          "${env:CANARY:-$(touch canary)}",
          "$IFS",
          "\\n",
          "EOF\ntouch canary\nEOF",
          "x".repeat(5_000),
          "\u00fc".repeat(200),
          "9".repeat(100_000),
          "9".repeat(100_000) + "B",
          "END,".repeat(25_000) + "END",
          "options." + "a.".repeat(25_000) + "a",
          "0".repeat(50_000) + "." + "0".repeat(50_000));

  private final SplittableRandom random;

  public HostileText(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** The worst that is known, then some drawn ones. */
  public static List<String> worst(long seed, int drawn) {
    List<String> texts = new ArrayList<>(WORST);
    HostileText hostile = new HostileText(seed);
    while (texts.size() < WORST.size() + drawn) {
      texts.add(hostile.next());
    }
    return texts;
  }

  /** Up to six pieces in any order; never empty. */
  public String next() {
    StringBuilder text = new StringBuilder();
    for (int n = 1 + random.nextInt(6); n > 0; n--) {
      text.append(PIECES.get(random.nextInt(PIECES.size())));
    }
    return text.toString();
  }

  /** The same, with storage tiers among the pieces. */
  String nextWithTiers() {
    return random.nextInt(4) == 0
        ? next() + TIERS.get(random.nextInt(TIERS.size())) + next()
        : next();
  }

  /** The name of one file or folder, in which a path's references would not be taken as such. */
  String nextName() {
    String name = next().replace("/", "").replace("${", "$ {");
    return name.startsWith(".") ? "x" + name : name;
  }

  /** Several lines, as the text of a shell stage may have them. */
  String nextLines() {
    return next() + "\n\t" + next() + "\n\n" + next() + (random.nextBoolean() ? "\n" : "");
  }

  List<String> many(int count) {
    List<String> texts = new ArrayList<>();
    while (texts.size() < count) {
      texts.add(nextWithTiers());
    }
    return texts;
  }
}
