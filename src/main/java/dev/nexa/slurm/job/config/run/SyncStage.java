package dev.nexa.slurm.job.config.run;

import static dev.nexa.slurm.job.config.yaml.Schema.listOf;
import static dev.nexa.slurm.job.config.yaml.Schema.optional;
import static dev.nexa.slurm.job.config.yaml.Schema.required;
import static dev.nexa.slurm.job.config.yaml.Schema.section;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.config.yaml.Schema.Section;
import dev.nexa.slurm.job.config.yaml.ValueType;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The section {@code sync} of a run's config: the folder that the job copies to S3 (docs/sync.md).
 *
 * @param from the folder or file, with placeholders
 * @param to the address, with placeholders; empty if it follows from the profile's {@code
 *     storage.s3_prefix}
 * @param threads how many files are copied at once
 * @param bandwidth the most bytes in a second, such as {@code 50M}
 * @param storageClass the class of new objects; empty for the profile's
 * @param endpoint the store's URL; empty for the profile's
 * @param include patterns of the files that are copied although {@code exclude} matches them
 * @param exclude patterns of the files that are left out
 */
public record SyncStage(
    String from,
    Optional<String> to,
    Optional<Integer> threads,
    Optional<String> bandwidth,
    Optional<String> storageClass,
    Optional<String> endpoint,
    List<String> include,
    List<String> exclude) {
  /** The keys of the section. */
  static final Section KEYS =
      section(
          required(
              "from",
              ValueType.PATH,
              "The folder to copy: `${durable}/…`, or `${stages.NAME.checkpoint}` in a pipeline. If it is a"
                  + " file, only this file is copied."),
          optional(
              "to",
              ValueType.LITERAL,
              "The address, such as `s3://bucket/prefix/${run_id}`. Default: the profile's storage.s3_prefix and"
                  + " the path of `from` below the durable tier."),
          optional(
              "threads",
              ValueType.integer(1, 99),
              "How many files are copied at once. Default: 16."),
          optional(
              "bandwidth",
              ValueType.count(
                  "bytes in a second, such as 50M", "[1-9][0-9]{0,8}([KMGTkmgt]?(i?B)?)"),
              "The most bytes in a second, such as `50M`. Default: unlimited."),
          optional(
              "storage_class",
              ValueType.STORAGE_CLASS,
              "The storage class of new objects. Default: the profile's storage.s3.storage_class."),
          optional(
              "endpoint",
              ValueType.STORE_URL,
              "The store's URL, for MinIO, Ceph or Backblaze. Default: the profile's storage.s3.endpoint, else"
                  + " AWS."),
          optional(
              "exclude",
              listOf(ValueType.TEXT),
              "Patterns of files to leave out, such as `optimizer*`. `*` also matches slashes."),
          optional(
              "include",
              listOf(ValueType.TEXT),
              "Patterns of files to copy although a pattern of `exclude` matches them."));

  /** The stage of these runs, and their backend. */
  public static final String NAME = "sync";

  private static final Pattern ADDRESS =
      Pattern.compile("s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/.*)?");
  private static final Pattern REFERENCE = Pattern.compile("\\$\\{(?!run_id})[^}]*}");
  private static final String FORM = "s3://BUCKET/PREFIX";

  static SyncStage from(Values sync) {
    return new SyncStage(
        sync.text("from"),
        sync.optionalText("to"),
        sync.optionalInteger("threads"),
        sync.optionalText("bandwidth"),
        sync.optionalText("storage_class"),
        sync.optionalText("endpoint"),
        sync.texts("include"),
        sync.texts("exclude"));
  }

  /** Adds the problems of a run's section {@code sync}, and of keys that do not go with it. */
  static void check(Values values) {
    String backend = values.optionalText("backend").orElse("");
    if (values.has(NAME) && !backend.equals(NAME)) {
      String message =
          "needs backend: sync, got backend: %s; write backend: sync, or leave the section out"
              .formatted(backend);
      values.report(NAME, message);
      return;
    }
    String stage = values.optionalText("stage").orElse(NAME);
    if (!stage.equals(NAME)) {
      String message = "backend sync needs stage: sync, got '" + stage + "'; write stage: sync";
      values.report("stage", message);
    }
    if (values.has(NAME)) {
      checkPlaces(values.section(NAME));
    } else if (!values.isWrong(NAME)) {
      String message =
          "missing; backend sync needs it: write sync: {from: \"${durable}/checkpoints/NAME\"}";
      values.report(NAME, message);
    }
    checkOwnKeys(values);
  }

  private static void checkPlaces(Values sync) {
    String from = sync.optionalText("from").orElse("/");
    if (!from.startsWith("/") && !from.startsWith("${")) {
      String message =
          "expected an absolute path, got '%s'; begin it with ${durable}/, or with"
              + " ${stages.NAME.checkpoint} in a pipeline";
      sync.report("from", message.formatted(from));
    }
    sync.optionalText("to").ifPresent(to -> checkAddress(sync, to));
  }

  private static void checkAddress(Values sync, String to) {
    Matcher reference = REFERENCE.matcher(to);
    if (reference.find()) {
      String message = "unknown reference %s; an address may hold ${run_id}";
      sync.report("to", message.formatted(reference.group()));
    } else if (!ADDRESS.matcher(to).matches()) {
      String message =
          "expected an address such as s3://bucket/prefix, got '%s'; the name of a bucket has 3 to"
              + " 63 lower-case letters, digits, dots and hyphens";
      sync.report("to", message.formatted(to));
    } else if (to.indexOf("//", "s3://".length()) >= 0) {
      sync.report("to", "the prefix of '" + to + "' holds '//'; write one slash");
    }
  }

  /** Adds the problems of keys that backend sync does not read. */
  private static void checkOwnKeys(Values values) {
    for (String key :
        List.of("run", "entrypoint", "options", "options_file", "code", "data", "checkpoints")) {
      if (values.has(key)) {
        values.report(key, "backend sync does not read it; leave it out");
      }
    }
    for (String key : List.of("array", "sweep")) {
      if (values.has(key)) {
        values.report(key, "a sync stage is one task; sync.threads says how many files go at once");
      }
    }
    Values resources = values.section("resources");
    if (resources.optionalInteger("gpus_per_node").orElse(0) > 0) {
      resources.report("gpus_per_node", "a sync stage uses no GPU; leave it out");
    }
    if (!resources.optionalText("nodes").orElse("1").equals("1")) {
      resources.report("nodes", "a sync stage works on one node; leave it out");
    }
  }

  /**
   * Adds a problem if the job could not know its address: {@code to} is missing, and the profile
   * gives none for {@code from}.
   */
  public void checkAddress(
      ClusterProfile cluster, ConfigPositions written, List<Problem> problems) {
    if (to.isPresent()) {
      return;
    }
    String file = cluster.file();
    Optional<String> prefix = cluster.storage().s3Prefix();
    String message = "";
    if (prefix.isEmpty()) {
      message =
          ("missing, and the cluster profile has no storage.s3_prefix either;"
                  + " write to: %s, or write storage.s3_prefix: %s in %s")
              .formatted(FORM, FORM, file);
    } else if (!ADDRESS.matcher(prefix.get()).matches()) {
      message =
          ("missing, and storage.s3_prefix in %s is no address such as"
                  + " s3://bucket/prefix: '%s'; write to: %s")
              .formatted(file, prefix.get(), FORM);
    } else if (!isBelowDurable(cluster.storage())) {
      message =
          ("missing; only files on the durable tier %s have an address below"
                  + " storage.s3_prefix, and sync.from is %s; write to: %s")
              .formatted(cluster.storage().durable(), from, FORM);
    }
    if (!message.isEmpty()) {
      problems.add(written.problem("sync.to", message));
    }
  }

  private boolean isBelowDurable(Storage storage) {
    String path = storage.written(from);
    return path.startsWith("${stages.")
        || path.equals(storage.durable())
        || path.startsWith(storage.durable() + "/");
  }

  /**
   * Returns what the job's program cannot know: the durable tier, its address, and how S3 is
   * reached. {@link #storage} reads it back.
   */
  public JsonObject settings(Storage storage) {
    S3Settings s3 =
        storage.s3().orElse(S3Settings.NONE).with(endpoint, Optional.empty(), storageClass);
    return new JsonObject()
        .with("durable", storage.durable())
        .withOptional("s3_prefix", storage.s3Prefix())
        .with("s3", s3.toJson());
  }

  /** Returns the tiers of {@link #settings}; those that a sync does not read are empty. */
  public static Storage storage(JsonObject settings) {
    return new Storage(
        "",
        settings.text("durable"),
        "",
        Optional.empty(),
        settings.optionalText("s3_prefix"),
        Optional.of(S3Settings.of(settings.object("s3"))),
        Optional.empty(),
        Optional.empty());
  }

  /** Returns the section and the settings, as plan.json keeps them. */
  public JsonObject toJson(Storage storage) {
    return new JsonObject()
        .with("from", from)
        .withOptional("to", to)
        .withOptional("threads", threads)
        .withOptional("bandwidth", bandwidth)
        .withOptional("include", Optional.of(include).filter(list -> !list.isEmpty()))
        .withOptional("exclude", Optional.of(exclude).filter(list -> !list.isEmpty()))
        .with("settings", settings(storage));
  }
}
