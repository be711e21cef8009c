package dev.nexa.slurm.command.releases;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.storage.releases.ReleaseFile;
import dev.nexa.slurm.storage.releases.SignOff;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/** Prints releases. Pure. */
final class ReleaseText {
  /** At most so many names are printed on a line. */
  private static final int MOST_NAMES = 5;

  private ReleaseText() {}

  /**
   * A row of {@code release list}.
   *
   * @param signers the people whose signatures count; empty if that is not known
   */
  record Row(String name, String digest, ReleaseFile document, Optional<List<String>> signers) {}

  /** Returns the columns of {@code release list}. */
  static Listing<Row> listing(List<Row> rows) {
    return new Columns<Row>()
        .text("release", Row::name)
        .text("run", row -> VisibleText.line(row.document().origin().run()))
        .text("ended", row -> row.document().origin().ended().toString())
        .state("gate", row -> gate(row.document()))
        .text("signed by", row -> row.signers().map(ReleaseText::names).orElse("unknown"))
        .number("bytes", row -> row.document().bytes())
        .number("pickles", row -> row.document().pickles().size())
        .text("digest", row -> row.digest().substring(0, 12))
        .of(rows);
  }

  /** Returns a row as JSON. {@code signed_by} is null if the policy names no approvers. */
  static JsonObject json(Row row) {
    return new JsonObject()
        .with("release", row.name())
        .with("run", row.document().origin().run())
        .with("ended", row.document().origin().ended().toString())
        .with("gate", gate(row.document()))
        .with("signed_by", row.signers().orElse(null))
        .with("bytes", row.document().bytes())
        .with("pickles", (long) row.document().pickles().size())
        .with("digest", row.digest());
  }

  private static String names(List<String> signers) {
    return signers.isEmpty() ? "nobody" : VisibleText.line(String.join(", ", signers));
  }

  private static String gate(ReleaseFile release) {
    return release.gate().map(gate -> gate.passed() ? "passed" : "failed").orElse("none");
  }

  /** Returns the facts of a release, a line for each. Signers read them before they sign. */
  static String facts(ReleaseFile release) {
    StringBuilder text = new StringBuilder();
    line(text, "run", release.origin().run() + ", submitted by " + release.origin().submitter());
    release.origin().checkpoint().ifPresent(one -> line(text, "checkpoint", one));
    ReleaseFile.Model model = release.model();
    line(
        text,
        "model",
        model.modelClass().orElse("class unknown")
            + (model.adapter() ? ", an adapter of " : ", base ")
            + model.base().orElse(ReleaseFile.UNKNOWN));
    line(
        text,
        "datasets",
        names(
            release.datasets().stream().map(each -> each.reference()).toList(), "none registered"));
    line(
        text,
        "evaluation",
        release
            .evaluation()
            .map(it -> "by " + it.run() + maker(it) + metrics(it.summary()))
            .orElse("none was found"));
    line(
        text,
        "gate",
        release
            .gate()
            .map(
                it ->
                    "%s, by %s: %s"
                        .formatted(
                            it.passed() ? "passed" : "FAILED",
                            it.run(),
                            it.figures().optionalText("reason").orElse("no reason")))
            .orElse("none was found: `release deploy` needs a gate that passed"));
    release
        .gate()
        .filter(it -> !it.failedBefore().isEmpty())
        .map(
            it ->
                "before it, these gates of the same model failed: " + names(it.failedBefore(), ""))
        .ifPresent(failed -> line(text, "", failed));
    line(text, "licence", release.licence());
    line(text, "pickles", names(release.pickles(), "none"));
    line(
        text, "size", Memory.rounded(release.bytes()) + " in " + release.files().size() + " files");
    return text.toString();
  }

  /** A job can write any numbers; only the step score computes them from the answers. */
  private static String maker(ReleaseFile.Evaluation evaluation) {
    return evaluation
        .maker()
        .filter(maker -> !maker.equals("data.score"))
        .map(maker -> " (backend " + maker + ": nexa-slurm did not compute these numbers)")
        .orElse("");
  }

  private static String metrics(JsonObject summary) {
    List<?> all = summary.members().get("metrics") instanceof List<?> list ? list : List.of();
    String words =
        all.stream()
            .filter(JsonObject.class::isInstance)
            .limit(MOST_NAMES)
            .map(one -> ((JsonObject) one).members())
            .map(metric -> metric.get("metric") + " " + metric.get("value"))
            .collect(Collectors.joining(", "));
    return words.isEmpty() ? "" : ": " + words;
  }

  private static String names(List<String> names, String none) {
    return names.isEmpty() ? none : Plural.some(names, MOST_NAMES);
  }

  static void line(StringBuilder text, String word, String value) {
    text.append(String.format("  %-11s %s%n", word, VisibleText.line(value)));
  }

  /** Returns a signature that counts, as JSON. */
  static JsonObject json(SignOff signOff) {
    return new JsonObject()
        .with("signer", signOff.signer())
        .with("signed_at", signOff.at())
        .with("digest", signOff.digest());
  }
}
