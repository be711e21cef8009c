package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import java.util.Optional;

/**
 * An entry of a bundle, as the archive's document lists it.
 *
 * @param path its path in the bundle, such as {@code checkpoints/final/model.safetensors}
 * @param kind empty for a file
 * @param size the bytes of a file; empty for everything else
 * @param sha256 the digest of a file; empty for everything else
 * @param target where a link leads; empty for everything else
 */
record BundledFile(
    String path,
    Optional<Kind> kind,
    Optional<Long> size,
    Optional<String> sha256,
    Optional<String> target) {
  /** Returns the entry of a file with this digest, or of something else. */
  static BundledFile of(TarEntry entry, Optional<String> sha256) {
    boolean file = entry.kind() == Kind.FILE;
    return new BundledFile(
        entry.path(),
        file ? Optional.empty() : Optional.of(entry.kind()),
        file ? Optional.of(entry.bytes()) : Optional.empty(),
        sha256,
        entry.kind() == Kind.LINK ? Optional.of(entry.target()) : Optional.empty());
  }
}
