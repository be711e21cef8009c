package dev.nexa.slurm.money.bills;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.money.ledger.Ledger;
import dev.nexa.slurm.records.runs.Workspace;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The imported bills, {@code runs/bills/<provider>/<YYYY-MM>.jsonl}, with one row a line. A row is
 * stored once, however often its file is imported. A file is replaced atomically.
 */
public record Bills(Workspace workspace) {
  private static final Pattern PROVIDER = Pattern.compile("[a-z0-9][a-z0-9_-]{0,30}");

  /**
   * The result of an import.
   *
   * @param rows rows in the file
   * @param added rows that were not stored yet
   * @param changed stored rows that now have other values
   * @param removed stored rows of the imported months that the file no longer has
   * @param unmatched rows that belong to no run
   * @param totals the sum of the file's rows by currency
   * @param files the files that were written
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
   * Stores rows.
   *
   * @param provider a short name, which becomes a folder
   * @param rows the rows, of any months
   * @param replace whether these are all rows of their months; stored rows of these months that are
   *     not among them are removed
   * @throws NexaException if the provider's name is not valid
   */
  public Imported keep(String provider, List<BillRow> rows, boolean replace) {
    Stream<BillRow> whole = replace ? rows.stream() : Stream.empty();
    return keepMonths(provider, rows, whole.map(BillRow::period).collect(Collectors.toSet()));
  }

  /**
   * Stores rows.
   *
   * @param provider a short name, which becomes a folder
   * @param rows the rows, of any months
   * @param whole months, such as {@code 2025-11}, for which the rows are complete; stored rows of
   *     these months that are not among {@code rows} are removed, also if there are no rows for a
   *     month
   * @throws NexaException if the provider's name is not valid
   */
  public Imported keepMonths(String provider, List<BillRow> rows, Set<String> whole) {
    if (!PROVIDER.matcher(provider).matches()) {
      throw ErrorCode.OPTION_INVALID.error(
          "'%s' is no name for a provider: lower case letters, digits, '_' and '-', such as gcp"
              .formatted(provider),
          "--provider NAME");
    }
    Map<String, Map<String, BillRow>> byPeriod = new TreeMap<>();
    whole.forEach(month -> byPeriod.put(month, new LinkedHashMap<>()));
    Map<String, BigDecimal> totals = new TreeMap<>();
    int unmatched = 0;
    for (BillRow row : rows) {
      Map<String, BillRow> month =
          byPeriod.computeIfAbsent(row.period(), m -> new LinkedHashMap<>());
      // One invoice may have several rows with one id.
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
        removed += (int) kept.keySet().stream().filter(id -> !now.containsKey(id)).count();
        if (write(file, now)) {
          written.add(file);
        }
      }
    }
    return new Imported(rows.size(), added, changed, removed, unmatched, totals, written);
  }

  private boolean write(Path file, Map<String, BillRow> rows) {
    String text =
        rows.values().stream()
            .sorted(Comparator.comparing(BillRow::start).thenComparing(BillRow::id))
            .map(row -> Json.compact(row.toJson()) + "\n")
            .collect(Collectors.joining());
    boolean same = Files.exists(file) ? DurableFiles.read(file).equals(text) : rows.isEmpty();
    if (!same) {
      workspace.files().replace(file, text);
    }
    return !same;
  }

  /**
   * Reads all stored rows.
   *
   * @throws NexaException if a stored row cannot be read
   */
  public Charges charges() {
    Charges charges = new Charges();
    DurableFiles.list(folder(workspace), "*").stream()
        .filter(Files::isDirectory)
        .flatMap(provider -> DurableFiles.list(provider, "*.jsonl").stream())
        .forEach(file -> read(file).forEach(charges::add));
    return charges;
  }

  private static List<BillRow> read(Path file) {
    List<BillRow> rows = new ArrayList<>();
    int number = 0;
    for (String line : DurableFiles.read(file).split("\n", -1)) {
      number++;
      if (!line.isEmpty()) {
        try {
          rows.add(BillRow.of(Json.parseObject(line)));
        } catch (IllegalArgumentException broken) {
          throw ErrorCode.RECORD_DAMAGED.error(
              file + ":" + number + ": " + broken.getMessage(),
              broken,
              Advice.step("delete the file and import its bills again"));
        }
      }
    }
    return rows;
  }

  /**
   * Returns whether the provider's rows come from its API. Rows from files are not mixed with
   * these.
   */
  public boolean isAsked(String provider) {
    return PROVIDER.matcher(provider).matches()
        && ImportedMonth.any(folder(workspace).resolve(provider));
  }

  static Path folder(Workspace workspace) {
    return workspace.ofOwner("bills");
  }
}
