package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Uploads single files with the guarantees of a sync: checked, never over a version that was not
 * expected, and resumed after a crash.
 */
public final class UploadFile {
  private final S3Place place;
  private final ObjectStore store;
  private final Path folder;

  /**
   * Creates an uploader.
   *
   * @param place the prefix of the objects' keys
   * @param folder holds the files, and below {@code .nexa-uploads} what is known of broken uploads
   */
  public UploadFile(S3Place place, ObjectStore store, Path folder) {
    this.place = place;
    this.store = store;
    this.folder = folder;
  }

  /**
   * Uploads a file. Its key is the prefix and its name.
   *
   * @param name its name in the folder
   * @param replaced the version of the object that it replaces; empty if there must be none
   * @param sending gets the bytes that were sent
   * @throws StoreException of kind CHANGED if the file or the object changed
   */
  public void send(String name, Optional<String> replaced, Running sending) throws IOException {
    Path uploads = Files.createDirectories(folder.resolve(".nexa-uploads"));
    Traffic traffic = new Traffic(new Throttle(0));
    traffic.report(sending);
    Sides sides = new Sides(new LocalTree(folder), place, store, Retry.USUAL, traffic);
    new Upload(sides, uploads, Runnable::run).send(name, replaced);
  }
}
