package dev.nexa.slurm.app;

import dev.nexa.slurm.approve.Person;
import dev.nexa.slurm.approve.Proposal;
import dev.nexa.slurm.config.Policy;
import dev.nexa.slurm.error.ExitCode;
import dev.nexa.slurm.error.NexaException;
import dev.nexa.slurm.estimate.Estimate;
import dev.nexa.slurm.files.JsonObject;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.render.Script;
import dev.nexa.slurm.submit.ArrayShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** {@code rerun RUN}: a new run from the stored script, byte for byte, at the stored rates. */
public final class RerunRun {
  private final Nexa nexa;

  public RerunRun(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * Submits all of it again, under a run id of its own.
   *
   * @param approval the file that covers it; else it is looked for where the policy says
   */
  public Submitted rerun(RunFolder old, Optional<String> approval) {
    RerunTasks.requireStaged(old);
    JsonObject plan = old.planJson();
    Script script = old.storedScript();
    if (!script.digest().equals(plan.text("script_digest"))) {
      throw new NexaException(
          ExitCode.USAGE,
          old.path() + ": job.sbatch or a file in runner/ is not what was submitted",
          "submit the config again: nexa-slurm submit " + plan.text("config"));
    }
    ArrayShape array = ArrayShape.of(plan);
    Estimate estimate = Estimate.again(plan, old.estimateJson(), array.tasks(), array.chain());
    Proposal proposal = Proposal.of(nexa.root(), plan, script, estimate, Person.me());
    Policy policy = nexa.configs().policy();
    JsonObject asked = proposal.addTo(estimate.toJson(true));
    try (Clearance clearance = Clearance.of(nexa, policy, proposal, plan, asked, approval)) {
      List<String> notes = new ArrayList<>(List.of("the stored script of " + old.id()));
      notes.addAll(clearance.notes());
      return new NewRun(
              script,
              plan.with("rerun_of", old.id().value()),
              clearance.addTo(proposal.addTo(clearance.estimate().toJson(false))),
              clearance,
              notes,
              List.of(),
              "")
          .submit(nexa);
    }
  }
}
