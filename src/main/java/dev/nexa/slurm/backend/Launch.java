package dev.nexa.slurm.backend;

import dev.nexa.slurm.plan.RunnerFile;
import java.util.List;

/**
 * What is started inside the allocation.
 *
 * @param template the template that starts it, such as {@code task.sbatch.ftl}
 * @param command the words of the command; {@code ${run_dir}} and the storage tiers may stand in
 *     them
 * @param files files that the backend made, kept with the run beside the config's own
 */
public record Launch(String template, List<String> command, List<RunnerFile> files) {
  /** One process for each task. */
  public static final String TASK = "task.sbatch.ftl";

  /** torchrun on each node. */
  public static final String DDP = "ddp.sbatch.ftl";

  public Launch {
    command = List.copyOf(command);
    files = List.copyOf(files);
  }
}
