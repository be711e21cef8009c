package dev.nexa.slurm.command.storage;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.text.Columns;
import dev.nexa.slurm.base.text.TableStyle;
import dev.nexa.slurm.base.units.Memory;
import dev.nexa.slurm.command.shared.Subcommand;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.tiers.MeasureTier;
import dev.nexa.slurm.storage.tiers.MeasureTier.Measured;
import dev.nexa.slurm.storage.tiers.MeasureTier.Usage;
import dev.nexa.slurm.storage.tiers.MeasureTier.Usage.UsageKey;
import dev.nexa.slurm.storage.tiers.Tier;
import dev.nexa.slurm.storage.tiers.TierRoot;
import java.nio.file.Files;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The command {@code nexa-slurm storage status}. */
final class StorageStatusCommand extends Subcommand {
  private static final int MOST_UNREAD = 20;

  private final OptionSpec tier =
      option("--tier TIER", "Only this tier: scratch, durable or shared.");
  private final OptionSpec by =
      option("--by KEY", "Adds a row for each run, user or folder: the largest first.");
  private final OptionSpec cluster =
      option(
          "--cluster NAME",
          "Only the tiers of configs/clusters/NAME.yaml. Default: those of all profiles of the workspace.");
  private final OptionSpec limit =
      option("--limit N", "With --by: shows at most N rows of a tier; 40 if not given.");
  private final OptionSpec json = jsonFlag();

  StorageStatusCommand() {
    super(
        "status",
        "Shows how much lies on the storage tiers, against the free space. Follows no link.",
        "nexa-slurm storage status",
        "nexa-slurm storage status --tier scratch --by run");
  }

  @Override
  protected void work() {
    Context context = existing();
    Optional<Tier> only = value(tier).map(Tier::of);
    Optional<UsageKey> key = value(by).map(UsageKey::named);
    int most = most();
    List<TierRoot> missing = new ArrayList<>();
    List<Measured> measured = new ArrayList<>();
    MeasureTier measure = new MeasureTier(new CommandRunner(), context.environment());
    for (TierRoot root :
        TierRoot.of(context.configs(), context.workspace().root(), value(cluster))) {
      boolean wanted = only.isEmpty() || only.get() == root.tier();
      if (wanted && root.exists()) {
        measured.add(measure.measure(root, key.orElse(UsageKey.FOLDER)));
      } else if (wanted) {
        missing.add(root);
      }
    }
    if (given(json)) {
      print(document(measured, missing, key.isPresent()));
    } else {
      if (!measured.isEmpty()) {
        printTable(StorageText.TIERS.of(measured).table(style()));
      }
      if (key.isPresent()) {
        for (Measured one : measured) {
          if (!one.usage().rows().isEmpty()) {
            out().println();
            say(one.root().tier().key() + " " + one.root().path());
            printTable(StorageText.rows(one.usage(), key.get(), most, style()));
          }
        }
      }
      for (TierRoot root : missing) {
        String problem =
            Files.exists(root.path())
                ? "is a file; move it away, or correct the profile"
                : "is not on this host; `nexa-slurm storage init` makes it";
        note(root.path() + " (" + root.key() + ") " + problem);
      }
      measured.forEach(this::tellUnread);
    }
  }

  private int most() {
    String typed = value(limit).orElse("" + StorageText.MOST_ROWS);
    try {
      int most = Integer.parseInt(typed);
      if (most > 0) {
        return most;
      }
    } catch (NumberFormatException none) {
      // Refused below.
    }
    throw invalid("--limit: expected a whole number from 1 on, got '" + typed + "'", "--limit 40");
  }

  private void tellUnread(Measured one) {
    List<String> unread = one.unread();
    unread.stream().limit(MOST_UNREAD).forEach(message -> note("not counted: " + message));
    if (unread.size() > MOST_UNREAD) {
      note(
          "%s more folders of %s are not counted; --json lists them"
              .formatted(unread.size() - MOST_UNREAD, one.root().path()));
    }
  }

  /** Returns the path in a message of find: {@code '/a/b': Permission denied}. */
  private static String path(String message) {
    int end = message.lastIndexOf("': ");
    return message.startsWith("'") && end > 0 ? message.substring(1, end) : message;
  }

  private static JsonObject document(
      List<Measured> measured, List<TierRoot> missing, boolean withRows) {
    List<JsonObject> tiers = new ArrayList<>();
    for (Measured one : measured) {
      JsonObject tier =
          StorageText.TOTAL
              .addTo(
                  new JsonObject()
                      .with("tier", one.root().tier().key())
                      .with("path", one.root().path().toString())
                      .with("profiles", one.root().profiles()),
                  one.usage().total())
              .with("free_bytes", one.free())
              .with("size_bytes", one.size())
              .with("unread", one.unread().stream().map(StorageStatusCommand::path).toList());
      if (withRows) {
        List<JsonObject> rows =
            one.usage().rows().stream()
                .map(row -> StorageText.TOTAL.addTo(new JsonObject().with("key", row.key()), row))
                .toList();
        tier.with("rows", rows);
      }
      tiers.add(tier);
    }
    return JsonObject.ofVersion(1)
        .with("tiers", tiers)
        .with("not_on_this_host", missing.stream().map(root -> root.path().toString()).toList());
  }

  /** The tables of {@code storage status}. */
  static final class StorageText {
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

    static final Columns<Measured> TIERS =
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
}
