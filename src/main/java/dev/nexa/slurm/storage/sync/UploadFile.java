package dev.nexa.slurm.storage.sync;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Uploads single files with the guarantees of a sync: checked, never over a version that was not
 * expected, and resumed after a crash.
 */
public final class UploadFile {
  private final ObjectStore store;
  private final Path folder;

  /**
   * Creates an uploader.
   *
   * @param folder holds the files, and below {@code .nexa-uploads} what is known of broken uploads
   */
  public UploadFile(ObjectStore store, Path folder) {
    this.store = store;
    this.folder = folder;
  }

  /**
   * Uploads a file.
   *
   * @param name its name in the folder
   * @param replaced the version of the object that it replaces; empty if there must be none
   * @throws StoreException of kind CHANGED if the file or the object changed
   */
  public void send(String name, String key, Optional<String> replaced) throws IOException {
    Path uploads = Files.createDirectories(folder.resolve(".nexa-uploads"));
    Traffic traffic = new Traffic(new Throttle(0));
    new Upload(new LocalTree(folder), store, uploads, Retry.USUAL, traffic)
        .send(key, name, replaced);
  }
}
