package dev.nexa.slurm.job.backend;

import dev.nexa.slurm.job.plan.Plan;
import dev.nexa.slurm.job.plan.RunnerFile;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * {@code backend: shell}: runs the config's {@code run} text, unchanged, with bash in each task.
 */
public final class ShellBackend implements Backend {
  private static final String FILE = "run.sh";

  @Override
  public String name() {
    return "shell";
  }

  @Override
  public Launch launch(Plan plan) {
    if (plan.payload().run().isEmpty()) {
      throw plan.written().error("run", "missing; backend shell runs the text under this key");
    }
    List<String> command = List.of("bash", "${run_dir}/runner/" + FILE);
    List<RunnerFile> files = new ArrayList<>();
    files.add(RunnerFile.text(FILE, plan.payload().run().get()));
    for (int task = 1; task < plan.shape().groups().size(); task++) {
      Optional<String> run = plan.shape().groups().get(task).plan().payload().run();
      if (run.isPresent()) {
        files.add(RunnerFile.text("group_" + task + ".sh", run.get()));
      }
    }
    return new Launch(Launch.TASK, command, files)
        .noting(
            plan.written().has("options")
                ? List.of("nothing that runs reads options: shell has none; write them into run")
                : List.of());
  }
}
