package dev.nexa.slurm.job.config.run;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One version of a dataset, as the registry holds it. Its bytes never change; its status can.
 *
 * <p>This class owns the keys of a version. It keeps keys that it does not know.
 *
 * @param json all keys in their order; the caller does not change them
 */
public record DatasetVersion(String name, String version, JsonObject json) {
  /** Where a version is in its life. */
  public enum Status {
    REGISTERED,
    PROMOTED,
    RETIRED;

    /** Returns the word that the registry and the commands use. */
    public String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** The form of a dataset's name, which configs can hold under {@code dataset}. */
  public static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,62}");

  /** The form of a version: {@code v1}. */
  public static final Pattern VERSION = Pattern.compile("v[1-9][0-9]{0,8}");

  /** A path on a tier that is kept, without control characters. */
  private static final Pattern PATH =
      Pattern.compile("\\$\\{(durable|shared)\\}(/(?!\\.\\.?(/|$))[^/\\p{Cntrl}]+)+");

  private static final Pattern ROOT = Pattern.compile("[0-9a-f]{64}");

  /**
   * Reads a version.
   *
   * @throws IllegalArgumentException if a key is missing or wrong; the message names the key
   */
  public DatasetVersion(String name, String version, JsonObject json) {
    this.name = name;
    this.version = version;
    this.json = json;
    require(NAME, name, "a dataset's name of letters, digits, '.', '_' and '-'");
    require(PATH, path(), "a path below ${durable} or ${shared} under \"path\"");
    require(VERSION, version, "a version such as v1, got '" + version + "'");
    require(ROOT, root(), "64 hex digits under \"root\"");
    bytes();
    files();
    newest();
    status();
    rows();
    parents();
    schema();
    List.of("licence", "source", "description", "run", "pipeline").forEach(json::optionalText);
  }

  private static void require(Pattern form, String value, String expected) {
    if (!form.matcher(value).matches()) {
      throw new IllegalArgumentException("expected " + expected);
    }
  }

  /**
   * Makes a version that is not promoted.
   *
   * @param path its path, beginning with a tier such as <code>${durable}</code>
   * @param root the SHA-256 over all its files
   * @param newest the time when its newest file was written
   * @param facts further keys
   */
  public static DatasetVersion registered(
      String name,
      String version,
      String path,
      String root,
      long bytes,
      long files,
      Instant newest,
      JsonObject facts) {
    JsonObject json =
        new JsonObject()
            .with("status", Status.REGISTERED.word())
            .with("path", path)
            .with("root", root)
            .with("bytes", bytes)
            .with("files", files)
            .with("newest", newest.toString())
            .with(facts);
    return new DatasetVersion(name, version, json);
  }

  /** Returns a copy with a new status, and with who set it and when. */
  public DatasetVersion with(Status status, JsonObject whoAndWhen) {
    return with("status", status.word()).with(status.word(), whoAndWhen);
  }

  /** Returns a copy with another value of a key. */
  public DatasetVersion with(String key, Object value) {
    return new DatasetVersion(name, version, new JsonObject().with(json).with(key, value));
  }

  /** Returns {@code name@version}. */
  public String reference() {
    return name + "@" + version;
  }

  /** Returns the name of the file with the checksums, in the folder {@code manifests/datasets}. */
  public String listName() {
    return reference() + ".json";
  }

  /** Returns the path, which begins with a tier such as <code>${durable}</code>. */
  public String path() {
    return json.text("path");
  }

  /** Returns the path on these tiers. */
  public String path(Storage tiers) {
    return tiers.written(path());
  }

  /** Returns the SHA-256 over the list of files (docs/datasets.md). */
  public String root() {
    return json.text("root");
  }

  public long bytes() {
    return json.number("bytes");
  }

  public long files() {
    return json.number("files");
  }

  /** Returns the time when the newest file was written. */
  public Instant newest() {
    return json.instant("newest");
  }

  /** Returns the number of rows; empty if they could not be counted. */
  public Optional<Long> rows() {
    return json.members().get("rows") instanceof Number
        ? Optional.of(json.number("rows"))
        : Optional.empty();
  }

  /** Returns the columns and DuckDB's names of their types, in order; empty if they are unknown. */
  public Map<String, String> schema() {
    Map<String, String> columns = new LinkedHashMap<>();
    JsonObject schema = json.optionalObject("schema").orElseGet(JsonObject::new);
    schema.members().keySet().forEach(key -> columns.put(key, schema.text(key)));
    return columns;
  }

  public Status status() {
    String word = json.text("status");
    for (Status status : Status.values()) {
      if (status.word().equals(word)) {
        return status;
      }
    }
    throw new IllegalArgumentException(
        "expected registered, promoted or retired under \"status\", got '" + word + "'");
  }

  public Optional<String> licence() {
    return json.optionalText("licence");
  }

  /** Returns where the data comes from, as a person wrote it. */
  public Optional<String> source() {
    return json.optionalText("source");
  }

  /** Returns the versions that this version was made of, as {@code name@version}. */
  public List<String> parents() {
    return json.members().containsKey("parents") ? json.texts("parents") : List.of();
  }

  /** Returns the id of the run that made it. */
  public Optional<String> run() {
    return json.optionalText("run");
  }

  /** Returns the text under a key of a person's statement, such as {@code registered.by}. */
  public Optional<String> statement(String what, String key) {
    return json.optionalObject(what).map(given -> given.members().get(key)).map(Object::toString);
  }

  /** Returns the part that a run's plan holds, so that an approval covers the bytes. */
  public JsonObject planned(boolean checksums) {
    return new JsonObject()
        .with("dataset", reference())
        .with("path", path())
        .with("root", root())
        .with("check", checksums ? "sha256" : "size");
  }
}
