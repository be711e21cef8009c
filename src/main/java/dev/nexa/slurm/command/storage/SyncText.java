package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.storage.sync.Action.Kind;
import dev.nexa.slurm.storage.sync.Action.Why;
import dev.nexa.slurm.storage.sync.S3Place;
import dev.nexa.slurm.storage.sync.SyncOptions.Direction;
import dev.nexa.slurm.storage.sync.SyncPlan;
import dev.nexa.slurm.storage.sync.SyncReport;
import dev.nexa.slurm.storage.sync.SyncReport.Outcome;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The output of {@code sync}, for people and as JSON. */
record SyncText(Path folder, S3Place s3, Direction direction) {
  private static final int SHOWN = 20;
  private static final int IN_JSON = 10_000;

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
  String plan(SyncPlan plan, boolean all) {
    StringBuilder text = new StringBuilder(source() + " → " + target() + "\n");
    line(text, "new", plan.count(Kind.NEW));
    line(text, "replaced", plan.count(Kind.REPLACE));
    line(text, "compared", plan.compared());
    line(text, "conflicts", plan.count(Kind.CONFLICT));
    line(text, "deleted", plan.count(Kind.DELETE));
    if (plan.deletedNeverSynced() > 0) {
      text.append("    never synced: " + files(plan.deletedNeverSynced()) + "\n");
    }
    line(text, "unchanged", plan.count(Kind.SAME));
    line(text, "only at target", plan.count(Kind.LEAVE));
    long[] shown = {0, 0};
    plan.forEach(
        planned -> {
          boolean risky = planned.kind() == Kind.DELETE || planned.kind() == Kind.CONFLICT;
          if (all || risky) {
            int kind = risky ? 1 : 0;
            if (++shown[kind] <= SHOWN) {
              String size = Memory.rounded(planned.bytes(direction));
              String path = VisibleText.line(planned.path());
              String why =
                  risky && planned.why() == Why.NEVER_SYNCED
                      ? " (never synced)"
                      : planned.obstacle().map(what -> " (" + what + ")").orElse("");
              text.append("    %-8s  %10s  %s%s%n".formatted(planned.word(), size, path, why));
            }
          }
        });
    long more = Math.max(0, shown[0] - SHOWN) + Math.max(0, shown[1] - SHOWN);
    if (more > 0) {
      text.append("    and " + files(more) + " more; --json names up to 10,000\n");
    }
    return text + skipped(plan);
  }

  private static void line(StringBuilder text, String what, SyncPlan.Count count) {
    if (count.files() > 0) {
      String bytes = Memory.rounded(count.bytes());
      text.append("  %-14s  %14s  %10s%n".formatted(what, files(count.files()), bytes));
    }
  }

  /** Returns the names that are not copied, with the reasons; empty if there are none. */
  String skipped(SyncPlan plan) {
    StringBuilder text = new StringBuilder();
    List<SyncPlan.Skipped> named = plan.skipped();
    for (SyncPlan.Skipped name : named.subList(0, Math.min(SHOWN, named.size()))) {
      text.append("  skipped: " + VisibleText.line(name.path()) + " (" + name.reason() + ")\n");
    }
    return plan.skippedFiles() > SHOWN
        ? text + "  skipped: " + files(plan.skippedFiles() - SHOWN) + " more\n"
        : text.toString();
  }

  String done(SyncReport report) {
    long kept = report.count(Outcome.NOT_DELETED);
    return files(report.count(Outcome.COPIED))
        + (" copied, " + Memory.rounded(report.bytes()) + " moved")
        + counted("; ", report.count(Outcome.SAME), " found equal")
        + counted("; ", report.count(Outcome.DELETED), " deleted")
        + counted("; ", kept, " not deleted, because other files were not synced")
        + counted(
            "\n",
            report.count(Outcome.UNCHECKED),
            " could not be checked: S3 keeps no digest of objects that another program uploaded in parts");
  }

  private static String counted(String before, long files, String after) {
    return files > 0 ? before + files(files) + after : "";
  }

  /** Returns what was not synced, with the names. */
  String incomplete(SyncPlan plan, SyncReport report) {
    long conflicts = report.count(Outcome.CONFLICT);
    List<String> parts = new ArrayList<>();
    parts.add(counted("", report.count(Outcome.FAILED), " could not be synced"));
    parts.add(
        counted(
            "", conflicts, (conflicts == 1 ? " was" : " were") + " not replaced at " + target()));
    parts.add(plan.complete() ? "" : "not all names of " + source() + " could be read or copied");
    parts.removeIf(String::isEmpty);
    return String.join("; ", parts) + named(report);
  }

