package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.storage.tiers.MeasureTier.Measured;
import dev.nexa.slurm.storage.tiers.Usage;
import dev.nexa.slurm.storage.tiers.UsageKey;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The tables of {@code storage status}. */
final class StorageText {
  /** The most rows of a tier that people get without --limit. */
  static final int MOST_ROWS = 40;

  /** The keys of a sum in JSON. */
  static final Columns<Usage.Row> TOTAL =
      new Columns<Usage.Row>()
          .number("files", Usage.Row::files)
          .number("bytes", Usage.Row::bytes)
          .number("allocated_bytes", Usage.Row::allocated)
          .text("oldest", row -> row.oldest().orElse(null))
          .text("newest", row -> row.newest().orElse(null));

  private static final Columns<Measured> TIERS =
      new Columns<Measured>()
          .text("tier", one -> one.root().tier().key())
          .text("path", one -> one.root().path().toString())
          .number("files", one -> one.usage().total().files())
          .text("bytes", one -> Memory.plain(one.usage().total().bytes()))
          .right()
          .text("on disk", one -> Memory.plain(one.usage().total().allocated()))
          .right()
          .text("oldest", one -> day(one.usage().total().oldest()))
          .text("newest", one -> day(one.usage().total().newest()))
          .text("free", one -> Memory.plain(one.free()))
          .right()
          .text("of", one -> Memory.plain(one.size()))
          .right();

  private StorageText() {}

  /** Returns one line for each tier. */
  static String tiers(List<Measured> measured, TableStyle style) {
    return TIERS.of(measured).table(style);
  }

  /** Returns the largest rows of a tier, and a sentence about the others. */
  static String rows(Usage usage, UsageKey by, int most, TableStyle style) {
    List<Usage.Row> all = usage.rows();
    List<Usage.Row> shown = all.subList(0, Math.min(most, all.size()));
    String table =
        new Columns<Usage.Row>()
            .text(by.name().toLowerCase(Locale.ROOT), Usage.Row::key)
            .number("files", Usage.Row::files)
            .text("bytes", row -> Memory.plain(row.bytes()))
            .right()
            .text("on disk", row -> Memory.plain(row.allocated()))
            .right()
            .text("oldest", row -> day(row.oldest()))
            .text("newest", row -> day(row.newest()))
            .of(shown)
            .table(style);
    return all.size() <= most
        ? table
        : table + (all.size() - most) + " smaller rows are not shown; --limit N shows more\n";
  }

  private static String day(Optional<Instant> time) {
    return time.map(one -> one.toString().substring(0, "2025-11-01".length())).orElse("-");
  }
}
