package dev.nexa.slurm.command.datasets;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.Listing;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Prints versions of datasets. Pure. */
final class DatasetText {
  /** {@code show} prints at most so many columns. */
  private static final int SHOWN_COLUMNS = 30;

  private DatasetText() {}

  /** Returns the columns of {@code datasets list}. */
  static Listing<DatasetVersion> listing(List<DatasetVersion> versions) {
    return new Columns<DatasetVersion>()
        .text("dataset", DatasetVersion::reference)
        .state("status", version -> version.status().word())
        .number("rows", version -> version.rows().orElse(null))
        .number("files", DatasetVersion::files)
        .number("bytes", DatasetVersion::bytes)
        .text("root", version -> version.root().substring(0, 12))
        .text("registered", version -> stated(version, "at"))
        .text("by", version -> stated(version, "by"))
        .text("path", version -> VisibleText.line(version.path()))
        .of(versions);
  }

  /** Returns a part of the statement who registered it, without control characters. */
  private static @Nullable String stated(DatasetVersion version, String key) {
    return version.statement("registered", key).map(VisibleText::line).orElse(null);
  }

  /** Returns the document of one version. */
  static JsonObject json(DatasetVersion version, Storage tiers) {
    return JsonObject.ofVersion(1)
        .with("dataset", version.reference())
        .with("name", version.name())
        .with("version", version.version())
        .with(version.json())
        .with("absolute_path", version.path(tiers));
  }

  /** Returns all that is known of a version, a line for each fact. */
  static String show(DatasetVersion version, Storage tiers, String list) {
    StringBuilder text = new StringBuilder(version.reference()).append('\n');
    line(text, "status", status(version));
    line(text, "path", version.path(tiers));
    line(text, "root", version.root());
    line(text, "size", size(version));
    line(text, "rows", version.rows().map(DatasetText::number).orElse("not read"));
    line(text, "licence", version.licence().orElse("not stated"));
    line(text, "source", version.source().orElse("not stated"));
    version.json().optionalText("description").ifPresent(it -> line(text, "description", it));
    if (!version.parents().isEmpty()) {
      line(text, "made of", String.join(", ", version.parents()));
    }
    version.run().ifPresent(it -> line(text, "made by", it));
    version.json().optionalText("pipeline").ifPresent(it -> line(text, "pipeline", it));
    line(text, "registered", statement(version, "registered"));
    if (version.statement("promoted", "by").isPresent()) {
      line(text, "promoted", statement(version, "promoted"));
    }
    if (version.statement("retired", "by").isPresent()) {
      line(text, "retired", statement(version, "retired"));
    }
    line(text, "checksums", list);
    int shown = 0;
    for (Map.Entry<String, String> column : version.schema().entrySet()) {
      if (shown++ < SHOWN_COLUMNS) {
        line(text, shown == 1 ? "columns" : "", column.getKey() + "  " + column.getValue());
      }
    }
    if (shown > SHOWN_COLUMNS) {
      line(text, "", "and " + (shown - SHOWN_COLUMNS) + " more; --json has all");
    }
    return text.toString();
  }

  private static String status(DatasetVersion version) {
    return version.status().word()
        + version.statement("retired", "reason").map(reason -> ": " + reason).orElse("");
  }

  /** Returns {@code retired as NAME@V by X on D: REASON}. */
  static String retired(DatasetVersion version) {
    Optional<String> at = version.statement("retired", "at");
    return VisibleText.line(
        "retired as %s by %s%s%s"
            .formatted(
                version.reference(),
                version.statement("retired", "by").orElse("an unknown user"),
                at.map(time -> " on " + time.replaceFirst("T.*", "")).orElse(""),
                version.statement("retired", "reason").map(": "::concat).orElse("")));
  }

  /** Returns how a person can use the bytes of a retired version. */
  static String again(DatasetVersion version) {
    return "to use these bytes again, register them under another name:"
        + " nexa-slurm datasets register "
        + Advice.command("", version.path())
        + " --name NAME";
  }

  private static String statement(DatasetVersion version, String what) {
    Optional<String> by = version.statement(what, "by");
    Optional<String> at = version.statement(what, "at");
    return at.orElse("at an unknown time") + " by " + by.orElse("an unknown user");
  }

  /** Returns the number of files and their size in words. */
  static String size(DatasetVersion version) {
    return number(version.files())
        + (version.files() == 1 ? " file, " : " files, ")
        + Memory.rounded(version.bytes());
  }

  /** Returns a number with commas. */
  static String number(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }

  private static void line(StringBuilder text, String label, String value) {
    text.append(String.format(Locale.ROOT, "  %-12s", label))
        .append(VisibleText.line(value))
        .append('\n');
  }

  /** A column that two versions have differently. */
  record ColumnChange(String column, String before, String after) {
    JsonObject toJson() {
      return new JsonObject()
          .with("column", column)
          .with("before", before.isEmpty() ? null : before)
          .with("after", after.isEmpty() ? null : after);
    }

    String words() {
      return before.isEmpty()
          ? "added: " + after
          : after.isEmpty() ? "removed: " + before : before + " before, " + after + " now";
    }
  }

  /** Returns the columns that differ; the missing side of a column is an empty text. */
  static List<ColumnChange> columns(DatasetVersion one, DatasetVersion other) {
    List<ColumnChange> changes = new ArrayList<>();
    Map<String, String> before = one.schema();
    Map<String, String> after = other.schema();
    Set<String> names = new LinkedHashSet<>(before.keySet());
    names.addAll(after.keySet());
    for (String name : names) {
      String was = before.getOrDefault(name, "");
      String is = after.getOrDefault(name, "");
      if (!was.equals(is)) {
        changes.add(new ColumnChange(name, was, is));
      }
    }
    return changes;
  }
}
