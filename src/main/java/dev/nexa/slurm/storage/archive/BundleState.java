package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.storage.sync.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;

/**
 * The state of a bundle.
 *
 * @param kind the state
 * @param detail why the bundle is damaged or could not be looked at; empty for the other states
 */
public record BundleState(Kind kind, String detail) {
  /** The states. */
  public enum Kind {
    /** It has the recorded size, and in S3 or after {@link #read} also the recorded SHA-256. */
    THERE,
    MISSING,
    DAMAGED,
    /** It could not be looked at. */
    UNKNOWN
  }

  /**
   * Looks at a bundle without reading it. Never throws: a place that does not answer is an unknown
   * state.
   */
  public static BundleState of(ArchiveFile archive, ArchivePlace place) {
    return of(archive, place, Optional::empty);
  }

  /**
   * Looks at a bundle, and reads it to compare its SHA-256 where the place keeps none. Never
   * throws.
   */
  public static BundleState read(ArchiveFile archive, ArchivePlace place, Progress progress) {
    return of(
        archive,
        place,
        () -> place.knowsDigests() ? Optional.empty() : otherBytes(archive, place, progress));
  }

  private static Optional<String> otherBytes(
      ArchiveFile archive, ArchivePlace place, Progress progress) throws IOException {
    Phase phase =
        Phase.of("verifying the bundle of " + archive.run()).withBytes(archive.bundle().bytes());
    try (Running reading = progress.begin(phase);
        InputStream in = reading.counting(place.open(archive))) {
      String sha256 = Sha256.of(in);
      return sha256.equals(archive.bundle().sha256())
          ? Optional.empty()
          : Optional.of("its SHA-256 is " + sha256 + ", not " + archive.bundle().sha256());
    }
  }

  /** Returns what differs; empty if nothing does. */
  @FunctionalInterface
  private interface Comparison {
    Optional<String> difference() throws IOException;
  }

  private static BundleState of(ArchiveFile archive, ArchivePlace place, Comparison bytes) {
    try {
      if (!place.has(archive)) {
        return new BundleState(Kind.MISSING, "");
      }
      Optional<String> difference = place.difference(archive);
      difference = difference.isPresent() ? difference : bytes.difference();
      return difference.isEmpty()
          ? new BundleState(Kind.THERE, "")
          : new BundleState(Kind.DAMAGED, difference.get());
    } catch (IOException failed) {
      return unknown(DurableFiles.reason(failed));
    } catch (NexaException | StoreException failed) {
      return unknown(String.valueOf(failed.getMessage()));
    }
  }

  /** Returns the state of a bundle whose place could not be asked. */
  public static BundleState unknown(String why) {
    return new BundleState(Kind.UNKNOWN, why);
  }

  public boolean isThere() {
    return kind == Kind.THERE;
  }

  /** Returns what follows the bundle's name in a sentence. */
  public String sentence() {
    return switch (kind) {
      case THERE -> "is there";
      case MISSING -> "is missing";
      case DAMAGED -> "is damaged: " + detail;
      case UNKNOWN -> "cannot be looked at: " + detail;
    };
  }
}
