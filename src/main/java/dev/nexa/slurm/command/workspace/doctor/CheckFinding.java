package dev.nexa.slurm.command.workspace.doctor;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;
import java.util.List;

/**
 * What a check found.
 *
 * @param check the name of the check; empty until the check has ended
 * @param says what the check found, without a full stop
 * @param affects what does not work because of it; empty if it is well
 * @param remedies what removes it, in order; usually one command
 */
record CheckFinding(
    String check, Result result, String says, String affects, List<Advice> remedies) {
  CheckFinding {
    // Slurm's clients print several lines, and a file can have several problems.
    says = says.strip().replaceAll(":\\s*\n\\s*", ": ").replaceAll("\\s*\n\\s*", "; ");
  }

  /** How a check ended, the least urgent first. */
  enum Result implements InLowerCase {
    /** Nothing is wrong. */
    OK,
    /** The check could not look. */
    UNKNOWN,
    /** It works, and could be better, or will soon stop to work. */
    ADVICE,
    /** Something that runs need does not work. */
    FAILED
  }

  static CheckFinding ok(String says) {
    return new CheckFinding("", Result.OK, says, "", List.of());
  }

  static CheckFinding unknown(String why, Advice... remedies) {
    return new CheckFinding("", Result.UNKNOWN, why, "", List.of(remedies));
  }

  static CheckFinding advice(String says, String affects, Advice... remedies) {
    return new CheckFinding("", Result.ADVICE, says, affects, List.of(remedies));
  }

  static CheckFinding failed(String says, String affects, Advice... remedies) {
    return new CheckFinding("", Result.FAILED, says, affects, List.of(remedies));
  }

  /** Returns a failure, or advice. */
  static CheckFinding found(boolean fails, String says, String affects, Advice... remedies) {
    return fails ? failed(says, affects, remedies) : advice(says, affects, remedies);
  }

  /** Returns a failure with an error's words and its own advice; of a file, to correct it there. */
  static CheckFinding failed(NexaException error, String affects) {
    String says = String.valueOf(error.getMessage());
    Advice other = Advice.step("fix what it names, or ask who owns it");
    List<Advice> advice =
        error.advice().isEmpty()
            ? List.of(Access.changeAt(says, "correct").orElse(other))
            : error.advice();
    return failed(says, affects).with(advice);
  }

  /** Returns the findings; if there are none, one that says what is well. */
  static List<CheckFinding> orOk(List<CheckFinding> findings, String says) {
    return findings.isEmpty() ? List.of(ok(says)) : findings;
  }

  CheckFinding with(List<Advice> other) {
    return new CheckFinding(check, result, says, affects, other);
  }

  CheckFinding affecting(String what) {
    return new CheckFinding(check, result, says, what, remedies);
  }

  /** Returns the finding as the check's. */
  CheckFinding of(String name) {
    return new CheckFinding(name, result, says, affects, remedies);
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
