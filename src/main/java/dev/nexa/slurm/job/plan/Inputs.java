package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.pipeline.PipelineConfig;
import dev.nexa.slurm.job.config.run.DatasetVersion;
import dev.nexa.slurm.job.config.run.Serving;
import dev.nexa.slurm.job.config.run.Training;
import dev.nexa.slurm.job.config.run.Workload;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The inputs of a task.
 *
 * @param workload facts that only estimates use; the digest does not include them
 * @param datasets the registered versions of the datasets that the run reads; empty unless the
 *     policy asks for them
 * @param datasetChecksums whether the job reads all bytes of these datasets before it starts
 * @param after the stages that the run waits for in its pipeline; empty outside a pipeline
 */
public record Inputs(
    Training training,
    Serving serving,
    Optional<Workload> workload,
    Optional<String> dataset,
    List<DatasetVersion> datasets,
    boolean datasetChecksums,
    Map<String, PipelineConfig.Condition> after) {
  /** Returns a copy with other training keys. */
  Inputs with(Training training) {
    return new Inputs(training, serving, workload, dataset, datasets, datasetChecksums, after);
  }
}
