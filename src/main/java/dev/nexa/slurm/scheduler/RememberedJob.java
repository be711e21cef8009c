package dev.nexa.slurm.scheduler;

/**
 * A task as the controller's own memory has it, which keeps it for a while after its end
 * (MinJobAge): its newest attempt and no other.
 *
 * @param row the attempt; its cluster is not told
 * @param restarts how often the task had been queued again when this attempt began
 */
public record RememberedJob(AccountingRecord row, int restarts) {}
