package dev.nexa.slurm.job.config.steps;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.mapOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;
import static dev.nexa.slurm.job.config.yaml.Schema.withDefault;

import dev.nexa.slurm.base.error.Nearest;
import dev.nexa.slurm.job.config.yaml.Schema;
import dev.nexa.slurm.job.config.yaml.Schema.KnownKey;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The section {@code data.prepare}. */
final class PrepareKeys {
  static final ValueType COLUMN = ValueType.text("a column's name", "[^\\x00-\\x1f]{1,200}");

  /** The types of {@code data.rows.Column}. */
  static final ValueType TYPE =
      ValueType.choice(
          "text text? integer integer? number number? boolean boolean? json json?".split(" ", -1));

  private static final ValueType SPLIT =
      ValueType.text("a split's name, such as train", "[a-z][a-z0-9_]{0,30}");

  private static final ValueType LANGUAGE =
      ValueType.choice(
          "en", "de", "fr", "es", "it", "pt", "nl", "ja", "zh", "ko", "ru", "ar", "he", "el", "hi",
          "th", "unknown");

  /** Names of files that a step writes beside its rows. */
  private static final List<String> TAKEN = List.of("rejects", "report", "requests");

  private static final Pattern PLACE = Pattern.compile("\\{([A-Za-z0-9_]+)}");

  static final KnownKey ROWS_PER_FILE =
      withDefault(
          "rows_per_file",
          ValueType.integer(1, 100_000_000),
          "100000",
          "The most rows of a Parquet file.");

  static final KnownKey REQUESTS_PER_FILE =
      withDefault(
          "rows_per_file",
          ValueType.integer(1, 10_000_000),
          "5000",
          "The most requests of a file.");

  private static final Section REQUESTS =
      section(
          required("model", ValueType.TEXT, "The model's name in each request."),
          required(
              "prompt",
              ValueType.SCRIPT,
              "The user's message. `{column}` stands for the value of a column."),
          optional("system", ValueType.SCRIPT, "The system message, with `{column}` as in prompt."),
          optional(
              "options",
              new Schema.Free(),
              "Further keys of each request's body, such as `{max_tokens: 512, temperature: 0.7}`."),
          REQUESTS_PER_FILE);

  static final Section KEYS =
      section(
          required(
              "input",
              listOf(ValueType.PATH),
              "The raw files: paths, patterns such as `${shared}/raw/*.jsonl.gz`, or folders. Formats:"
                  + " .jsonl, .ndjson and .csv, also with .gz or .zst, and .parquet."),
          required(
              "columns",
              mapOf(COLUMN, TYPE),
              "The columns of each row and their types: text, integer, number, boolean or json. A type with"
                  + " `?` may be missing. Other columns are left out."),
          required(
              "text",
              listOf(COLUMN),
              "The columns whose text is normalised, filtered and compared."),
          optional(
              "id", COLUMN, "A column whose values must differ. The first row of an id stays."),
          withDefault(
              "normalize",
              ValueType.BOOLEAN,
              "true",
              "Whether the text is written as Unicode NFC, with each run of white space as one space."),
          optional(
              "min_chars",
              ValueType.integer(0, 1_000_000_000),
              "The least characters of a row's text."),
          optional(
              "max_chars",
              ValueType.integer(1, 1_000_000_000),
              "The most characters of a row's text."),
          optional(
              "languages",
              listOf(LANGUAGE),
              "The languages to keep. The language is guessed from the script and from frequent words;"
                  + " `unknown` is a text that is too short or in another language."),
          withDefault(
              "exact_duplicates",
              ValueType.BOOLEAN,
              "true",
              "Whether rows whose text another row has too are removed. The first row stays."),
          withDefault(
              "near_duplicates",
              ValueType.BOOLEAN,
              "false",
              "Whether rows whose text is similar to another row's are removed (MinHash). An array needs four"
                  + " stages for it: see data.md."),
          optional(
              "signatures",
              ValueType.BOOLEAN,
              "Writes only what the step buckets reads: the first of the four stages."),
          optional(
              "clusters",
              listOf(ValueType.PATH),
              "The output of the step clusters: the last of the four stages."),
          optional(
              "parts",
              ValueType.BOOLEAN,
              "Makes this the first of two stages that divide the reading. Each task reads and"
                  + " normalises its portion of the input, and writes the rows for the second stage."),
          optional(
              "from_parts",
              listOf(ValueType.PATH),
              "Makes this the second of the two stages. Names the output of the stage with `parts:"
                  + " true`."),
          optional(
              "decontaminate",
              section(
                  required(
                      "against",
                      listOf(ValueType.PATH),
                      "Files of eval sets. A row that shares an n-gram of words with one is removed."),
                  optional(
                      "columns",
                      listOf(COLUMN),
                      "The eval sets' columns with text. Default: the columns of `text`."),
                  withDefault(
                      "ngram",
                      ValueType.integer(1, 100),
                      "13",
                      "The number of words of an n-gram.")),
              "Removes rows that contain parts of an eval set."),
          optional(
              "sample",
              section(
                  optional(
                      "share",
                      ValueType.DECIMAL_NUMBER,
                      "The share of the rows to keep, from 0 to 1."),
                  optional(
                      "rows",
                      ValueType.integer(0, 2_000_000_000),
                      "The number of rows to keep. Needs one task.")),
              "Keeps a part of the rows. Which rows it is depends on their text and on the seed only."),
          withDefault(
              "seed",
              ValueType.integer(0, 2_000_000_000),
              "0",
              "Changes which rows are sampled and in which split a row is."),
          optional(
              "split",
              mapOf(SPLIT, ValueType.DECIMAL_NUMBER),
              "The share of rows of each split, such as `{train: 0.9, test: 0.1}`. The shares add up to 1."
                  + " Default: one split, `train`."),
          ROWS_PER_FILE,
          withDefault(
              "max_row",
              ValueType.MEMORY,
              "16M",
              "The most bytes of a row of JSONL or CSV. A longer row is an error."),
          optional(
              "requests",
              REQUESTS,
              "Writes each kept row as a request that `vllm run-batch` reads, too."));

