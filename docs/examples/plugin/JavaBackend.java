import dev.nexa.slurm.job.backend.Backend;
import dev.nexa.slurm.job.backend.Launch;
import dev.nexa.slurm.job.config.yaml.ConfigException;
import dev.nexa.slurm.job.config.yaml.Problem;
import dev.nexa.slurm.job.plan.Plan;
import java.util.ArrayList;
import java.util.List;

/** {@code backend: java}: runs {@code entrypoint.script}, one file of Java, in each task. */
public final class JavaBackend implements Backend {
  @Override
  public String name() {
    return "java";
  }

  @Override
  public Launch launch(Plan plan) {
    List<Problem> problems = new ArrayList<>();
    List<String> command = new ArrayList<>(List.of("java"));
    for (String key : plan.options().members().keySet()) {
      if (!key.equals("heap")) {
        problems.add(plan.written().problem("options." + key, "backend java knows only heap"));
      }
    }
    plan.options().optionalText("heap").ifPresent(heap -> command.add("-Xmx" + heap));
    String script = plan.entrypoint().flatMap(started -> started.script()).orElse("");
    if (script.isEmpty()) {
      problems.add(plan.written().problem("entrypoint.script", "missing; backend java runs it"));
    }
    if (!problems.isEmpty()) {
      throw new ConfigException(problems);
    }
    // The file is kept with the run; bash in the job knows the run's folder.
    command.add("${run_dir}/runner/" + script.substring(script.lastIndexOf('/') + 1));
    plan.entrypoint().ifPresent(started -> command.addAll(started.args()));
    return new Launch("java.sbatch.ftl", command, List.of());
  }
}
