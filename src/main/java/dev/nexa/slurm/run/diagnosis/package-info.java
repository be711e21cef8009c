/**
 * Why a run failed, or why it waits: from accounting, the job's own record of its first failure,
 * and the lines of its logs. Only {@code ExplainRun} and {@code ExplainWait} read files and ask the
 * scheduler; nothing here writes.
 */
package dev.nexa.slurm.run.diagnosis;
