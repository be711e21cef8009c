package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.job.estimate.EstimateDiff;
import dev.nexa.slurm.job.estimate.EstimateDiff.Side;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.Prepared;
import java.util.List;

/** Implements {@code estimate --diff}: compares two configs, or a config and an earlier run. */
public final class DiffEstimates {
  private final Context context;

  public DiffEstimates(Context context) {
    this.context = context;
  }

  /**
   * Returns the difference.
   *
   * @param earlier a config's path, a run id or {@code latest}
   * @param request the config to compare with; its cluster applies to an earlier config too, its
   *     {@code --set} options do not
   */
  public EstimateDiff between(String earlier, Prepared.Request request) {
    Prepared.Request before =
        new Prepared.Request(
            earlier, List.of(), request.cluster(), List.of(), false, request.serves());
    return new EstimateDiff(side(before), side(request));
  }

  private Side side(Prepared.Request request) {
    String name = request.config();
    if (name.equals("latest") || RunId.parse(name).isPresent()) {
      RunFolder run = new RunLookup(context.workspace()).find(name).run();
      ProvenFiles files = ProvenFiles.of(run);
      return new Side(run.id().value(), files.plan(), files.estimate());
    }
    Prepared prepared = Prepared.of(context, request);
    return new Side(name, PlanFile.of(prepared.plan()), prepared.estimateFile());
  }
}
