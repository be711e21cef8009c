package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.job.config.ClusterProfile;
import dev.nexa.slurm.job.config.DataStage;
import dev.nexa.slurm.job.config.RunConfig;
import java.util.List;
import java.util.Optional;

/**
 * Our own program, as a job runs it on a node. The workspace holds it under its digest.
 *
 * @param java the nodes' {@code java}
 * @param files its files; the first one is our jar
 */
public record NodeProgram(String java, List<ProgramFile> files) {
  /** Returns the program that runs now, for a config whose job runs it; else empty. */
  static Optional<NodeProgram> of(RunConfig config, ClusterProfile cluster) {
    return config.backend().equals(DataStage.BACKEND)
        ? Optional.of(new NodeProgram(cluster.java(), OwnProgram.files()))
        : Optional.empty();
  }

  /** Returns the SHA-256 of our jar, by which the workspace names the program. */
  public String sha256() {
    return files.get(0).sha256();
  }

  JsonObject toJson() {
    JsonObject digests = new JsonObject();
    for (ProgramFile file : files) {
      digests.with(file.name(), file.sha256());
    }
    return new JsonObject().with("sha256", sha256()).with("java", java).with("files", digests);
  }
}