  static final DataStep STEP =
      new DataStep(
          "prepare",
          "Turns raw files into a clean dataset: checks, normalises, removes duplicates, splits.",
          KEYS,
          List.of(
              new DataStep.PathKey("", "input", "--input"),
              new DataStep.PathKey("decontaminate", "against", "--against"),
              new DataStep.PathKey("", "clusters", "--clusters"),
              new DataStep.PathKey("", "from_parts", "--from-parts")),
          PrepareKeys::check);

  private PrepareKeys() {}

  private static void check(Values step, int tasks) {
    List<String> columns = step.section("columns").names();
    for (String name : step.texts("text")) {
      known(step, "text", name, columns);
      String type = step.section("columns").optionalText(name).orElse("text");
      if (!type.startsWith("text")) {
        step.report("text", "the column '" + name + "' is " + type + ", not text");
      }
    }
    step.optionalText("id").ifPresent(name -> known(step, "id", name, columns));
    boolean parts = step.optional("parts", Boolean.class).orElse(false);
    // The first stage compares no rows, so it may have any number of tasks.
    nearDuplicates(step, parts ? 1 : tasks);
    sample(step, parts ? 1 : tasks);
    parts(step, parts);
    split(step);
    int least = step.optionalInteger("min_chars").orElse(0);
    if (step.optionalInteger("max_chars").orElse(Integer.MAX_VALUE) < least) {
      step.report("max_chars", "is less than min_chars, so no row could stay");
    }
    requests(step, columns);
  }

  private static void nearDuplicates(Values step, int tasks) {
    boolean near = step.optional("near_duplicates", Boolean.class).orElse(false);
    boolean signatures = step.optional("signatures", Boolean.class).orElse(false);
    for (String key : List.of("signatures", "clusters")) {
      if (!near && (key.equals("signatures") ? signatures : step.has(key))) {
        step.report(key, "needs near_duplicates: true");
      }
    }
    if (signatures && step.has("clusters")) {
      step.report("clusters", "belongs to the last stage, and signatures: true to the first one");
    }
    if (near && tasks > 1 && !signatures && !step.has("clusters")) {
      String message =
          "compares all rows with each other, so it needs one task; leave `array` out, or use the"
              + " four stages of `nexa-slurm explain docs/data.md#near-duplicates-in-an-array`";
      step.report("near_duplicates", message);
    }
  }

  private static void parts(Values step, boolean parts) {
    boolean signatures = step.optional("signatures", Boolean.class).orElse(false);
    if (parts && signatures) {
      step.report("signatures", "belongs to a later stage than parts: true");
    }
    for (String key : List.of("from_parts", "clusters")) {
      if (parts && step.has(key)) {
        step.report(key, "belongs to a later stage than parts: true");
      }
    }
  }

  private static void sample(Values step, int tasks) {
    if (!step.has("sample")) {
      return;
    }
    Values sample = step.section("sample");
    if (sample.has("share") == sample.has("rows")) {
      step.report("sample", "needs either share or rows");
    }
    BigDecimal share = sample.optionalDecimal("share").orElse(BigDecimal.ONE);
    if (share.signum() < 0 || share.compareTo(BigDecimal.ONE) > 0) {
      sample.report("share", "expected a number from 0 to 1, got " + share);
    }
    if (sample.has("rows") && tasks > 1) {
      sample.report("rows", "compares all rows, so it needs one task; use share, or no array");
    }
  }

  private static void split(Values step) {
    if (!step.has("split")) {
      return;
    }
    Values split = step.section("split");
    BigDecimal sum = BigDecimal.ZERO;
    for (String name : split.names()) {
      BigDecimal share = split.decimal(name);
      sum = sum.add(share);
      if (share.signum() < 0) {
        split.report(name, "expected a number from 0 to 1, got " + share);
      }
      if (TAKEN.contains(name)) {
        split.report(name, "is the name of other files; choose another name");
      }
    }
    if (sum.compareTo(BigDecimal.ONE) != 0) {
      step.report("split", "the shares add up to " + sum + ", expected 1");
    }
  }

  private static void requests(Values step, List<String> columns) {
    if (!step.has("requests")) {
      return;
    }
    Values requests = step.section("requests");
    for (String key : List.of("prompt", "system")) {
      Matcher place = PLACE.matcher(requests.optionalText(key).orElse(""));
      while (place.find()) {
        known(requests, key, place.group(1), columns);
      }
    }
    boolean exact = step.optional("exact_duplicates", Boolean.class).orElse(true);
    if (!exact && !step.has("id")) {
      String message = "each request needs an id of its own: name `id`, or remove exact duplicates";
      step.report("requests", message);
    }
  }

  private static void known(Values at, String key, String name, List<String> columns) {
    if (!columns.contains(name)) {
      at.report(key, "there is no column '" + name + "' in columns" + Nearest.hint(name, columns));
    }
  }
}
