package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.ConfigReader;
import java.util.List;

/** Plans of configs and clusters that are written down in the test. */
public final class Plans {
  /** A cluster of which nothing is known but where its storage lies. */
  public static final String CLUSTER =
      "storage: {scratch: /scratch, durable: /durable, shared: /shared}\n";

  private Plans() {}

  /** The plan of a config on a cluster. */
  public static Plan of(String config, String cluster) {
    return of(
        new ConfigFolder().with("run.yaml", config).with("configs/clusters/mine.yaml", cluster));
  }

  /** The plan of the folder's {@code run.yaml} on its cluster {@code mine}. */
  public static Plan of(ConfigFolder folder, String... overrides) {
    ConfigReader reader = folder.reader();
    return new Planner(folder.source())
        .plan(reader.run("run.yaml", List.of(overrides)), reader.cluster("mine"), reader.policy());
  }
}
