package dev.nexa.slurm.records.runs;

import dev.nexa.slurm.base.files.DurableFiles;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/**
 * The folder of one pipeline, {@code pipelines/<id>}.
 *
 * <p>{@code pipeline.json} says which runs the pipeline has. It is written once, when the files of
 * all runs are on disk. A folder without it is no pipeline, and none of its runs is submitted.
 *
 * @param id the pipeline's id
 */
public record PipelineFolder(Workspace workspace, String id) {
  /** Name of the folder with a mark for each pipeline that has not ended. */
  static final String OPEN = "open";

  /** The stage in a pipeline's id. No run has this stage. */
  private static final String STAGE = "pipeline";

  /** Checks the id. */
  public PipelineFolder {
    id = new RunId(id).value();
  }

  /** Returns the n-th id of one second, counting from 1. It has the form of a run's id. */
  static String id(Instant now, int n) {
    return RunId.of(STAGE, now, n).value();
  }

  /** Returns the folder. */
  public Path path() {
    return workspace.pipelines().resolve(id);
  }

  /** Returns the path of the document that names the stages and their runs. */
  public Path document() {
    return path().resolve("pipeline.json");
  }

  /** Returns the path of the pipeline's manifest. */
  public Path manifest() {
    return path().resolve("manifest.json");
  }

  /** Returns whether the pipeline is complete on disk. */
  public boolean exists() {
    return Files.exists(document());
  }

  /** Returns whether the pipeline belongs to another user, whatever its document says. */
  public boolean isOfAnotherUser() {
    return Workspace.isOfAnotherUser(path());
  }

  /** Returns the login name of the user whose pipeline this is. */
  public String owner() {
    return Workspace.ownerOf(path());
  }

  /**
   * Checks that the pipeline is this user's.
   *
   * @throws dev.nexa.slurm.base.error.NexaException if it belongs to another user
   */
  public void requireOwn() {
    Workspace.requireOwn(id, path());
  }

  /** Returns whether passes still read the pipeline. */
  public boolean isOpen() {
    return Files.exists(mark());
  }

  private Path mark() {
    return workspace.pipelines().resolve(OPEN).resolve(id);
  }

  /** Writes the document, durably. From now on its runs are submitted, whatever process dies. */
  public void commit(String document) {
    DurableFiles files = workspace.files();
    files.mark(mark());
    files.create(document(), document.getBytes(StandardCharsets.UTF_8), "r--------");
    files.force(path());
  }

  /** Replaces the manifest. */
  public void writeManifest(String text) {
    workspace.files().replace(manifest(), text);
  }

  /** Marks the pipeline as one that passes read. */
  public void markOpen() {
    workspace.files().mark(mark());
  }

  /** Marks the pipeline as ended. */
  public void markClosed() {
    workspace.files().unmark(mark());
  }

  /** Removes the folder of a pipeline that was not committed. */
  public void giveUp() {
    workspace.files().removeEmpty(path());
  }

  @Override
  public String toString() {
    return id;
  }
}
