package dev.nexa.slurm.storage.cleanup;

import java.nio.file.Path;

/**
 * A file or folder that stays.
 *
 * @param path its full path
 * @param reason why it stays, a clause without a full stop
 */
public record KeptPath(Path path, String reason) {}
