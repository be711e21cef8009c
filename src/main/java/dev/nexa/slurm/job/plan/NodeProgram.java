package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.program.OwnProgram;
import dev.nexa.slurm.base.program.ProgramFile;
import dev.nexa.slurm.job.config.site.ClusterProfile;
import java.util.List;

/**
 * Our own program, as a job runs it on a node. The workspace holds it under its digest.
 *
 * @param java the nodes' {@code java}
 * @param files its files; the first file is our jar
 */
public record NodeProgram(String java, List<ProgramFile> files) {
  /** Returns the program that runs now, for data steps. */
  static NodeProgram of(ClusterProfile cluster) {
    return new NodeProgram(cluster.nodes().java(), OwnProgram.files());
  }

  /** Returns the program that runs now, for {@code sync}. */
  static NodeProgram forS3(ClusterProfile cluster) {
    return new NodeProgram(cluster.nodes().java(), OwnProgram.filesForS3());
  }

  /** Returns whether one of its files is machine code, which only one kind of machine runs. */
  public boolean isNative() {
    return files.stream().anyMatch(ProgramFile::isNative);
  }

  /** Returns the SHA-256 of our jar. It is the program's name in the workspace. */
  public String sha256() {
    return files.get(0).sha256();
  }

  JsonObject toJson() {
    JsonObject digests = new JsonObject();
    files.forEach(file -> digests.with(file.name(), file.sha256()));
    return new JsonObject().with("sha256", sha256()).with("java", java).with("files", digests);
  }
}
