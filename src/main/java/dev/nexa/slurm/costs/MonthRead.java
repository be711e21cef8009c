package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * {@code runs/bills/aws/<YYYY-MM>.read.json}: when and how a month was asked for, so that it is not
 * asked for again while the answer must be the same.
 *
 * @param at when
 * @param estimated whether some figure was not final then
 * @param tag the key that was asked for
 * @param granularity {@code daily} or {@code monthly}
 * @param profile of the AWS files; empty for the default chain
 */
public record MonthRead(
    Instant at, boolean estimated, String tag, String granularity, Optional<String> profile) {
  private static final String ENDING = ".read.json";

  /** What is known of a month; empty if it was never read. */
  public static Optional<MonthRead> of(Workspace workspace, String provider, YearMonth month) {
    Path file = file(workspace, provider, month);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      JsonObject json = Json.parseObject(DurableFiles.read(file));
      return Optional.of(
          new MonthRead(
              json.instant("read"),
              json.flag("estimated"),
              json.text("tag"),
              json.text("granularity"),
              json.optionalText("profile")));
    } catch (IllegalArgumentException broken) {
      throw new NexaException(
          ExitCode.DEFECT,
          file + ": " + broken.getMessage(),
          broken,
          "delete the file and import the month again");
    }
  }

  /** Whether a provider's folder holds any. */
  static boolean any(Path folder) {
    return !Bills.list(folder, "*" + ENDING).isEmpty();
  }

  /** Keeps it; the month's rows must be on disk by then. */
  public void keep(Workspace workspace, String provider, YearMonth month) {
    Path file = file(workspace, provider, month);
    workspace.files().directories(Bills.folder(workspace).resolve(provider));
    workspace
        .files()
        .replace(
            file,
            Json.pretty(
                new JsonObject()
                    .with("schema_version", 1)
                    .with("read", at)
                    .with("estimated", estimated)
                    .with("tag", tag)
                    .with("granularity", granularity)
                    .withOptional("profile", profile)));
  }

  /** Whether the same was asked for: the same tag, granularity and profile. */
  public boolean asks(MonthRead other) {
    return tag.equals(other.tag)
        && granularity.equals(other.granularity)
        && profile.equals(other.profile);
  }

  /**
   * Whether it needs no asking: it was read after the month had ended and nothing was estimated, or
   * else it was read on this day already. Days and months are UTC's, as AWS's are.
   */
  public boolean holds(YearMonth month, Instant now) {
    LocalDate day = LocalDate.ofInstant(at, ZoneOffset.UTC);
    boolean closed = !day.isBefore(month.plusMonths(1).atDay(1));
    return (closed && !estimated) || day.equals(LocalDate.ofInstant(now, ZoneOffset.UTC));
  }

  private static Path file(Workspace workspace, String provider, YearMonth month) {
    return Bills.folder(workspace).resolve(provider).resolve(month + ENDING);
  }
}
