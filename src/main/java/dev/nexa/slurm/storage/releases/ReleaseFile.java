package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code release.json}: what a release is, and each of its files. No other class knows its keys.
 * Its SHA-256 is the digest of the release.
 *
 * @param origin the run that made the model
 * @param model what the model is
 * @param datasets the registered datasets that the run read
 * @param parents the runs whose outputs the run read
 * @param pipeline the id of the run's pipeline; empty if it had none
 * @param evaluation the evaluation of this model; empty if there is none
 * @param gate the verdict about this model; empty if there is none
 * @param licence the licence of the model, or {@link #UNKNOWN}
 * @param pickles the paths of files that run code when they are loaded
 * @param files all other files, in the order of their paths
 */
public record ReleaseFile(
    Origin origin,
    Model model,
    List<Dataset> datasets,
    List<String> parents,
    Optional<String> pipeline,
    Optional<Evaluation> evaluation,
    Optional<Gate> gate,
    String licence,
    List<String> pickles,
    List<Entry> files) {
  /** The word for a fact that is not known. */
  public static final String UNKNOWN = "unknown";

  private static final String FAILED_BEFORE = "failed_before";

  private static final int NEWEST = 1;

  /**
   * Where a release comes from.
   *
   * @param release its name
   * @param run the id of the run
   * @param ended when the run ended
   * @param submitter the user who submitted the run
   * @param configDigest the digest of the run's plan
   * @param checkpoint the folder or file of the model; empty for the only final checkpoint of the
   *     run
   */
  public record Origin(
      String release,
      String run,
      Instant ended,
      UnixUser submitter,
      String configDigest,
      Optional<String> checkpoint) {}

  /**
   * The model.
   *
   * @param stage the stage of the run, such as {@code train}
   * @param backend the runner; empty if the plan names none
   * @param base the model that the training began with
   * @param modelClass the class in the model's config.json, or the kind of adapter
   * @param adapter whether the files are a LoRA adapter, which needs the base model
   */
  public record Model(
      String stage,
      Optional<String> backend,
      Optional<String> base,
      Optional<String> modelClass,
      boolean adapter) {}

  /**
   * A registered dataset.
   *
   * @param reference {@code name@version}
   * @param root its Merkle root
   * @param licence its licence; empty if the registry has none
   */
  public record Dataset(String reference, String root, Optional<String> licence) {}

  /**
   * An evaluation of the model.
   *
   * @param run the run that evaluated
   * @param maker the program that computed the summary: {@code data.score} is our own; else the
   *     backend of a job whose numbers nobody checked, such as {@code shell}; empty in releases of
   *     earlier versions
   * @param file the summary, as a path in the release
   * @param summary the summary itself
   */
  public record Evaluation(String run, Optional<String> maker, String file, JsonObject summary) {}

  /**
   * The verdict of a gate.
   *
   * @param run the run of the gate
   * @param passed whether the gate passed
   * @param file gate.json, as a path in the release
   * @param figures the whole verdict, as gate.json has it
   * @param failedBefore the gates of the same model that had failed before, the oldest first
   */
  public record Gate(
      String run, boolean passed, String file, JsonObject figures, List<String> failedBefore) {}

  /** A file of the release: its path with slashes, its size in bytes, its SHA-256. */
  public record Entry(String path, long size, String sha256) {}

  /** Returns the file's text. Equal values give equal bytes. */
  public String text() {
    return Json.pretty(
        new JsonObject()
            .with(SchemaVersion.KEY, NEWEST)
            .with("release", origin.release())
            .with("run_id", origin.run())
            .with("created_at", origin.ended())
            .with("submitter", origin.submitter().toJson())
            .with("config_digest", origin.configDigest())
            .withOptional("checkpoint", origin.checkpoint())
            .with("stage", model.stage())
            .with("backend", model.backend().orElse(null))
            .with("base_model", model.base().orElse(null))
            .with("model_class", model.modelClass().orElse(null))
            .with("adapter", model.adapter())
            .with("datasets", datasets.stream().map(ReleaseFile::json).toList())
            .with("parents", parents)
            .with("pipeline", pipeline.orElse(null))
            .with("evaluation", evaluation.map(ReleaseFile::json).orElse(null))
            .with("gate", gate.map(ReleaseFile::json).orElse(null))
            .with("licence", licence)
            .with("pickles", pickles)
            .with("files", files.stream().map(ReleaseFile::json).toList()));
  }

  private static JsonObject json(Dataset dataset) {
    return new JsonObject()
        .with("dataset", dataset.reference())
        .with("root", dataset.root())
        .with("licence", dataset.licence().orElse(null));
  }

  private static JsonObject json(Evaluation evaluation) {
    return new JsonObject()
        .with("run_id", evaluation.run())
        .withOptional("made_by", evaluation.maker())
        .with("report", evaluation.file())
        .with("summary", evaluation.summary());
  }

  private static JsonObject json(Gate gate) {
    JsonObject json =
        new JsonObject()
            .with("run_id", gate.run())
            .with("verdict", gate.passed() ? "pass" : "fail")
            .with("file", gate.file())
            .with("figures", gate.figures());
    return gate.failedBefore().isEmpty() ? json : json.with(FAILED_BEFORE, gate.failedBefore());
  }

  private static JsonObject json(Entry file) {
    return new JsonObject()
        .with("path", file.path())
        .with("size", file.size())
        .with("sha256", file.sha256());
  }

  /**
   * Reads the text of a release.json.
   *
   * @param file the file's name for messages
   * @throws NexaException if the text is no such document, or a newer nexa-slurm wrote it
   */
  public static ReleaseFile parse(String text, String file) {
    try {
      JsonObject json = SchemaVersion.parse(text, file, NEWEST);
      List<Dataset> datasets = new ArrayList<>();
      for (JsonObject one : json.objects("datasets")) {
        datasets.add(
            new Dataset(one.text("dataset"), one.text("root"), one.optionalText("licence")));
      }
      List<Entry> files = new ArrayList<>();
      for (JsonObject one : json.objects("files")) {
        files.add(new Entry(one.text("path"), one.number("size"), one.text("sha256")));
      }
      return new ReleaseFile(
          new Origin(
              json.text("release"),
              json.text("run_id"),
              json.instant("created_at"),
              UnixUser.fromJson(json.object("submitter")),
              json.text("config_digest"),
              json.optionalText("checkpoint")),
          new Model(
              json.text("stage"),
              json.optionalText("backend"),
              json.optionalText("base_model"),
              json.optionalText("model_class"),
              json.flag("adapter")),
          List.copyOf(datasets),
          json.texts("parents"),
          json.optionalText("pipeline"),
          json.optionalObject("evaluation").map(ReleaseFile::evaluation),
          json.optionalObject("gate").map(ReleaseFile::gate),
          json.text("licence"),
          json.texts("pickles"),
          List.copyOf(files));
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw new NexaException(
          ErrorCode.RELEASE_DAMAGED,
          file + " is not the document of a release: " + broken.getMessage(),
          broken,
          Advice.step("package the run again under another name: --name NAME"));
    }
  }

  private static Evaluation evaluation(JsonObject json) {
    return new Evaluation(
        json.text("run_id"),
        json.optionalText("made_by"),
        json.text("report"),
        json.object("summary"));
  }

  private static Gate gate(JsonObject json) {
    String verdict = json.text("verdict");
    if (!verdict.equals("pass") && !verdict.equals("fail")) {
      throw new IllegalArgumentException("expected \"pass\" or \"fail\" under \"verdict\"");
    }
    return new Gate(
        json.text("run_id"),
        verdict.equals("pass"),
        json.text("file"),
        json.object("figures"),
        json.members().containsKey(FAILED_BEFORE) ? json.texts(FAILED_BEFORE) : List.of());
  }

  /** Returns the document with this list of files. */
  ReleaseFile withFiles(List<Entry> entries) {
    return new ReleaseFile(
        origin,
        model,
        datasets,
        parents,
        pipeline,
        evaluation,
        gate,
        licence,
        pickles,
        List.copyOf(entries));
  }

  /** Returns the sum of the sizes of all files, in bytes. */
  public long bytes() {
    return files.stream().mapToLong(Entry::size).sum();
  }
}