  /** Returns what is not equal, with the names. */
  String differs(SyncPlan plan, SyncReport report) {
    long differing = report.count(Outcome.DIFFERING);
    List<String> parts = new ArrayList<>();
    parts.add(counted("", differing, differing == 1 ? " differs" : " differ"));
    parts.add(counted("", report.count(Outcome.NOT_COMPARED), " could not be compared"));
    parts.add(counted("", report.count(Outcome.FAILED), " could not be read"));
    parts.add(plan.complete() ? "" : "not all names of " + folder + " could be read");
    parts.removeIf(String::isEmpty);
    return String.join("; ", parts) + named(report);
  }

  private static String named(SyncReport report) {
    StringBuilder text = new StringBuilder();
    List<SyncReport.Named> named = report.named();
    for (SyncReport.Named file : named.subList(0, Math.min(SHOWN, named.size()))) {
      text.append("\n  " + VisibleText.line(file.path()) + ": " + file.reason());
    }
    return named.size() > SHOWN ? text + "\n  and more" : text.toString();
  }

  String equal(SyncReport report) {
    return "%s of %s and %s are equal"
        .formatted(files(report.count(Outcome.SAME)), folder, s3.address());
  }

  /** Returns that the source has no files. */
  String empty(boolean verify, boolean filtered) {
    String kind = direction == Direction.PULL || verify ? " no objects" : " no files";
    String where =
        verify ? folder + " has no files, and " + s3.address() + " has" : source() + " has";
    return where + kind + (filtered ? " that --include and --exclude take" : "");
  }

  JsonObject document(SyncPlan plan) {
    List<JsonObject> planned = new ArrayList<>();
    plan.forEach(
        file -> {
          if (planned.size() < IN_JSON) {
            planned.add(
                new JsonObject()
                    .with("action", file.word())
                    .with("path", file.path())
                    .with("bytes", file.bytes(direction))
                    .with("never_synced", file.why() == Why.NEVER_SYNCED)
                    .withOptional("obstacle", file.obstacle()));
          }
        });
    List<JsonObject> skipped =
        plan.skipped().stream()
            .map(name -> new JsonObject().with("path", name.path()).with("reason", name.reason()))
            .toList();
    return JsonObject.ofVersion(1)
        .with("source", source())
        .with("target", target())
        .with("new", Codec.write(plan.count(Kind.NEW)))
        .with("replaced", Codec.write(plan.count(Kind.REPLACE)))
        .with("compared", Codec.write(plan.compared()))
        .with("conflicts", Codec.write(plan.count(Kind.CONFLICT)))
        .with("deleted", Codec.write(plan.count(Kind.DELETE)))
        .with("unchanged", Codec.write(plan.count(Kind.SAME)))
        .with("only_at_target", Codec.write(plan.count(Kind.LEAVE)))
        .with("files", planned)
        .with("skipped", skipped)
        .with("skipped_files", plan.skippedFiles())
        .with("complete", plan.complete());
  }

  JsonObject verified(SyncPlan plan, SyncReport report) {
    return JsonObject.ofVersion(1)
        .with("folder", folder.toString())
        .with("address", s3.address())
        .with("equal", report.count(Outcome.SAME))
        .with("differing", report.count(Outcome.DIFFERING))
        .with("not_compared", report.count(Outcome.NOT_COMPARED))
        .with("failed", report.count(Outcome.FAILED))
        .with("skipped_files", plan.skippedFiles())
        .with("complete", plan.complete())
        .with("files", named(report.named()));
  }

  /**
   * Returns what a run's metrics get of a push.
   *
   * @param whole whether all files of the folder are at the address now
   */
  JsonObject metrics(SyncPlan plan, SyncReport report, boolean whole) {
    JsonObject metrics =
        new JsonObject()
            .with("address", s3.address())
            .with("copied_files", report.count(Outcome.COPIED));
    return whole
        ? metrics
            .with("files", plan.sourceFiles())
            .with(
                "bytes",
                plan.count(Kind.SAME).bytes() + plan.copied().bytes() + plan.compared().bytes())
        : metrics;
  }

  /** Returns the results of a plan. */
  static JsonObject result(SyncReport report) {
    return new JsonObject()
        .with("copied", report.count(Outcome.COPIED))
        .with("bytes", report.bytes())
        .with("found_equal", report.count(Outcome.SAME))
        .with("unchecked", report.count(Outcome.UNCHECKED))
        .with("deleted", report.count(Outcome.DELETED))
        .with("not_deleted", report.count(Outcome.NOT_DELETED))
        .with("conflicts", report.count(Outcome.CONFLICT))
        .with("failed", report.count(Outcome.FAILED))
        .with("files", named(report.named()));
  }

  private static List<JsonObject> named(List<SyncReport.Named> files) {
    return files.stream().map(Codec::write).toList();
  }
}
