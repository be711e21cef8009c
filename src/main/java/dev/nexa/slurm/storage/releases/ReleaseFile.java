package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.IfAny;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.json.SchemaVersion;
import dev.nexa.slurm.records.approvals.UnixUser;
import java.time.Instant;
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
@Codec.WithNulls
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
      @Key("run_id") String run,
      @Key("created_at") Instant ended,
      UnixUser submitter,
      String configDigest,
      Optional<String> checkpoint)
      implements Codec.Flat {}

  /**
   * The model.
   *
   * @param stage the stage of the run, such as {@code train}
   * @param backend the runner; empty if the plan names none
   * @param base the model that the training began with
   * @param modelClass the class in the model's config.json, or the kind of adapter
   * @param adapter whether the files are a LoRA adapter, which needs the base model
   */
  @Codec.WithNulls
  public record Model(
      String stage,
      Optional<String> backend,
      @Key("base_model") Optional<String> base,
      Optional<String> modelClass,
      boolean adapter)
      implements Codec.Flat {}

  /**
   * A registered dataset.
   *
   * @param reference {@code name@version}
   * @param root its Merkle root
   * @param licence its licence; empty if the registry has none
   */
  @Codec.WithNulls
  public record Dataset(@Key("dataset") String reference, String root, Optional<String> licence) {}

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
  public record Evaluation(
      @Key("run_id") String run,
      @Key("made_by") Optional<String> maker,
      @Key("report") String file,
      JsonObject summary) {}

  /**
   * The verdict of a gate.
   *
   * @param run the run of the gate
   * @param file gate.json, as a path in the release
   * @param figures the whole verdict, as gate.json has it
   * @param failedBefore the gates of the same model that had failed before, the oldest first
   */
  public record Gate(
      @Key("run_id") String run,
      Verdict verdict,
      String file,
      JsonObject figures,
      @IfAny List<String> failedBefore) {
    /** The verdict of a gate on a model. */
    public enum Verdict {
      PASS,
      FAIL;

      /** Returns the verdict of a gate. */
      public static Verdict of(boolean passed) {
        return passed ? PASS : FAIL;
      }
    }

    /** Returns whether the gate passed. */
    public boolean passed() {
      return verdict == Verdict.PASS;
    }
  }

  /** A file of the release: its path with slashes, its size in bytes, its SHA-256. */
  public record Entry(String path, long size, String sha256) {}

  /** Returns the file's text. Equal values give equal bytes. */
  public String text() {
    return Json.pretty(Codec.write(this, JsonObject.ofVersion(NEWEST)));
  }

  /**
   * Reads the text of a release.json.
   *
   * @param file the file's name for messages
   * @throws NexaException if the text is no such document, or a newer nexa-slurm wrote it
   */
  public static ReleaseFile parse(String text, String file) {
    try {
      return Codec.read(SchemaVersion.parse(text, file, NEWEST), ReleaseFile.class);
    } catch (IllegalArgumentException | ArithmeticException broken) {
      throw ErrorCode.RELEASE_DAMAGED.error(
          file + " is not the document of a release: " + broken.getMessage(),
          broken,
          Advice.step("package the run again under another name: --name NAME"));
    }
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
