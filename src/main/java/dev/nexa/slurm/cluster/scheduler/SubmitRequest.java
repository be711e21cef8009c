package dev.nexa.slurm.cluster.scheduler;

import java.nio.file.Path;
import java.util.Optional;

/**
 * The arguments of one sbatch call. It holds only what differs between submissions; all other
 * options are {@code #SBATCH} lines of the script.
 *
 * @param key the submission's key, which becomes the job's name
 * @param script the finished script on disk
 * @param submissionDir the folder that is passed to the script as its only argument
 * @param output the log path with Slurm's patterns ({@code %A_%a}); any other percent sign is
 *     doubled
 * @param comment the approval's id or another short text; empty for none
 * @param directory the job's working directory
 * @param array array indices in sbatch's notation, for a submission of only some tasks; empty to
 *     keep the script's own
 * @param dependency the job's dependency in sbatch's notation; empty for none
 * @param exclude the nodes that the job must not have, instead of the script's; empty to keep those
 */
public record SubmitRequest(
    String key,
    Path script,
    Path submissionDir,
    String output,
    String comment,
    Path directory,
    Optional<String> array,
    String dependency,
    String exclude) {}
