package dev.nexa.slurm.costs;

import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.files.FileLock;
import dev.nexa.slurm.files.Json;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.Ledger;
import dev.nexa.slurm.journal.Workspace;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * {@code runs/bills/<provider>/<YYYY-MM>.jsonl}: what was imported, a row a line, each once however
 * often its file is imported. A file is replaced whole or not at all.
 */
public final class Bills {
  private static final Pattern PROVIDER = Pattern.compile("[a-z0-9][a-z0-9_-]{0,30}");

  private final Workspace workspace;

  public Bills(Workspace workspace) {
    this.workspace = workspace;
  }

  /**
   * What an import did.
   *
   * @param rows in the file
   * @param added rows that were not there yet
   * @param changed rows that were there, with other values
   * @param removed rows of the same months that the file has no more
   * @param unmatched rows that name no run
   * @param totals by currency, the file's sum
   * @param files that were written
   */
  public record Imported(
      int rows,
      int added,
      int changed,
      int removed,
      int unmatched,
      Map<String, BigDecimal> totals,
      List<Path> files) {}

  /**
   * Keeps rows.
   *
   * @param provider a short name, which becomes a folder
   * @param replace whether these are all rows of their months: those that are kept and are not
   *     among them go
   */
  public Imported keep(String provider, List<BillRow> rows, boolean replace) {
    Set<String> whole = new HashSet<>();
    for (BillRow row : replace ? rows : List.<BillRow>of()) {
      whole.add(row.period());
    }
    return keepMonths(provider, rows, whole);
  }

  /**
   * Keeps rows.
   *
   * @param whole months, such as {@code 2025-11}, of which these are all rows; there may be none
   */
  public Imported keepMonths(String provider, List<BillRow> rows, Set<String> whole) {
    if (!PROVIDER.matcher(provider).matches()) {
      throw new NexaException(
          ExitCode.USAGE,
          "'"
              + provider
              + "' is no name for a provider: lower case letters, digits, '_' and '-', such as gcp",
          "--provider NAME");
    }
    Map<String, Map<String, BillRow>> byPeriod = new TreeMap<>();
    whole.forEach(month -> byPeriod.put(month, new LinkedHashMap<>()));
    Map<String, BigDecimal> totals = new TreeMap<>();
    int unmatched = 0;
    for (BillRow row : rows) {
      Map<String, BillRow> month =
          byPeriod.computeIfAbsent(row.period(), m -> new LinkedHashMap<>());
      // One invoice may have several rows.
      String id = row.id();
      for (int n = 2; month.containsKey(id); n++) {
        id = row.id() + "#" + n;
      }
      month.put(id, row.named(id));
      totals.merge(row.currency(), row.amount(), BigDecimal::add);
      unmatched += row.runId().isEmpty() ? 1 : 0;
    }
    Path folder = folder(workspace).resolve(provider);
    workspace.files().directories(folder);
    int added = 0;
    int changed = 0;
    int removed = 0;
    List<Path> written = new ArrayList<>();
    try (FileLock held = Ledger.lock(folder(workspace).resolve(".lock"))) {
      for (Map.Entry<String, Map<String, BillRow>> period : byPeriod.entrySet()) {
        Path file = folder.resolve(period.getKey() + ".jsonl");
        Map<String, BillRow> kept = new LinkedHashMap<>();
        if (Files.exists(file) && held.holds()) {
          read(file).forEach(row -> kept.put(row.id(), row));
        }
        Map<String, BillRow> now = new LinkedHashMap<>();
        if (!whole.contains(period.getKey())) {
          now.putAll(kept);
        }
        now.putAll(period.getValue());
        for (BillRow row : period.getValue().values()) {
          BillRow before = kept.get(row.id());
          added += before == null ? 1 : 0;
          changed += before == null || before.equals(row) ? 0 : 1;
        }
        for (String id : kept.keySet()) {
          removed += now.containsKey(id) ? 0 : 1;
        }
        if (write(file, now)) {
          written.add(file);
        }
      }
    }
    return new Imported(rows.size(), added, changed, removed, unmatched, totals, written);
  }

  private boolean write(Path file, Map<String, BillRow> rows) {
    List<BillRow> sorted = new ArrayList<>(rows.values());
    sorted.sort(Comparator.comparing(BillRow::start).thenComparing(BillRow::id));
    StringBuilder text = new StringBuilder();
    for (BillRow row : sorted) {
      text.append(Json.compact(row.toJson())).append('\n');
    }
    boolean there = Files.exists(file);
    if (there ? DurableFiles.read(file).contentEquals(text) : rows.isEmpty()) {
      return false;
    }
    workspace.files().replace(file, text.toString());
    return true;
  }

  /** All that is kept. */
  public Charges charges() {
    Charges charges = new Charges();
    for (Path provider : list(folder(workspace), "*")) {
      for (Path file : Files.isDirectory(provider) ? list(provider, "*.jsonl") : List.<Path>of()) {
        read(file).forEach(charges::add);
      }
    }
    return charges;
  }

  private static List<BillRow> read(Path file) {
    List<BillRow> rows = new ArrayList<>();
    int number = 0;
    for (String line : DurableFiles.read(file).split("\n", -1)) {
      number++;
      if (!line.isEmpty()) {
        try {
          JsonObject json = Json.parseObject(line);
          rows.add(BillRow.of(json));
        } catch (IllegalArgumentException broken) {
          throw new NexaException(
              ExitCode.DEFECT,
              file + ":" + number + ": " + broken.getMessage(),
              broken,
              "delete the file and import its bills again");
        }
      }
    }
    return rows;
  }

  /** Whether the provider's rows are from its own answers: files don't go between them. */
  public boolean isAsked(String provider) {
    return PROVIDER.matcher(provider).matches()
        && MonthRead.any(folder(workspace).resolve(provider));
  }

  static Path folder(Workspace workspace) {
    return workspace.runs().resolve("bills");
  }

  static List<Path> list(Path folder, String glob) {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> found = Files.newDirectoryStream(folder, glob)) {
      found.forEach(files::add);
    } catch (NoSuchFileException none) {
      return files;
    } catch (IOException failed) {
      throw DurableFiles.failure("read", folder, failed);
    }
    Collections.sort(files);
    return files;
  }
}
