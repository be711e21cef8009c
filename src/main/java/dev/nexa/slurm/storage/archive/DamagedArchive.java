package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.cleanup.CleanupJournal;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The error of a bundle that is missing or damaged, with where the run's files still are. */
public final class DamagedArchive {
  private DamagedArchive() {}

  /** Returns the error, with the commands that save what is left. */
  public static NexaException error(Workspace workspace, ArchiveFile archive, String what) {
    return new NexaException(
        ErrorCode.ARCHIVE_DAMAGED,
        "the archive " + archive.where() + " is damaged: " + what,
        advice(workspace, archive).toArray(new Advice[0]));
  }

  /** Returns what to do: the trash and the old place are looked at. */
  public static List<Advice> advice(Workspace workspace, ArchiveFile archive) {
    List<Path> folders = archive.durableFolders();
    if (folders.stream().anyMatch(folder -> Files.exists(folder, LinkOption.NOFOLLOW_LINKS))) {
      return List.of(
          Advice.command(
              "writes the bundle again, from the run's files in their old place",
              "nexa-slurm archive",
              archive.run().value(),
              "--to",
              archive.place()));
    }
    Optional<CleanupJournal.State> trash = trash(workspace, folders);
    if (trash.isPresent()) {
      return List.of(
          Advice.command(
              "brings the run's files back from the trash",
              "nexa-slurm cleanup --undo",
              trash.get().id().value()),
          Advice.step("then archive the run again"));
    }
    return List.of(
        Advice.step("is the disk of " + archive.place() + " mounted on this host?"),
        Advice.step(
            "the run's files are not in the trash any more; bring the bundle back from a copy"));
  }

  /** Returns the newest cleanup of this user that may have one of the folders in the trash. */
  private static Optional<CleanupJournal.State> trash(Workspace workspace, List<Path> folders) {
    List<CleanupJournal> newest = new ArrayList<>(CleanupJournal.all(workspace));
    java.util.Collections.reverse(newest);
    for (CleanupJournal journal : newest) {
      try {
        Optional<CleanupJournal.State> state =
            journal.isOfAnotherUser() ? Optional.empty() : journal.read();
        if (state.isPresent()
            && state.get().inTrash().stream()
                .anyMatch(
                    path ->
                        folders.contains(path.full())
                            && Files.exists(path.held(), LinkOption.NOFOLLOW_LINKS))) {
          return state;
        }
      } catch (NexaException | UncheckedIOException damaged) {
        // `cleanup list` names a damaged journal.
      }
    }
    return Optional.empty();
  }
}
