package dev.nexa.slurm.app;

import dev.nexa.slurm.journal.RunId;
import dev.nexa.slurm.plan.Plan;
import dev.nexa.slurm.render.Renderer;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.scheduler.ClientEnvironment;
import dev.nexa.slurm.scheduler.SubmitRequest;
import dev.nexa.slurm.scheduler.slurm.SlurmCommands;
import dev.nexa.slurm.submit.ArrayShape;
import dev.nexa.slurm.units.IndexRange;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * {@code render} and {@code submit --dry-run}: the very bytes that would be sent, and sbatch's
 * arguments.
 */
public final class RenderRun {
  private final Nexa nexa;

  public RenderRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * What would be sent.
   *
   * @param argv sbatch's arguments, with a run id and a key of the shape that a submit would make
   * @param submissions how many such calls there would be: an array holds only so many tasks
   */
  public record Rendered(Prepared prepared, Script script, List<String> argv, int submissions) {}

  public Rendered render(Prepared.Request request) {
    return render(request, Optional.empty());
  }

  /**
   * The same for a run that waits for others.
   *
   * @param after what {@link Dependencies} reads
   */
  public Rendered render(Prepared.Request request, Optional<String> after) {
    Prepared prepared = Prepared.of(nexa, request);
    Script script =
        new Renderer(nexa.source(), prepared.plugin()).render(prepared.plan(), prepared.launch());
    String runId = new RunId(prepared.plan().stage() + "_20000101_000000").value();
    Path run = nexa.workspace().runs().toAbsolutePath().normalize().resolve(runId);
    String key = runId + ".xxxxxx";
    Plan plan = prepared.plan();
    ArrayShape array =
        new ArrayShape(plan.tasks(), plan.maxArraySize(), plan.maxParallel(), plan.chain());
    List<ArrayShape.Part> parts = array.parts(IndexRange.upTo(array.tasks()));
    SubmitRequest call =
        new SubmitRequest(
            key,
            run.resolve("job.sbatch"),
            run.resolve("submissions").resolve(key),
            run.resolve("logs").toString().replace("%", "%%") + "/%A_%a.out",
            "",
            run,
            parts.get(0).array(),
            after.isPresent()
                ? new Dependencies(nexa, prepared.plan().scheduler()).onJobs(after.get())
                : "");
    return new Rendered(
        prepared,
        script,
        SlurmCommands.sbatch(call, ClientEnvironment.forClients(nexa.environment())),
        parts.size() * array.chain());
  }
}
