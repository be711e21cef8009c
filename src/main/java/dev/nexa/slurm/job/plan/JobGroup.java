package dev.nexa.slurm.job.plan;

/**
 * A group of a heterogeneous job. Group {@code k} is the run's task {@code k}, and component {@code
 * k} of the job: {@code 123+k} (sacct(1)).
 *
 * @param plan the plan of a job that is only this group
 */
public record JobGroup(String name, Plan plan) {}
