package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.config.DataStage;
import dev.nexa.slurm.job.config.NativeOptions;
import dev.nexa.slurm.job.config.RunConfig.Entrypoint;
import dev.nexa.slurm.job.config.SyncStage;
import java.util.List;
import java.util.Optional;

/**
 * What a task does.
 *
 * @param optionsFile the runner's own config file; the config's keys and options override it
 * @param files the files that the config names; the run keeps them
 * @param code the working tree that the job unpacks; empty if the config has no {@code code}
 * @param program our own program, which the job runs; empty for other backends
 * @param data the step of a data stage; empty for other backends
 * @param sync the copy of a sync stage; empty for other backends
 */
public record Payload(
    Optional<String> run,
    Optional<Entrypoint> entrypoint,
    JsonObject options,
    Optional<NativeOptions> optionsFile,
    List<RunnerFile> files,
    Optional<PackedCode> code,
    Optional<NodeProgram> program,
    Optional<DataStage> data,
    Optional<SyncStage> sync) {
  /** Returns a copy with other options. */
  Payload with(JsonObject options) {
    return new Payload(run, entrypoint, options, optionsFile, files, code, program, data, sync);
  }
}
