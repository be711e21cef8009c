package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.base.units.Money;
import dev.nexa.slurm.base.units.PlainTime;
import dev.nexa.slurm.base.units.Plural;
import dev.nexa.slurm.base.units.Span;
import dev.nexa.slurm.job.config.site.PriceBook;
import dev.nexa.slurm.job.config.site.PricedUnit;
import dev.nexa.slurm.storage.archive.ArchiveFile;
import dev.nexa.slurm.storage.archive.ArchiveJournal.UnfinishedBundle;
import dev.nexa.slurm.storage.archive.ArchiveRuns.Archived;
import dev.nexa.slurm.storage.archive.BundleState;
import dev.nexa.slurm.storage.cleanup.WholeRun;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

/** The output of {@code archive}. */
final class ArchiveText {
  private static final Columns<WholeRun> ARCHIVES =
      new Columns<WholeRun>()
          .text("archives", one -> one.run().value())
          .number("files", WholeRun::files)
          .text("bytes", one -> Memory.plain(one.bytes()))
          .right()
          .note("folders", ArchiveText::folders);

  private static final Columns<WholeRun> KEEPS =
      new Columns<WholeRun>()
          .text("keeps", one -> one.run().value())
          .note("why", one -> one.kept().orElse(""));

  private ArchiveText() {}

  /**
   * A row of {@code archive list}.
   *
   * @param bundle what a look at the bundle found; empty for a bundle in S3, which is not asked
   */
  record Row(
      ArchiveFile archive, Optional<Month> month, boolean onDisk, Optional<BundleState> bundle) {
    private String state() {
      return bundle.map(look -> look.kind().name().toLowerCase(Locale.ROOT)).orElse("not asked");
    }
  }

  /** The cost of a month of 730 hours, not rounded. */
  record Month(BigDecimal exact, String currency) {
    String words() {
      return Money.line(BigDecimal.ONE, exact, currency).words(exact);
    }
  }

  private static final Columns<Row> LIST =
      new Columns<Row>()
          .text("run_id", row -> row.archive().run().value())
          .as("RUN")
          .text("archived", row -> PlainTime.utc(row.archive().archived()))
          .number("files", row -> row.archive().count())
          .text("bytes", row -> Memory.plain(row.archive().bytes()))
          .right()
          .text("bundle", row -> Memory.plain(row.archive().bundle().bytes()))
          .right()
          .text("class", row -> row.archive().storageClass().orElse("-"))
          .text("month", row -> row.month().map(Month::words).orElse("-"))
          .as("PRICE A MONTH")
          .right()
          .text("on_disk", row -> row.onDisk() ? "yes" : "no")
          .as("ON DISK")
          .text("state", Row::state)
          .note("where", row -> row.archive().where());

  private static String folders(WholeRun run) {
    return run.folders().stream()
        .map(folder -> folder.full().toString())
        .collect(Collectors.joining(", "));
  }

  /** Returns the price of a bundle for a month of 730 hours; empty if the book has no price. */
  static Optional<Month> month(ArchiveFile archive, PriceBook book) {
    BigDecimal gigabytes = BigDecimal.valueOf(archive.bundle().bytes()).movePointLeft(9);
    return book.prices()
        .of(PricedUnit.ARCHIVE)
        .map(price -> new Month(gigabytes.multiply(price.price()), book.currency()));
  }

  /** Returns the plan. */
  static String plan(List<WholeRun> goes, List<WholeRun> stays, String place, TableStyle style) {
    StringBuilder text = new StringBuilder();
    if (!stays.isEmpty()) {
      text.append(KEEPS.of(stays).table(style)).append('\n');
    }
    if (goes.isEmpty()) {
      return text.append("nothing to archive\n").toString();
    }
    return text.append(ARCHIVES.of(goes).table(style))
        .append("%s, %s, to %s\n".formatted(runs(goes.size()), Memory.plain(bytes(goes)), place))
        .toString();
  }

  private static long bytes(List<WholeRun> runs) {
    return runs.stream().mapToLong(WholeRun::bytes).sum();
  }

