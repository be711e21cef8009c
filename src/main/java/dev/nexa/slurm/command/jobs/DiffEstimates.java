package dev.nexa.slurm.command.jobs;

import dev.nexa.slurm.job.estimate.EstimateDiff;
import dev.nexa.slurm.job.estimate.EstimateDiff.Side;
import dev.nexa.slurm.job.plan.PlanFile;
import dev.nexa.slurm.records.runs.ProvenFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.run.lookup.RunLookup;
import dev.nexa.slurm.run.start.Prepared;
import java.nio.file.Files;
import java.nio.file.Path;
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
   * @param earlier a config's path, or a run as {@link RunLookup} finds it
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
    // A config is a file; what is no file and has no dot or slash can only be a run.
    boolean run = !name.matches(".*[./].*") && !Files.exists(Path.of(name));
    if (run) {
      RunFolder folder = new RunLookup(context.workspace()).find(name).run();
      ProvenFiles files = ProvenFiles.of(folder);
      return new Side(folder.id().value(), files.plan(), files.estimate());
    }
    Prepared prepared = Prepared.of(context, request);
    return new Side(name, PlanFile.of(prepared.plan()), prepared.estimateFile());
  }
}
