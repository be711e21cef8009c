package dev.nexa.slurm.job.plan;

import dev.nexa.slurm.job.config.run.RunConfig.Mail;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What is done for a task while it runs, and when it fails, and who hears of it.
 *
 * @param requeues how often Slurm may run a task again
 * @param retryOn which failures are retried, as often as {@code requeues} allows
 * @param watchdog a task without a sign of life for this long is ended; empty for never
 * @param monitor how often the nodes of a task are sampled; empty for never
 * @param warnBeforeEnd how long before the time limit a task is told to save
 * @param copyCheckpoints checkpoints are written on scratch, and copied to durable storage this
 *     often; empty if they are written in durable storage
 * @param channels where notifications about the run go; the digest does not include them
 */
public record Supervision(
    int requeues,
    List<String> retryOn,
    Optional<Duration> watchdog,
    Optional<Duration> monitor,
    Optional<Duration> warnBeforeEnd,
    Optional<Duration> copyCheckpoints,
    Optional<Mail> mail,
    List<NotifyChannel> channels) {}
