package dev.nexa.slurm.storage.sync;

/**
 * A name that is not copied.
 *
 * @param reason as a part of a sentence, such as {@code a symbolic link}
 * @param complete false if files below it are unknown, so that nothing may be deleted
 */
public record Skipped(String path, String reason, boolean complete) {}
