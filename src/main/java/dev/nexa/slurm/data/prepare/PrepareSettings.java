package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.IfAny;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.rows.Column;
import dev.nexa.slurm.data.rows.Source;
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
 * @param rules what a row's text must be
 * @param duplicates which duplicates are removed
 * @param stage the part of the work that this step does
 * @param evals how the text is compared with eval sets
 * @param sample the rows to keep
 * @param seed changes which rows are sampled, and how they are split
 * @param files how the rows are written
 * @param maxRow the most bytes of a row
 */
public record PrepareSettings(
    List<Column> columns,
    List<String> text,
    Optional<String> id,
    TextRules rules,
    Duplicates duplicates,
    Stage stage,
    EvalText evals,
    Sampling sample,
    long seed,
    Files files,
    long maxRow) {

  private static final Pattern SPLIT = Pattern.compile("[a-z][a-z0-9_-]{0,30}");
  private static final List<String> RESERVED = List.of("rejects", "report", "requests");

  /**
   * The requirements on a row's text.
   *
   * @param normalize whether the text becomes NFC with single spaces
   * @param minChars the least characters of the text
   * @param maxChars the most characters of the text
   * @param languages the languages to keep; empty keeps all
   */
  public record TextRules(
      boolean normalize,
      Optional<Integer> minChars,
      Optional<Integer> maxChars,
      @IfAny List<String> languages) {}

  /** Which duplicates are removed: equal texts, similar texts. */
  public record Duplicates(
      @Key("exact_duplicates") boolean exact, @Key("near_duplicates") boolean near) {}

  /**
   * The part of the work that an array's step does.
   *
   * @param signatures whether only the signatures of the rows are written, for near duplicates
   * @param parts whether the rows are only read, checked and normalised, and written for the tasks
   *     of the next stage
   */
  public record Stage(@IfAny boolean signatures, @IfAny boolean parts) {}

  /**
   * How the text is compared with eval sets.
   *
   * @param ngram so many words in a row that an eval set has too are too many
   * @param columns the columns of the eval sets that have text; those that a file lacks are left
   *     out
   */
  public record EvalText(int ngram, List<String> columns) {}

  /** The share, or the number, of rows to keep. */
  public record Sampling(Optional<BigDecimal> share, Optional<Integer> rows) {}

  /**
   * How the rows are written.
   *
   * @param split the share of rows for each split; empty for one split, {@code train}
   * @param rowsPerFile the most rows of a Parquet file
   * @param requests how rows become requests; empty for no requests
   */
  public record Files(
      Map<String, BigDecimal> split, int rowsPerFile, Optional<Requests> requests) {}

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
          (int) json.number("rows_per_file"));
    }
  }

  /**
   * Reads the settings, which have all defaults.
   *
   * @throws IllegalArgumentException if a key is missing or a value has another type
   */
  public static PrepareSettings of(JsonObject json) {
    JsonObject evals = json.object("decontaminate");
    JsonObject shares = json.optionalObject("split").orElseGet(JsonObject::new);
    Map<String, BigDecimal> split = new LinkedHashMap<>();
    shares.members().keySet().forEach(it -> split.put(it, share(it, shares.decimal(it))));
    return new PrepareSettings(
        Column.of(json.object("columns")),
        json.texts("text"),
        json.optionalText("id"),
        Codec.read(json, TextRules.class),
        Codec.read(json, Duplicates.class),
        Codec.read(json, Stage.class),
        new EvalText(
            (int) evals.number("ngram"),
            evals.members().containsKey("columns") ? evals.texts("columns") : json.texts("text")),
        Codec.read(json.object("sample"), Sampling.class),
        json.number("seed"),
        new Files(
            split,
            (int) json.number("rows_per_file"),
            json.optionalObject("requests").map(Requests::of)),
        json.number("max_row"));
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
    Stage any = new Stage(false, false);
    return Sha256.of(
        new PrepareSettings(
                columns, text, id, rules, duplicates, any, evals, sample, seed, files, maxRow)
            .toString());
  }

  /** Returns the numbers of the text's columns among all columns. */
  List<Integer> textColumns() {
    return text.stream().map(name -> Column.number(columns, name)).toList();
  }

  /** Returns the SQL of a column. */
  String column(String name) {
    return Source.name(Column.number(columns, name));
  }
}
