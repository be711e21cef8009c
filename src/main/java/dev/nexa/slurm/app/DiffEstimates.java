package dev.nexa.slurm.app;

import dev.nexa.slurm.estimate.EstimateDiff;
import dev.nexa.slurm.estimate.EstimateDiff.Side;
import dev.nexa.slurm.journal.RunFolder;
import dev.nexa.slurm.journal.RunId;
import java.util.List;
import java.util.Optional;

/** {@code estimate --diff}: two configs, or a config against an earlier run. */
public final class DiffEstimates {
  private final Nexa nexa;

  public DiffEstimates(Nexa nexa) {
    this.nexa = nexa;
  }

  /**
   * The difference.
   *
   * @param earlier a config's path, a run id or {@code latest}
   * @param request what it is held against; its cluster is the earlier config's too, its {@code
   *     --set} is not
   */
  public EstimateDiff between(String earlier, Prepared.Request request) {
    Prepared.Request before =
        new Prepared.Request(
            earlier, List.of(), request.cluster(), Optional.empty(), false, request.serves());
    return new EstimateDiff(side(before), side(request));
  }

  private Side side(Prepared.Request request) {
    String name = request.config();
    if (name.equals("latest") || RunId.parse(name).isPresent()) {
      RunFolder run = new RunLookup(nexa.workspace()).find(name).run();
      return new Side(run.id().value(), run.planJson(), run.estimateJson());
    }
    Prepared prepared = Prepared.of(nexa, request);
    return new Side(name, prepared.plan().toJson(), prepared.estimateJson());
  }
}
