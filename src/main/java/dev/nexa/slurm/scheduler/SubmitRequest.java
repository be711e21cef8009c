package dev.nexa.slurm.scheduler;

import java.nio.file.Path;
import java.util.Optional;

/**
 * One sbatch call: what belongs to this submission and therefore goes by argument; everything else
 * stands in the script's own {@code #SBATCH} lines.
 *
 * @param key the submission's key, which is the job's name
 * @param script the finished script on disk
 * @param submissionDir the script's one argument
 * @param output the log path with Slurm's patterns ({@code %A_%a}), other percent signs doubled
 * @param comment the approval's id or another short text; empty for none
 * @param directory the job's working directory
 * @param array the array indices of a rerun or a part, as sbatch takes them; empty to keep the
 *     script's own
 * @param dependency what the job waits for, as sbatch takes it; empty for nothing
 */
public record SubmitRequest(
    String key,
    Path script,
    Path submissionDir,
    String output,
    String comment,
    Path directory,
    Optional<String> array,
    String dependency) {}
