package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.job.config.site.Energy;
import dev.nexa.slurm.job.config.site.Health;
import java.time.Duration;
import java.util.Optional;

/**
 * The cluster that the run goes to, as its profile describes it.
 *
 * @param cluster the name of the cluster profile
 * @param scheduler {@code slurm} or {@code local}
 * @param accelerator {@code cuda} or {@code cpu}
 * @param health the conditions that a node must meet; empty if nodes are not checked
 * @param energy figures to compute CO2e; empty if the profile gives none
 * @param maxArraySize the highest index of an array on the cluster, plus one
 * @param overTimeLimit how long a job may exceed its time limit
 * @param killWait the time between SIGTERM and SIGKILL
 * @param messageTimeout how long Slurm's commands wait for an answer
 */
public record Site(
    String cluster,
    String scheduler,
    String accelerator,
    Storage storage,
    Optional<Health> health,
    Optional<Energy> energy,
    int maxArraySize,
    Duration overTimeLimit,
    Duration killWait,
    Duration messageTimeout) {}
