package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.records.runs.Workspace;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneOffset;
import java.util.Optional;

/**
 * Records when and how a month was queried, in {@code runs/bills/aws/<YYYY-MM>.read.json}. The
 * month is not queried again while the answer would be the same.
 *
 * @param at when it was queried
 * @param estimated whether an amount was not final then
 * @param tag the queried tag
 * @param granularity {@code daily} or {@code monthly}
 * @param profile the profile of the AWS files; empty for the default chain
 */
public record ImportedMonth(
    @Key("read") Instant at,
    boolean estimated,
    String tag,
    String granularity,
    Optional<String> profile) {
  private static final String ENDING = ".read.json";

  /**
   * Returns the record of a month; empty if it was never queried.
   *
   * @throws NexaException if the file cannot be read
   */
  public static Optional<ImportedMonth> of(Workspace workspace, String provider, YearMonth month) {
    Path file = file(workspace, provider, month);
    if (!Files.exists(file)) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          Codec.read(Json.parseObject(DurableFiles.read(file)), ImportedMonth.class));
    } catch (IllegalArgumentException broken) {
      throw ErrorCode.RECORD_DAMAGED.error(
          file + ": " + broken.getMessage(),
          broken,
          Advice.step("delete the file and import the month again"));
    }
  }

  /** Returns whether a provider's folder holds such records. */
  static boolean any(Path folder) {
    return !DurableFiles.list(folder, "*" + ENDING).isEmpty();
  }

  /** Writes the record. The month's rows must already be on disk. */
  public void keep(Workspace workspace, String provider, YearMonth month) {
    Path file = file(workspace, provider, month);
    workspace.files().directories(Bills.folder(workspace).resolve(provider));
    workspace.files().replace(file, Json.pretty(Codec.write(this, JsonObject.ofVersion(1))));
  }

  /** Returns whether both queries have the same tag, granularity and profile. */
  public boolean asks(ImportedMonth other) {
    return tag.equals(other.tag)
        && granularity.equals(other.granularity)
        && profile.equals(other.profile);
  }

  /**
   * Returns whether the month need not be queried again: it was read after its end without
   * estimated amounts, or it was already read today. Days and months are in UTC, as AWS's are.
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
