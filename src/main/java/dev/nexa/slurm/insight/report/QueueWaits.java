package dev.nexa.slurm.insight.report;

/**
 * How long runs of a partition waited from their submission to their start.
 *
 * @param runs the runs that started
 * @param half the seconds that half of the runs did not exceed
 * @param ninety the seconds that 90 percent of the runs did not exceed
 */
public record QueueWaits(String partition, int runs, long half, long ninety) {}
