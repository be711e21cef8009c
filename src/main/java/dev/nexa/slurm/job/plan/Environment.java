package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.shared.Software;
import java.util.Map;
import java.util.Optional;

/**
 * What a task finds when its command starts.
 *
 * @param setup whether the job first runs the file {@link Plan#SETUP}
 * @param workdir the folder in which the command starts; empty for the template's choice
 */
public record Environment(
    Software software,
    Map<String, String> env,
    Optional<String> envFile,
    boolean setup,
    Optional<String> workdir,
    boolean debug) {}
