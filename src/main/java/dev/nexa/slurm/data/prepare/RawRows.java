package dev.nexa.slurm.data.prepare;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.data.engine.Engine;
import dev.nexa.slurm.data.engine.Sql;
import dev.nexa.slurm.data.rows.InputFile;
import dev.nexa.slurm.data.rows.Portion;
import dev.nexa.slurm.data.rows.Rows;
import dev.nexa.slurm.data.rows.Share;
import dev.nexa.slurm.data.rows.Source;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Reads raw files: checks the columns, normalises the text and computes the key of each row. The
 * table {@code data} gets the rows of a share. The table {@code ids} gets the id of each row whose
 * columns are right. The table {@code rejects} gets each entry that is no row, or whose text has
 * the wrong length or language.
 */
record RawRows(
    Engine engine, PrepareSettings settings, Share share, Progress progress, long pieceBytes) {
  /** So much of a large file is read at a time: its lines then fit into DuckDB's memory. */
  private static final long PIECE_BYTES = 256L << 20;

  /** A test reads small pieces. */
  RawRows(Engine engine, PrepareSettings settings, Share share, Progress progress) {
    this(engine, settings, share, progress, PIECE_BYTES);
  }

  private Source source() {
    return new Source(engine, settings.columns(), settings.maxRow());
  }

  /** Makes the empty tables. */
  Rows begin(List<InputFile> files) {
    Rows rows = Rows.of(engine, files);
    engine.run(
        "CREATE TABLE data (n BIGINT, key VARCHAR, reason VARCHAR, detail VARCHAR, "
            + Source.typed(settings.columns())
            // Computed when it is read: the columns have it already.
            + ", text VARCHAR GENERATED ALWAYS AS ("
            + text()
            + ") VIRTUAL)");
    engine.run("CREATE TABLE ids (n BIGINT, id VARCHAR)");
    return rows;
  }

  /** Reads whole files. */
  Rows read(List<InputFile> files) {
    Rows rows = begin(files);
    read(rows, files, Portion.of(files, Portion.sizes(files), Share.ALL));
    return rows;
  }

  /** How many rows and ends of lines a portion has. The lines of a whole file are not counted. */
  record Counted(int file, long rows, long lines) {}

  /**
   * Reads portions of files. Their rows and lines are numbered from the beginning of each portion.
   */
  List<Counted> read(List<InputFile> files, List<Portion> portions) {
    return read(begin(files), files, portions);
  }

  private List<Counted> read(Rows rows, List<InputFile> files, List<Portion> portions) {
    List<Counted> counted = new ArrayList<>();
    long bytes = portions.stream().mapToLong(Portion::bytes).sum();
    Phase phase = Phase.of("reading", "files", portions.size()).withBytes(bytes);
    try (Running reading = progress.begin(phase)) {
      for (Portion portion : portions) {
        InputFile file = files.get(portion.file());
        Rows.Place place = new Rows.Place(portion.file(), 0, 0);
        for (Portion piece : portion.pieces(file, pieceBytes)) {
          place = read(rows, file, piece, place);
          reading.done(0, piece.bytes());
        }
        counted.add(new Counted(portion.file(), place.rows(), place.lines()));
        reading.done(1, 0);
      }
    }
    source().close();
    rows.keep();
    return counted;
  }

  /** Reads a piece of a file, and returns the place after it. */
  private Rows.Place read(Rows rows, InputFile file, Portion piece, Rows.Place place) {
    if (piece.whole()) {
      return place.plus(read(rows, place, file, file.path()), 0);
    }
    // DuckDB cannot read a range of bytes of a file.
    Path copy = engine.folder().resolve("piece.jsonl");
    long lines = piece.copy(file.path(), copy);
    long read = read(rows, place, new InputFile(copy.toString(), file.format()), file.path());
    DurableFiles.onDisk().unmark(copy);
    return place.plus(read, lines);
  }

  /** Reads a file or a copy of a piece of it, and returns the number of its rows. */
  private long read(Rows rows, Rows.Place place, InputFile file, String original) {
    source().open(file, original);
    // In the order of the keys, so that DuckDB finds the rows of a file of the output fast.
    engine.run("SET preserve_insertion_order = true");
    engine.run("INSERT INTO data BY NAME " + rowQuery(place) + " ORDER BY key");
    engine.run("SET preserve_insertion_order = false");
    if (settings.id().isPresent()) {
      String id = settings.column(settings.id().get());
      engine.run(
          ("INSERT INTO ids SELECT %s, %s::VARCHAR FROM source WHERE bad IS NULL AND %s IS NOT"
                  + " NULL")
              .formatted(Rows.number(place), id, id));
    }
    engine.run(
        "INSERT INTO rejects SELECT n, reason, detail, NULL, NULL FROM data WHERE reason IS NOT NULL AND "
            + place.from("n"));
    long records = engine.number("SELECT count(*) FROM source");
    if (file.format() == InputFile.Format.JSONL) {
      rows.findLines(place, file.path(), records);
    }
    return records;
  }

  /** Returns the query that gives a row of {@code data} for each row of {@code source}. */
  private String rowQuery(Rows.Place place) {
    List<String> columns = new ArrayList<>();
    for (int i = 0; i < settings.columns().size(); i++) {
      String name = Source.name(i);
      boolean clean = settings.rules().normalize() && settings.textColumns().contains(i);
      columns.add(clean ? Texts.normalized(name) + " AS " + name : name);
    }
    String keyed = settings.rules().normalize() ? "text" : Texts.normalized("text");
    return ("SELECT n, key, %s, %s, %s FROM (SELECT *, length(text) AS chars, %s AS language FROM"
            + " (SELECT * FROM (SELECT *, sha256(CASE WHEN bad IS NULL THEN %s ELSE n::VARCHAR END)"
            + " AS key FROM (SELECT *, %s AS text FROM (SELECT %s AS n, bad, %s FROM source)))"
            + " WHERE %s))")
        .formatted(
            reason(),
            detail(),
            Source.names(settings.columns().size()),
            settings.rules().languages().isEmpty() ? "''" : Texts.language("text"),
            keyed,
            text(),
            Rows.number(place),
            String.join(", ", columns),
            share.owns("key"));
  }

  /** Returns SQL for the columns of the text, together. */
  private String text() {
    String columns = Source.names(settings.textColumns());
    return settings.textColumns().size() == 1
        ? "coalesce(" + columns + ", '')"
        : "concat_ws(chr(31), " + columns + ")";
  }

  private String reason() {
    StringBuilder sql = new StringBuilder("CASE WHEN bad IN ('broken JSON', 'no JSON object')");
    sql.append(" THEN 'broken' WHEN bad IS NOT NULL THEN 'schema' WHEN chars = 0 THEN 'empty'");
    PrepareSettings.TextRules rules = settings.rules();
    rules.minChars().ifPresent(n -> sql.append(" WHEN chars < " + n + " THEN 'too short'"));
    rules.maxChars().ifPresent(n -> sql.append(" WHEN chars > " + n + " THEN 'too long'"));
    if (!rules.languages().isEmpty()) {
      sql.append(" WHEN NOT list_contains(").append(Sql.texts(rules.languages()));
      sql.append(", language) THEN 'language'");
    }
    if (settings.id().isPresent()) {
      // A request needs an id; without requests an optional id may be missing.
      String id = settings.column(settings.id().get()) + "::VARCHAR";
      String none = settings.files().requests().isPresent() ? "coalesce(" + id + ", '')" : id;
      sql.append(" WHEN " + none + " = '' THEN 'empty id'");
    }
    return sql + " END AS reason";
  }

  private static String detail() {
    return "CASE WHEN bad IS NOT NULL THEN bad WHEN reason IN ('too short', 'too long') THEN chars || ' characters'"
        + " WHEN reason = 'language' THEN language END AS detail";
  }
}
