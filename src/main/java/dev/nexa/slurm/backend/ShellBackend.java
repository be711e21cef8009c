package dev.nexa.slurm.backend;

import dev.nexa.slurm.config.ConfigException;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.plan.RunnerFile;
import java.util.List;

/**
 * {@code backend: shell}: the config's {@code run: |} text, staged as it is and run by bash in each
 * task.
 */
public final class ShellBackend implements Backend {
  private static final String FILE = "run.sh";

  @Override
  public String name() {
    return "shell";
  }

  @Override
  public Launch launch(Plan plan) {
    if (plan.run().isEmpty()) {
      throw new ConfigException(
          plan.written().problem("run", "missing; backend shell runs the text under this key"));
    }
    List<String> command = List.of("bash", "${run_dir}/runner/" + FILE);
    return new Launch(Launch.TASK, command, List.of(RunnerFile.text(FILE, plan.run().get())));
  }
}
