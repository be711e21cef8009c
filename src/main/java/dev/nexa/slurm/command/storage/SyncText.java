package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.storage.sync.Direction;
import dev.nexa.slurm.storage.sync.PlanReport;
import dev.nexa.slurm.storage.sync.PlanReport.Count;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.Skipped;
import dev.nexa.slurm.storage.sync.SyncReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** What {@code sync} prints, for people and as JSON. */
final class SyncText {
  private static final int SHOWN = 20;
  private static final int IN_JSON = 10_000;

  private final Path folder;
  private final S3Place s3;
  private final Direction direction;

  SyncText(Path folder, S3Place s3, Direction direction) {
    this.folder = folder;
    this.s3 = s3;
    this.direction = direction;
  }

  static String files(long files) {
    return files == 1 ? "1 file" : String.format(Locale.ROOT, "%,d files", files);
  }

  private String source() {
    return direction == Direction.PUSH ? folder.toString() : s3.address();
  }

  private String target() {
    return direction == Direction.PUSH ? s3.address() : folder.toString();
  }

  /**
   * Returns the plan.
   *
   * @param all whether to name also new and replaced files, not only those at risk
   */
  String plan(PlanReport plan, boolean all) {
    StringBuilder text = new StringBuilder(source() + " → " + target() + "\n");
    line(text, "new", plan.added());
    line(text, "replaced", plan.replaced());
    line(text, "compared", plan.compared());
    line(text, "conflicts", plan.conflicts());
    line(text, "deleted", plan.deleted());
    line(text, "unchanged", plan.same());
    line(text, "only there", plan.left());
    long[] shown = {0, 0};
    plan.forEach(
        planned -> {
          boolean risky = planned.action().equals("delete") || planned.action().equals("conflict");
          if (all || risky) {
            int kind = risky ? 1 : 0;
            shown[kind]++;
            if (shown[kind] <= SHOWN) {
              text.append(
                  String.format(
                      Locale.ROOT,
                      "    %-8s  %10s  %s%n",
                      planned.action(),
                      Memory.rounded(planned.bytes()),
                      planned.path()));
            }
          }
        });
    long more = Math.max(0, shown[0] - SHOWN) + Math.max(0, shown[1] - SHOWN);
    if (more > 0) {
      text.append("    and " + files(more) + " more; --json names up to 10,000\n");
    }
    return text + skipped(plan);
  }

  private static void line(StringBuilder text, String what, Count count) {
    if (count.files() > 0) {
      text.append(
          String.format(
              Locale.ROOT,
              "  %-10s  %14s  %10s%n",
              what,
              files(count.files()),
              Memory.rounded(count.bytes())));
    }
  }

  /** Returns the names that are not copied, with the reasons; empty if there are none. */
  String skipped(PlanReport plan) {
    StringBuilder text = new StringBuilder();
    List<Skipped> named = plan.skipped();
    for (Skipped name : named.subList(0, Math.min(SHOWN, named.size()))) {
      text.append("  skipped: " + name.path() + " (" + name.reason() + ")\n");
    }
    return plan.skippedFiles() > SHOWN
        ? text + "  skipped: " + files(plan.skippedFiles() - SHOWN) + " more\n"
        : text.toString();
  }

  String done(SyncReport report) {
    String text = files(report.copied()) + " copied, " + Memory.rounded(report.bytes()) + " moved";
    text += report.same() > 0 ? "; " + files(report.same()) + " found equal" : "";
    text += report.deleted() > 0 ? "; " + files(report.deleted()) + " deleted" : "";
    text +=
        report.notDeleted() > 0
            ? "; " + files(report.notDeleted()) + " not deleted, because others failed"
            : "";
    return report.unchecked() > 0
        ? text
            + "\n"
            + files(report.unchecked())
            + " could not be checked: S3 keeps no digest of objects that another program uploaded in parts"
        : text;
  }

  String incomplete(SyncReport report) {
    String text =
        report.failed() > 0
            ? files(report.failed()) + " could not be synced"
            : files(report.conflicts()) + " stayed as they are at " + target();
    return text + named(report);
  }

  String differs(SyncReport report) {
    return files(report.differing() + report.failed()) + " differ" + named(report);
  }

  private static String named(SyncReport report) {
    StringBuilder text = new StringBuilder();
    List<SyncReport.Named> named = report.named();
    for (SyncReport.Named file : named.subList(0, Math.min(SHOWN, named.size()))) {
      text.append("\n  " + file.path() + ": " + file.reason());
    }
    return named.size() > SHOWN ? text + "\n  and more" : text.toString();
  }

  String equal(SyncReport report) {
    return files(report.same()) + " of " + folder + " and " + s3.address() + " are equal";
  }

  JsonObject document(PlanReport plan) {
    List<JsonObject> planned = new ArrayList<>();
    plan.forEach(
        file -> {
          if (planned.size() < IN_JSON) {
            planned.add(
                new JsonObject()
                    .with("action", file.action())
                    .with("path", file.path())
                    .with("bytes", file.bytes()));
          }
        });
    List<JsonObject> skipped = new ArrayList<>();
    plan.skipped()
        .forEach(
            name ->
                skipped.add(
                    new JsonObject().with("path", name.path()).with("reason", name.reason())));
    return new JsonObject()
        .with("schema_version", 1)
        .with("source", source())
        .with("target", target())
        .with("new", count(plan.added()))
        .with("replaced", count(plan.replaced()))
        .with("compared", count(plan.compared()))
        .with("conflicts", count(plan.conflicts()))
        .with("deleted", count(plan.deleted()))
        .with("unchanged", count(plan.same()))
        .with("only_at_target", count(plan.left()))
        .with("files", planned)
        .with("skipped", skipped)
        .with("skipped_files", plan.skippedFiles());
  }

  JsonObject document(PlanReport plan, SyncReport report) {
    return document(plan).with("result", result(report));
  }

  JsonObject verified(PlanReport plan, SyncReport report) {
    return new JsonObject()
        .with("schema_version", 1)
        .with("folder", folder.toString())
        .with("address", s3.address())
        .with("equal", report.same())
        .with("differing", report.differing())
        .with("failed", report.failed())
        .with("skipped_files", plan.skippedFiles())
        .with("files", named(report.named()));
  }

  private static JsonObject result(SyncReport report) {
    return new JsonObject()
        .with("copied", report.copied())
        .with("bytes", report.bytes())
        .with("found_equal", report.same())
        .with("unchecked", report.unchecked())
        .with("deleted", report.deleted())
        .with("not_deleted", report.notDeleted())
        .with("conflicts", report.conflicts())
        .with("failed", report.failed())
        .with("files", named(report.named()));
  }

  private static List<JsonObject> named(List<SyncReport.Named> files) {
    return files.stream()
        .map(file -> new JsonObject().with("path", file.path()).with("reason", file.reason()))
        .toList();
  }

  private static JsonObject count(Count count) {
    return new JsonObject().with("files", count.files()).with("bytes", count.bytes());
  }
}
