package dev.nexa.slurm.job.render;

import dev.nexa.slurm.job.backend.Backends;
import dev.nexa.slurm.job.config.ConfigFolder;
import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.Planner;
import java.util.List;

/** Scripts of configs, rendered as submit renders them. */
final class Scripts {
  private Scripts() {}

  /** The script of a config on a cluster profile; a cluster of the folder's own or of the jar. */
  static Script of(ConfigFolder folder, String config, String cluster, String... overrides) {
    ConfigReader reader = folder.reader();
    Plan plan =
        new Planner(folder.source())
            .plan(reader.run(config, List.of(overrides)), reader.cluster(cluster), reader.policy());
    return new Renderer(folder.source())
        .render(plan, Backends.launch(plan, Backends.builtIn(plan.backend()).orElseThrow()));
  }
}
