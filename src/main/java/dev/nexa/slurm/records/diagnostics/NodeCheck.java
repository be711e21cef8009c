package dev.nexa.slurm.records.diagnostics;

import dev.nexa.slurm.base.text.InLowerCase;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;

/**
 * The finding of one check on one node: a line of templates/lib/diag.sh.
 *
 * @param value as the check printed it, mostly a number; {@code -} if there is none
 * @param limit the comparison and the limit, such as {@code <=95}; {@code >=-} for a number that
 *     only the node's own history judges
 * @param unit {@code -} if there is none
 * @param seconds how long the check took
 * @param text what it said besides; may be empty
 */
public record NodeCheck(
    String node,
    String check,
    Result result,
    String value,
    String limit,
    String unit,
    String seconds,
    String text) {
  private static final int FIELDS = 8;

  /** The four results. One that could not look says nothing: any other counts more. */
  public enum Result implements InLowerCase {
    UNKNOWN,
    OK,
    WARNING,
    CRITICAL;

    private static Optional<Result> of(String text) {
      return Stream.of(values()).filter(result -> result.text().equals(text)).findFirst();
    }
  }

  /** Returns the checks of these lines, in their order. A line of another form is left out. */
  public static List<NodeCheck> read(String lines) {
    List<NodeCheck> checks = new ArrayList<>();
    for (String line : lines.split("\n", -1)) {
      String[] field = line.split("\t", -1);
      Optional<Result> result = field.length == FIELDS ? Result.of(field[2]) : Optional.empty();
      if (result.isPresent()) {
        checks.add(
            new NodeCheck(
                field[0],
                field[1],
                result.get(),
                field[3],
                field[4],
                field[5],
                field[6],
                field[7]));
      }
    }
    return checks;
  }

  /** Returns the value of a check whose larger values are better; empty for any other check. */
  OptionalDouble figure() {
    return limit.startsWith(">=") && value.matches("[0-9]{1,15}(\\.[0-9]{1,6})?")
        ? OptionalDouble.of(Double.parseDouble(value))
        : OptionalDouble.empty();
  }

  /** Returns a copy that is a warning, with more text. */
  NodeCheck warning(String more) {
    String both = text.isEmpty() ? more : text + "; " + more;
    return new NodeCheck(node, check, Result.WARNING, value, limit, unit, seconds, both);
  }

  /** Returns what was found, in a few words: {@code gpus: 7 GPUs (==8)}. */
  public String words() {
    String what = value.equals("-") ? "" : " " + (value + " " + unit).replace(" -", "");
    String beyond = value.equals("-") || limit.endsWith("-") ? "" : " (" + limit + ")";
    return check + ":" + what + beyond + (text.isEmpty() ? "" : " " + text);
  }
}
