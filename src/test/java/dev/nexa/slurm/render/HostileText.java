package dev.nexa.slurm.render;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Text that gets out of quotes which were set by care: quotes, substitutions, escapes, globs, what
 * looks like an option or a comment. Whatever of it is executed leaves a file named {@code canary}.
 */
final class HostileText {
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

  private final SplittableRandom random;

  HostileText(long seed) {
    this.random = new SplittableRandom(seed);
  }

  /** Up to six pieces in any order; never empty. */
  String next() {
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
