package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.storage.sync.Clutter.Done;
import dev.nexa.slurm.storage.sync.Clutter.Kept;
import dev.nexa.slurm.storage.sync.Clutter.Piece;
import dev.nexa.slurm.storage.sync.Clutter.Plan;
import dev.nexa.slurm.storage.sync.S3Place;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The output of {@code cleanup --s3}. */
record BucketText(S3Place place) {
  private static final Columns<Piece> REMOVES =
      new Columns<Piece>()
          .text("deletes", one -> VisibleText.line(one.key()))
          .text("bytes", one -> Memory.plain(one.bytes()))
          .right()
          .text("since", one -> one.since().toString().substring(0, "2025-11-01".length()))
          .note("why", Piece::why);

  private static final Columns<Piece> PIECES =
      new Columns<Piece>()
          .text("key", Piece::key)
          .text("upload_id", one -> one.uploadId().orElse(null))
          .number("bytes", Piece::bytes)
          .text("since", Piece::since)
          .text("why", Piece::why);

  private static final Columns<Kept> KEEPS =
      new Columns<Kept>()
          .text("keeps", one -> VisibleText.line(one.key()))
          .note("why", Kept::reason);

  /**
   * Returns the plan.
   *
   * @param quiet whether to leave out what is kept
   */
  String plan(Plan plan, boolean quiet, TableStyle style) {
    StringBuilder text = new StringBuilder();
    if (!quiet && !plan.keeps().isEmpty()) {
      text.append(KEEPS.of(plan.keeps()).table(style)).append('\n');
    }
    if (plan.removes().isEmpty()) {
      return text.append("nothing to delete in ").append(place.address()).append('\n').toString();
    }
    return text.append(REMOVES.of(plan.removes()).table(style))
        .append(sum(plan.removes()) + ", in " + place.address() + "\n")
        .toString();
  }

  /** Returns sentences about objects that are not named. */
  static List<String> notes(Plan plan) {
    List<String> notes = new ArrayList<>();
    if (plan.moreRemoved() > 0) {
      notes.add(
          plan.moreRemoved()
              + " further objects can be deleted: after this cleanup, type the command again");
    }
    if (plan.moreKept() > 0) {
      notes.add(plan.moreKept() + " further objects are kept");
    }
    return notes;
  }

  /** Returns what the plan does: {@code delete 2 objects and 1 upload (1 GiB) in s3://b/x}. */
  String acts(Plan plan) {
    return "delete " + sum(plan.removes()) + ", in " + place.address() + " for good";
  }

  private static String sum(List<Piece> pieces) {
    long uploads = pieces.stream().filter(Piece::isUpload).count();
    long objects = pieces.size() - uploads;
    List<String> parts = new ArrayList<>();
    if (objects > 0) {
      parts.add(Plural.of(objects, "object"));
    }
    if (uploads > 0) {
      parts.add(Plural.of(uploads, "unfinished upload"));
    }
    long bytes = pieces.stream().mapToLong(Piece::bytes).sum();
    return String.join(" and ", parts) + " (" + Memory.plain(bytes) + ")";
  }

  /** Returns the result of the cleanup. */
  static String done(Done done, Path journal) {
    StringBuilder text = new StringBuilder();
    if (!done.removed().isEmpty()) {
      text.append("deleted ").append(sum(done.removed())).append('\n');
    }
    for (Kept one : done.failed()) {
      text.append("not deleted: " + VisibleText.line(one.key()) + ": " + one.reason() + "\n");
    }
    return text.append("each key is in ").append(journal).append('\n').toString();
  }

  /**
   * Returns the document of the command.
   *
   * @param refused why the limit does not allow it; empty if it does
   * @param done what was deleted; empty if nothing was to be done
   * @param journal the journal's file, if something was done
   */
  JsonObject document(
      Plan plan, Optional<String> refused, Optional<Done> done, Optional<Path> journal) {
    return JsonObject.ofVersion(1)
        .with("address", place.address())
        .with("objects", plan.objects())
        .with("removes", PIECES.of(plan.removes()).json())
        .with("bytes", plan.bytes())
        .with("keeps", kept(plan.keeps()))
        .with("notes", notes(plan))
        .with("refused", refused.orElse(null))
        .with("acted", done.isPresent())
        .withOptional("deleted", done.map(it -> it.removed().stream().map(Piece::key).toList()))
        .withOptional("failed", done.map(it -> kept(it.failed())))
        .withOptional("journal", journal.map(Path::toString));
  }

  private static List<JsonObject> kept(List<Kept> kept) {
    return kept.stream().map(Codec::write).toList();
  }
}
