package dev.nexa.slurm.app;

import dev.nexa.slurm.config.ConfigSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** {@code init}: a workspace to start from. What is there already is left alone. */
public final class InitWorkspace {
  private static final List<String> STARTER =
      List.of(
          "configs/clusters/cpu.yaml",
          "configs/clusters/default.yaml",
          "configs/clusters/local.yaml",
          "configs/prices/default.yaml",
          "configs/policy.yaml",
          "configs/data/quickstart.yaml",
          "configs/data/quickstart/Records.java",
          "configs/train/science.yaml",
          "configs/train/science/train.py",
          "docs/schemas/cluster.schema.json",
          "docs/schemas/policy.schema.json",
          "docs/schemas/prices.schema.json",
          "docs/schemas/run.schema.json");

  private final Nexa nexa;

  public InitWorkspace(Nexa nexa) {
    this.nexa = nexa;
  }

  /** Writes the files that are missing; tells which. */
  public List<Path> init() {
    List<Path> written = new ArrayList<>();
    ConfigSource source = nexa.source();
    for (String name : STARTER) {
      Path file = nexa.root().resolve(name);
      if (!Files.exists(file)) {
        write(file, source.product(name).bytes());
        written.add(file);
      }
    }
    return written;
  }

  private void write(Path file, byte[] content) {
    nexa.workspace().files().directories(file.resolveSibling(""));
    nexa.workspace().files().replace(file, content, "rw-r--r--");
  }
}
