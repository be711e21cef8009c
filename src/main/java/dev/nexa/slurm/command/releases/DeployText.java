package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.command.releases.DeployRelease.Checked;
import dev.nexa.slurm.command.releases.DeployRelease.Outcome;
import dev.nexa.slurm.storage.releases.DeployCheck;
import dev.nexa.slurm.storage.releases.HistoryLine;
import dev.nexa.slurm.storage.releases.HistoryLine.Action;
import dev.nexa.slurm.storage.releases.HistoryLine.What;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.ReleaseSignatures;
import dev.nexa.slurm.storage.releases.SignOff;
import java.util.List;
import java.util.Optional;

/** The text that {@code release deploy}, {@code rollback} and {@code show} print. */
final class DeployText {
  static final String NOBODY_ASKED = "nobody has asked the model anything";

  private DeployText() {}

  static void line(StringBuilder text, String word, String value) {
    text.append(String.format("  %-10s %s%n", word, VisibleText.line(value)));
  }

  /** Returns the facts of a release, a line for each. */
  static String facts(String digest, ReleaseFile document, ReleaseSignatures signatures) {
    StringBuilder text = new StringBuilder();
    line(text, "digest", digest);
    line(text, "run", document.origin().run() + ", submitted by " + document.origin().submitter());
    line(
        text,
        "gate",
        document
            .gate()
            .map(
                gate ->
                    "%s: %s (%s)"
                        .formatted(
                            gate.passed() ? "passed" : "failed",
                            DeployCheck.reason(gate.figures()),
                            gate.run()))
            .orElse("none"));
    List<String> signed =
        signatures.valid().stream().map(one -> one.signer() + " at " + one.at()).toList();
    line(text, "signed by", signed.isEmpty() ? "nobody" : String.join(", ", signed));
    line(
        text,
        "pickles",
        document.pickles().isEmpty() ? "none" : String.join(", ", document.pickles()));
    return text.toString();
  }

  /** Returns what a switch will do. */
  static String plan(Checked release, String verb, String smoke) {
    StringBuilder text = new StringBuilder();
    text.append(verb).append(' ').append(release.name()).append(System.lineSeparator());
    line(text, "replaces", release.before().orElse("nothing: no release is in production"));
    text.append(facts(release.digest(), release.document(), release.signatures()));
    release.records().ifPresent(words -> line(text, "records", words));
    if (!smoke.isEmpty()) {
      line(
          text,
          "smoke test",
          smoke.equals(What.NO_SMOKE)
              ? "none: nobody asks the model anything before users do"
              : smoke);
    }
    return text.toString();
  }

  /** Returns the document of a call. */
  static JsonObject json(Outcome outcome) {
    Checked release = outcome.release();
    return JsonObject.ofVersion(1)
        .with("release", release.name())
        .with("release_digest", release.digest())
        .with("changed", outcome.line().isPresent() && !outcome.already())
        .with(
            "in_production",
            outcome
                .line()
                .map(line -> line.what().release())
                .orElse(outcome.already() ? Optional.of(release.name()) : release.before())
                .orElse(null))
        .with("replaced", release.before().orElse(null))
        .with("signed_by", release.signatures().valid().stream().map(SignOff::signer).toList())
        .withOptional("records", release.records())
        .with("gate", release.document().gate().map(gate -> gate.figures()).orElse(null))
        .with("line", outcome.line().map(HistoryLine::json).orElse(null));
  }

  /** Returns the sentence about the last line of a call. */
  static String done(HistoryLine line) {
    What what = line.what();
    String now = what.release().orElse("no release");
    if (what.action() == Action.DEPLOYED) {
      return now
          + " is in production"
          + (what.smoke().equals(What.NO_SMOKE)
              ? "; no smoke test was made: " + NOBODY_ASKED
              : "; smoke test passed: " + what.smoke());
    }
    return now + " is in production again, in place of " + what.from().orElse("no release");
  }
}
