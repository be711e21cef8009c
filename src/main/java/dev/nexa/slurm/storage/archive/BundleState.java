package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.storage.sync.StoreException;
import java.io.IOException;
import java.util.Optional;

/**
 * What a look at a bundle found, without reading it all.
 *
 * @param kind the state
 * @param detail why the bundle is damaged or could not be looked at; empty for the other states
 */
public record BundleState(Kind kind, String detail) {
  /** The states. */
  public enum Kind {
    /** It has the recorded size, and in S3 the recorded SHA-256. */
    THERE,
    MISSING,
    DAMAGED,
    /** It could not be looked at. */
    UNKNOWN
  }

  /** Looks at a bundle. Never throws: a place that does not answer is an unknown state. */
  public static BundleState of(ArchiveFile archive, ArchivePlace place) {
    try {
      if (!place.has(archive)) {
        return new BundleState(Kind.MISSING, "");
      }
      Optional<String> difference = place.difference(archive);
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
