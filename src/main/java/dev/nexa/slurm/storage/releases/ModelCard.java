package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.documents.ManifestFile;
import java.util.List;
import java.util.Locale;

/**
 * Writes the model card: README.md with the front matter of Hugging Face's hub. It holds facts of
 * the run's records only, and says of each missing fact that it is unknown. Pure.
 */
final class ModelCard {
  private ModelCard() {}

  /** Returns the card of a release. Equal facts give equal bytes. */
  static String text(ReleaseFile release, ManifestFile manifest) {
    StringBuilder card = new StringBuilder();
    frontMatter(card, release);
    card.append("# ").append(plain(release.origin().release())).append("\n\n");
    card.append(
        release.model().adapter()
            ? "A LoRA adapter. It needs its base model: "
            : "A model. Its base model: ");
    card.append(value(release.model().base().orElse(ReleaseFile.UNKNOWN))).append(".\n\n");
    if (!release.pickles().isEmpty()) {
      card.append("**Pickled files.** Loading them can run any code: ")
          .append(String.join(", ", release.pickles().stream().map(ModelCard::value).toList()))
          .append(".\n\n");
    }
    card.append("## Facts\n\n| fact | value |\n|---|---|\n");
    row(card, "run", release.origin().run());
    row(card, "ended", release.origin().ended().toString());
    row(card, "submitted by", release.origin().submitter().user());
    row(card, "stage", release.model().stage());
    row(card, "backend", release.model().backend().orElse(ReleaseFile.UNKNOWN));
    row(card, "class", release.model().modelClass().orElse(ReleaseFile.UNKNOWN));
    row(card, "hardware", manifest.hardware().orElse(ReleaseFile.UNKNOWN));
    row(card, "cost", manifest.cost().map(cost -> cost.toString()).orElse(ReleaseFile.UNKNOWN));
    row(card, "digest of the config", release.origin().configDigest());
    row(card, "licence", release.licence());
    row(card, "pipeline", release.pipeline().orElse("none"));
    datasets(card, release.datasets());
    if (!release.parents().isEmpty()) {
      card.append("\n## Earlier runs\n\n");
      release.parents().forEach(run -> card.append("- " + value(run) + "\n"));
    }
    evaluation(card, release);
    card.append(
        "\n## Not known\n\nNo record says what the model is meant for, or which limits and biases"
            + " it has.\n");
    return card.toString();
  }

  private static void frontMatter(StringBuilder card, ReleaseFile release) {
    card.append("---\n");
    boolean unknown = release.licence().equals(ReleaseFile.UNKNOWN);
    String licence = unknown ? "unknown" : quoted(release.licence().toLowerCase(Locale.ROOT));
    card.append("license: " + licence + "\n");
    release
        .model()
        .base()
        .filter(base -> !base.startsWith("/") && !base.contains("${"))
        .ifPresent(base -> card.append("base_model: " + quoted(base) + "\n"));
    if (release.model().adapter()) {
      card.append("library_name: peft\n");
    }
    if (!release.datasets().isEmpty()) {
      card.append("datasets:\n");
      release.datasets().forEach(one -> card.append("  - " + quoted(one.reference()) + "\n"));
    }
    List<JsonObject> metrics = metrics(release);
    if (!metrics.isEmpty()) {
      card.append("metrics:\n");
      metrics.forEach(one -> card.append("  - ").append(quoted(word(one, "metric"))).append('\n'));
    }
    card.append("---\n\n");
  }

  private static void datasets(StringBuilder card, List<ReleaseFile.Dataset> datasets) {
    card.append("\n## Data\n\n");
    if (datasets.isEmpty()) {
      card.append("No registered dataset. The plan, config.yaml, names what the run read.\n");
      return;
    }
    card.append("| dataset | root | licence |\n|---|---|---|\n");
    for (ReleaseFile.Dataset one : datasets) {
      cells(card, one.reference(), one.root(), one.licence().orElse(ReleaseFile.UNKNOWN));
    }
  }

  private static void evaluation(StringBuilder card, ReleaseFile release) {
    card.append("\n## Evaluation\n\n");
    if (release.evaluation().isEmpty()) {
      card.append("None.\n");
    } else {
      card.append("By the run ").append(value(release.evaluation().get().run())).append(".\n\n");
      card.append("| metric | value | 95 % interval | n |\n|---|---|---|---|\n");
      for (JsonObject one : metrics(release)) {
        String lower = word(one, "lower");
        String range = lower.isEmpty() ? ReleaseFile.UNKNOWN : lower + " to " + word(one, "upper");
        cells(card, word(one, "metric"), word(one, "value"), range, word(one, "n"));
      }
    }
    card.append("\n## Gate\n\n");
    if (release.gate().isEmpty()) {
      card.append("None.\n");
      return;
    }
    ReleaseFile.Gate gate = release.gate().get();
    String reason = plain(word(gate.figures(), "reason"));
    card.append(gate.passed() ? "Passed" : "**Failed**")
        .append(", by the run " + value(gate.run()) + ": " + reason + ".\n");
  }

  private static List<JsonObject> metrics(ReleaseFile release) {
    if (release.evaluation().isEmpty()
        || !(release.evaluation().get().summary().members().get("metrics")
            instanceof List<?> list)) {
      return List.of();
    }
    return list.stream().filter(JsonObject.class::isInstance).map(JsonObject.class::cast).toList();
  }

  private static String word(JsonObject json, String key) {
    Object value = json.members().get(key);
    return value == null ? "" : value.toString();
  }

  private static void row(StringBuilder card, String fact, String value) {
    card.append("| ").append(fact).append(" | ").append(value(value)).append(" |\n");
  }

  private static void cells(StringBuilder card, String... cells) {
    for (String cell : cells) {
      card.append("| ").append(value(cell)).append(' ');
    }
    card.append("|\n");
  }

  /** Returns a text as code, where Markdown and HTML have no effect. */
  private static String value(String text) {
    return "`" + VisibleText.line(text).replace("`", "'").replace("|", "\\|") + "`";
  }

  private static String plain(String text) {
    return VisibleText.line(text).replaceAll("([\\\\`*_{}\\[\\]<>#|!])", "\\\\$1");
  }

  /** Returns a text as a YAML string in double quotes. */
  private static String quoted(String text) {
    return dev.nexa.slurm.base.json.Json.compact(VisibleText.line(text));
  }
}
