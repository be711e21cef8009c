package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.Optional;

/** Reads which run has claimed a name on a tier: {@code TIER/.nexa-runs/NAME} holds its folder. */
final class Claims {
  static final String OF_SCRATCH = ".nexa-scratch";
  static final String OF_RUNS = ".nexa-runs";

  private static final int LARGEST = 8192;

  private final Path runs;

  Claims(Workspace workspace) {
    runs = real(workspace.runs());
  }

  /**
   * What a claim says.
   *
   * @param run the run of this workspace that has claimed the name; empty if there is none
   * @param reason why there is none, a clause; empty if there is a run
   */
  record Claim(Optional<RunId> run, String reason) {
    private static Claim none(String reason) {
      return new Claim(Optional.empty(), reason);
    }
  }

  /**
   * Reads the claim of a name. A claim that cannot be read is nobody's.
   *
   * @param folder {@link #OF_SCRATCH} or {@link #OF_RUNS}
   */
  Claim of(OpenFolder tier, String folder, Path name) throws IOException {
    if (!tier.isFolder(Path.of(folder))) {
      return Claim.none("no run has claimed its name");
    }
    Path file = tier.path().resolve(folder).resolve(name);
    Optional<PosixFileAttributes> attributes = Optional.empty();
    String text = "";
    try (OpenFolder claims = tier.open(folder)) {
      attributes = claims.attributes(name);
      text = claims.text(name, LARGEST).orElse("").strip();
    } catch (IOException unreadable) {
      String owner = attributes.map(it -> " of " + it.owner().getName()).orElse("");
      return Claim.none(
          "its claim " + file + owner + " cannot be read: " + DurableFiles.reason(unreadable));
    }
    if (text.isEmpty() || text.indexOf('\0') >= 0) {
      return Claim.none("no run has claimed its name");
    }
    try {
      return claim(Path.of(text), name.toString());
    } catch (InvalidPathException odd) {
      return Claim.none("its claim " + file + " holds no path");
    }
  }

  private Claim claim(Path owner, String name) {
    Path above = owner.getParent();
    boolean plain = owner.isAbsolute() && owner.equals(owner.normalize());
    if (above == null || !plain || !real(above).equals(runs)) {
      return Claim.none("it is not of this workspace: " + owner);
    }
    String id = String.valueOf(owner.getFileName());
    boolean ofRun = name.equals(id) || name.startsWith(id + ".");
    return ofRun && RunId.parse(id).isPresent()
        ? new Claim(RunId.parse(id), "")
        : Claim.none("its claim names " + owner);
  }

  /** Returns a folder with its links resolved; a workspace may be typed by a link to it. */
  private static Path real(Path folder) {
    try {
      return folder.toRealPath();
    } catch (IOException missing) {
      return folder;
    }
  }
}
