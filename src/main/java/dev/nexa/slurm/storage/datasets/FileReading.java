package dev.nexa.slurm.storage.datasets;

/** Gets the files of a dataset while their bytes are read for the checksums. */
@FunctionalInterface
public interface FileReading {
  /**
   * Gets the next bytes of a file, in their order.
   *
   * @param path the file's path below the dataset
   * @param bytes belongs to the caller, which overwrites it afterwards
   * @param length how many bytes count
   */
  default void part(String path, byte[] bytes, int length) {}

  /** Gets a file after its last byte. */
  void done(DatasetFile file);
}
