package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.code.PackedCode;
import dev.nexa.slurm.job.config.run.ApiTokens;
import dev.nexa.slurm.job.config.run.Entrypoint;
import dev.nexa.slurm.job.config.run.NativeOptions;
import dev.nexa.slurm.job.config.run.SyncStage;
import dev.nexa.slurm.job.config.steps.DataStage;
import java.util.List;
import java.util.Optional;

/**
 * The work of a task.
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

  /**
   * Returns the most tokens of a paid API that the run may use, all its tasks and attempts
   * together; empty if it uses none.
   */
  public Optional<ApiTokens> apiTokens() {
    return data.isPresent() ? ApiTokens.limit(data.get().settings()) : Optional.empty();
  }

  /**
   * Returns the path of {@code entrypoint.script} in the job. The path begins with a placeholder.
   * It lies in the unpacked code if the code has the script; else it lies in runner/.
   *
   * @param script the script, as the config names it
   */
  public String scriptInJob(String script) {
    if (code.isPresent() && code.get().script().isPresent()) {
      return "${code}/" + code.get().script().get();
    }
    return "${run_dir}/runner/" + script.substring(script.lastIndexOf('/') + 1);
  }
}
