package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.records.runs.RunId;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A bundle under its hidden name: an archive is writing it, or an archive that was killed left it.
 *
 * @param file the hidden file
 * @param place where the bundle goes: a folder or an address
 * @param bytes the size of the file
 */
public record UnfinishedBundle(RunId run, Path file, String place, long bytes) {
  /** Returns the unfinished bundles of a workspace that this host sees, oldest first. */
  public static List<UnfinishedBundle> all(Workspace workspace) {
    List<UnfinishedBundle> all = new ArrayList<>();
    for (ArchiveJournal.Staging staging : new ArchiveJournal(workspace).stagings()) {
      try {
        all.add(
            new UnfinishedBundle(
                staging.run(), staging.file(), staging.place(), Files.size(staging.file())));
      } catch (IOException gone) {
        // The bundle has got its name, or the disk is not mounted.
      }
    }
    return all;
  }
}
