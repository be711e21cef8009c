package dev.nexa.slurm.cluster.scheduler;

/**
 * The newest attempt of a task, as slurmctld remembers it. slurmctld keeps a job for some time
 * after its end (slurm.conf(5), MinJobAge).
 *
 * @param row the attempt; its cluster is empty
 * @param restarts how often the task had been requeued when this attempt began
 */
public record ControllerJob(AccountingRecord row, int restarts) {}
