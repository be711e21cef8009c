package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a check found.
 *
 * @param check the name of the check
 * @param says what is so, without a full stop
 * @param affects what does not work because of it; empty if it is well
 * @param remedies what removes it, in order; usually one command
 */
record CheckFinding(
    String check, Result result, String says, String affects, List<Advice> remedies) {
  private static final Pattern PLACE = Pattern.compile("(\\S+?):(\\d+):\\d+: ");

  /** How a check ended, the least urgent first. */
  enum Result {
    /** Nothing is wrong. */
    OK,
    /** The check could not look. */
    UNKNOWN,
    /** It works, and could be better, or will soon stop to work. */
    ADVICE,
    /** Something that runs need does not work. */
    FAILED;

    /** Returns the word in the output. */
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  static CheckFinding ok(String check, String says) {
    return new CheckFinding(check, Result.OK, says, "", List.of());
  }

  static CheckFinding unknown(String check, String why, Advice... remedies) {
    return new CheckFinding(check, Result.UNKNOWN, why, "", List.of(remedies));
  }

  static CheckFinding advice(String check, String says, String affects, Advice... remedies) {
    return new CheckFinding(check, Result.ADVICE, says, affects, List.of(remedies));
  }

  static CheckFinding failed(String check, String says, String affects, Advice... remedies) {
    return new CheckFinding(check, Result.FAILED, says, affects, List.of(remedies));
  }

  /** Returns a failure with an error's words and its own advice; of a file, to open it there. */
  static CheckFinding failed(String check, NexaException error, String affects) {
    String says = String.valueOf(error.getMessage());
    Matcher place = PLACE.matcher(says);
    List<Advice> advice =
        error.advice().isEmpty() && place.lookingAt()
            ? List.of(Advice.command("correct it", "vi", "+" + place.group(2), place.group(1)))
            : error.advice();
    return new CheckFinding(check, Result.FAILED, says, affects, advice);
  }

  boolean isOk() {
    return result == Result.OK;
  }

  JsonObject toJson() {
    return new JsonObject()
        .with("check", check)
        .with("result", result.text())
        .with("says", says)
        .with("affects", affects.isEmpty() ? null : affects)
        .with("remedies", remedies.stream().map(Advice::toString).toList());
  }
}
