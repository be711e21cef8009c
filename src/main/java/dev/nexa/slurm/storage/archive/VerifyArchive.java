package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.records.runs.Workspace;
import java.io.IOException;
import java.util.Optional;

/** Compares a bundle with what was recorded of it. */
public final class VerifyArchive {
  private VerifyArchive() {}

  /**
   * Compares the bundle.
   *
   * @param read whether to read all bytes also where the place keeps a digest of them
   * @return whether the bytes were read
   * @throws NexaException with {@link ErrorCode#ARCHIVE_DAMAGED} if it differs
   */
  public static boolean verify(
      Workspace workspace,
      ArchiveFile archive,
      ArchivePlace place,
      boolean read,
      Progress progress) {
    try {
      Optional<String> difference = place.difference(archive);
      if (difference.isPresent()) {
        throw DamagedArchive.error(workspace, archive, difference.get());
      }
      if (place.knowsDigests() && !read) {
        return false;
      }
      new BundleReader(workspace, archive)
          .read(place.open(archive), BundleReader.NOWHERE, "verifying", progress);
      return true;
    } catch (IOException failed) {
      throw new NexaException(
          ErrorCode.IO_FAILED,
          archive.where() + " cannot be read: " + DurableFiles.reason(failed),
          failed,
          Advice.step("type the command again"));
    }
  }
}
