package dev.nexa.slurm.cluster.scheduler.slurm;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The clusters of src/test/resources/cluster. */
public final class Clusters {
  /** Where they lie; its README says how each came about. */
  public static final Path FOLDER = Path.of("src/test/resources/cluster");

  private Clusters() {}

  /** The cluster whose files' names begin so. */
  public static SlurmCluster of(String name) {
    return ClusterText.read(text(name, "config"), text(name, "partitions"), text(name, "nodes"));
  }

  private static String text(String name, String asked) {
    try {
      return Files.readString(FOLDER.resolve(name + "-" + asked + ".txt"));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
