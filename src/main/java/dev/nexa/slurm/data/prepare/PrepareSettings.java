package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.rows.Column;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The settings of {@code data prepare}, as the config's {@code data.prepare} has them.
 *
 * @param columns the columns that each row has
 * @param text the columns whose text is normalised, filtered and compared
 * @param id the column whose values must differ; empty for none
 * @param normalize whether the text becomes NFC with single spaces
 * @param minChars the least characters of the text
 * @param maxChars the most characters of the text
 * @param languages the languages to keep; empty keeps all
 * @param exactDuplicates whether equal texts are removed
 * @param nearDuplicates whether similar texts are removed
 * @param signatures whether only the signatures of the rows are written, for near duplicates in an
 *     array
 * @param parts whether the rows are only read, checked and normalised, and written for the tasks of
 *     the next stage
 * @param ngram so many words in a row that an eval set has too are too many
 * @param evalText the columns of the eval sets that have text; those that a file lacks are left out
 * @param sampleShare the share of rows to keep
 * @param sampleRows the number of rows to keep
 * @param seed changes which rows are sampled, and how they are split
 * @param split the share of rows for each split; empty for one split, {@code train}
 * @param rowsPerFile the most rows of a Parquet file
 * @param maxRow the most bytes of a row
 * @param requests how rows become requests; empty for no requests
 */
public record PrepareSettings(
    List<Column> columns,
    List<String> text,
    Optional<String> id,
    boolean normalize,
    Optional<Integer> minChars,
    Optional<Integer> maxChars,
    List<String> languages,
    boolean exactDuplicates,
    boolean nearDuplicates,
    boolean signatures,
    boolean parts,
    int ngram,
    List<String> evalText,
    Optional<BigDecimal> sampleShare,
    Optional<Integer> sampleRows,
    long seed,
    Map<String, BigDecimal> split,
    int rowsPerFile,
    long maxRow,
    Optional<Requests> requests) {

  private static final Pattern SPLIT = Pattern.compile("[a-z][a-z0-9_-]{0,30}");
  private static final List<String> RESERVED = List.of("rejects", "report", "requests");

  /**
   * How a row becomes a request to a model.
   *
   * @param model the model's name
   * @param prompt the user's message; {@code {column}} stands for a column's value
   * @param system the system message; empty for none
   * @param options further keys of the request's body
   * @param rowsPerFile the most requests of a file
   */
  public record Requests(
      String model, String prompt, Optional<String> system, JsonObject options, int rowsPerFile) {

    static Requests of(JsonObject json) {
      return new Requests(
          json.text("model"),
          json.text("prompt"),
          json.optionalText("system"),
          json.optionalObject("options").orElseGet(JsonObject::new),
          integer(json, "rows_per_file").orElse(5000));
    }
  }

  /** Reads the settings. The config's schema has checked them. */
  public static PrepareSettings of(JsonObject json) {
    JsonObject clean = json.optionalObject("decontaminate").orElseGet(JsonObject::new);
    JsonObject sample = json.optionalObject("sample").orElseGet(JsonObject::new);
    JsonObject shares = json.optionalObject("split").orElseGet(JsonObject::new);
    Map<String, BigDecimal> split = new LinkedHashMap<>();
    for (String name : shares.members().keySet()) {
      split.put(name, share(name, shares.decimal(name)));
    }
    return new PrepareSettings(
        Column.of(json.object("columns")),
        json.texts("text"),
        json.optionalText("id"),
        flag(json, "normalize", true),
        integer(json, "min_chars"),
        integer(json, "max_chars"),
        json.members().containsKey("languages") ? json.texts("languages") : List.of(),
        flag(json, "exact_duplicates", true),
        flag(json, "near_duplicates", false),
        flag(json, "signatures", false),
        flag(json, "parts", false),
        integer(clean, "ngram").orElse(13),
        clean.members().containsKey("columns") ? clean.texts("columns") : json.texts("text"),
        sample.optionalDecimal("share"),
        integer(sample, "rows"),
        integer(json, "seed").orElse(0),
        split,
        integer(json, "rows_per_file").orElse(100_000),
        json.members().containsKey("max_row") ? json.number("max_row") : 16L << 20,
        json.optionalObject("requests").map(Requests::of));
  }

  /** Checks a split again: a person may have typed it, and its name becomes part of file names. */
  private static BigDecimal share(String name, BigDecimal share) {
    if (!SPLIT.matcher(name).matches() || RESERVED.contains(name)) {
      throw new IllegalArgumentException(
          ("split: expected a name of lower-case letters, digits, '_' and '-', other than %s,"
                  + " got '%s'")
              .formatted(String.join(", ", RESERVED), name));
    }
    if (share.signum() <= 0 || share.compareTo(BigDecimal.ONE) > 0) {
      throw new IllegalArgumentException(
          "split." + name + ": expected a share above 0 and at most 1, got " + share);
    }
    return share;
  }

  /**
   * Returns a SHA-256 of the settings that decide which rows a part has and which rows stay. The
   * stages of an array may differ in {@code parts} and {@code signatures} only.
   */
  String digest() {
    return Sha256.of(
        new PrepareSettings(
                columns,
                text,
                id,
                normalize,
                minChars,
                maxChars,
                languages,
                exactDuplicates,
                nearDuplicates,
                false,
                false,
                ngram,
                evalText,
                sampleShare,
                sampleRows,
                seed,
                split,
                rowsPerFile,
                maxRow,
                requests)
            .toString());
  }

  /** Returns the numbers of the text's columns among all columns. */
  List<Integer> textColumns() {
    return text.stream().map(name -> column(name)).toList();
  }

  /** Returns the number of a column. */
  int column(String name) {
    for (int i = 0; i < columns.size(); i++) {
      if (columns.get(i).name().equals(name)) {
        return i;
      }
    }
    throw new IllegalArgumentException("no column " + name);
  }

  private static boolean flag(JsonObject json, String key, boolean otherwise) {
    return json.members().containsKey(key) ? json.flag(key) : otherwise;
  }

  private static Optional<Integer> integer(JsonObject json, String key) {
    return json.members().containsKey(key) ? Optional.of((int) json.number(key)) : Optional.empty();
  }
}