  static String runs(int count) {
    return Plural.of(count, "run");
  }

  /** Returns the question before anything is written. */
  static String question(List<WholeRun> goes, Duration grace) {
    return "Archive %s, and move %s into the trash for %s?"
        .formatted(runs(goes.size()), Memory.plain(bytes(goes)), Span.text(grace));
  }

  /** Returns the result for a run. */
  static String done(Archived one, Duration grace) {
    StringBuilder text = new StringBuilder();
    if (one.archive().isPresent()) {
      ArchiveFile archive = one.archive().get();
      text.append(
          "archived %s: %s, %s as %s in %s\n"
              .formatted(
                  archive.run(),
                  Plural.of(archive.count(), "file"),
                  Memory.plain(archive.bytes()),
                  Memory.plain(archive.bundle().bytes()),
                  archive.where()));
    }
    if (one.cleanup().isPresent()) {
      text.append(
          "  its durable files are in the trash%s; to bring them back: nexa-slurm cleanup --undo %s\n"
              .formatted(grace.isZero() ? "" : " for " + Span.text(grace), one.cleanup().get()));
    }
    return text.toString();
  }

  /** Returns the document of a plan, and of what was done. */
  static JsonObject document(
      List<WholeRun> goes, List<WholeRun> stays, String place, Optional<List<Archived>> done) {
    return JsonObject.ofVersion(1)
        .with("place", place)
        .with("archives", goes.stream().map(ArchiveText::json).toList())
        .with("keeps", stays.stream().map(ArchiveText::kept).toList())
        .with("acted", done.isPresent())
        .withOptional("done", done.map(all -> all.stream().map(ArchiveText::json).toList()));
  }

  private static JsonObject json(WholeRun run) {
    return new JsonObject()
        .with("run_id", run.run().value())
        .with("folders", run.folders().stream().map(one -> one.full().toString()).toList())
        .with("files", run.files())
        .with("bytes", run.bytes());
  }

  private static JsonObject kept(WholeRun run) {
    return new JsonObject().with("run_id", run.run().value()).with("reason", run.kept().orElse(""));
  }

  private static JsonObject json(Archived one) {
    return new JsonObject()
        .with("run_id", one.run().run().value())
        .with("bundle", one.archive().map(ArchiveFile::where).orElse(null))
        .with("cleanup_id", one.cleanup().orElse(null))
        .with("error", one.failed().map(NexaException::getMessage).orElse(null))
        .with("code", one.failed().map(failed -> failed.code().text()).orElse(null));
  }

  /** Returns the table of archives. */
  static String list(List<Row> rows, TableStyle style) {
    return rows.isEmpty() ? "no run of this workspace is archived\n" : LIST.of(rows).table(style);
  }

  /** Returns the document of the list. */
  static JsonObject list(List<Row> rows, List<UnfinishedBundle> unfinished) {
    return JsonObject.ofVersion(1)
        .with("archives", rows.stream().map(ArchiveText::json).toList())
        .with("unfinished", unfinished.stream().map(ArchiveText::json).toList());
  }

  private static JsonObject json(UnfinishedBundle one) {
    return new JsonObject()
        .with("run_id", one.run().value())
        .with("file", one.file().toString())
        .with("bytes", one.bytes());
  }

  private static JsonObject json(Row row) {
    ArchiveFile archive = row.archive();
    return new JsonObject()
        .with("run_id", archive.run().value())
        .with("archived_at", archive.archived())
        .with("bundle", archive.where())
        .with("storage_class", archive.storageClass().orElse(null))
        .with("files", archive.count())
        .with("bytes", archive.bytes())
        .with("bundle_bytes", archive.bundle().bytes())
        .with("bundle_sha256", archive.bundle().sha256())
        .with("price_a_month", row.month().map(Month::exact).orElse(null))
        .with("currency", row.month().map(Month::currency).orElse(null))
        .with("on_disk", row.onDisk())
        .with("state", row.state());
  }
}
