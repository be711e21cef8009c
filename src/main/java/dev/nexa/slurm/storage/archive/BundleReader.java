package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.bundle.TarReader;
import dev.nexa.slurm.storage.cleanup.CleanupJournal;
import dev.nexa.slurm.storage.cleanup.TrashedPath;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Predicate;

/** Reads a whole bundle and compares each byte with the archive's document. */
public record BundleReader(Workspace workspace, ArchiveFile archive) {
  /** Gets the content of a bundle. The content is checked only when the whole bundle was read. */
  @FunctionalInterface
  interface Sink {
    /** Opens where the bytes of a file go. */
    OutputStream file(TarEntry entry) throws IOException;

    /** Takes a folder or a link. */
    default void other(TarEntry entry) throws IOException {}
  }

  /** Takes no bytes: only the comparison counts. */
  static final Sink NOWHERE = entry -> OutputStream.nullOutputStream();

  /**
   * Reads the bundle to its end.
   *
   * @param raw the bundle's bytes; is closed
   * @param doing what is done with the bundle, for the progress
   * @throws NexaException with {@link ErrorCode#ARCHIVE_DAMAGED} if anything differs
   */
  void read(InputStream raw, Sink sink, String doing, Progress progress) throws IOException {
    Phase phase =
        Phase.of(doing + " " + archive.run(), SourceTree.ENTRIES, archive.files().size())
            .withBytes(archive.bundle().bytes());
    try (Running reading = progress.begin(phase)) {
      read(raw, sink, reading);
    }
  }

  /**
   * Compares the bundle with what was recorded of it.
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
          .read(place.open(archive), NOWHERE, "verifying", progress);
      return true;
    } catch (IOException failed) {
      throw ErrorCode.IO_FAILED.error(
          archive.where() + " cannot be read: " + DurableFiles.reason(failed),
          failed,
          Advice.step("type the command again"));
    }
  }

  private void read(InputStream raw, Sink sink, Running reading) throws IOException {
    MessageDigest whole = Sha256.digest();
    AtomicLong bytes = new AtomicLong();
    Running counted =
        (items, more) -> {
          bytes.addAndGet(more);
          reading.done(items, more);
        };
    InputStream digested = counted.counting(new DigestInputStream(raw, whole));
    try (InputStream in = new BufferedInputStream(digested, 1 << 18)) {
      TarReader tar = new TarReader(in);
      for (BundledFile file : archive.files()) {
        compare(file, next(tar, file), tar, sink);
        reading.done(1, 0);
      }
      if (next(tar, archive.files().get(0)).isPresent()) {
        throw damaged("it holds more files than its document lists");
      }
      in.transferTo(OutputStream.nullOutputStream());
    }
    String sha256 = Sha256.hex(whole);
    if (bytes.get() != archive.bundle().bytes() || !sha256.equals(archive.bundle().sha256())) {
      throw damaged(
          "it has %s bytes and the SHA-256 %s; its document says %s and %s"
              .formatted(bytes.get(), sha256, archive.bundle().bytes(), archive.bundle().sha256()));
    }
  }

  private Optional<TarEntry> next(TarReader tar, BundledFile file) {
    try {
      return tar.next();
    } catch (IOException | RuntimeException broken) {
      throw damaged("at " + file.path() + ": " + broken.getMessage());
    }
  }

  private void compare(BundledFile file, Optional<TarEntry> entry, TarReader tar, Sink sink)
      throws IOException {
    if (entry.isEmpty() || !BundledFile.of(entry.get(), file.sha256()).equals(file)) {
      String holds = entry.map(one -> "it holds " + one.path()).orElse("it ends before");
      throw damaged("its document lists " + file.path() + ", and " + holds);
    }
    if (file.kind().isPresent()) {
      sink.other(entry.get());
      return;
    }
    MessageDigest digest = Sha256.digest();
    try (OutputStream out = new DigestOutputStream(sink.file(entry.get()), digest)) {
      copy(file, tar.data(), out);
    }
    if (!Optional.of(Sha256.hex(digest)).equals(file.sha256())) {
      throw damaged(file.path() + " has another SHA-256");
    }
  }

  private void copy(BundledFile file, InputStream in, OutputStream out) throws IOException {
    byte[] part = new byte[1 << 17];
    while (true) {
      int read;
      try {
        read = in.read(part);
      } catch (IOException | RuntimeException broken) {
        throw damaged("at " + file.path() + ": " + broken.getMessage());
      }
      if (read < 0) {
        return;
      }
      out.write(part, 0, read);
    }
  }

  private NexaException damaged(String what) {
    return DamagedArchive.error(workspace, archive, what + "; nothing was removed or replaced");
  }

  /** The error of a bundle that is missing or damaged, with where the run's files still are. */
  public static final class DamagedArchive {
    private DamagedArchive() {}

    /** Returns the error, with the commands that save what is left. */
    public static NexaException error(Workspace workspace, ArchiveFile archive, String what) {
      return ErrorCode.ARCHIVE_DAMAGED.error(
          "the archive " + archive.where() + " is damaged: " + what, advice(workspace, archive));
    }

    /** Returns what to do: the trash and the old place are looked at. */
    public static List<Advice> advice(Workspace workspace, ArchiveFile archive) {
      List<Path> folders = archive.durableFolders();
      if (folders.stream().anyMatch(folder -> Files.exists(folder, LinkOption.NOFOLLOW_LINKS))) {
        String why = "writes the bundle again, from the run's files in their old place";
        String run = archive.run().value();
        return List.of(Advice.command(why, "nexa-slurm archive", run, "--to", archive.place()));
      }
      Optional<CleanupJournal.State> trash = trash(workspace, folders);
      if (trash.isPresent()) {
        String why = "brings the run's files back from the trash";
        Advice undo = Advice.command(why, "nexa-slurm cleanup --undo", trash.get().id().value());
        return List.of(undo, Advice.step("then archive the run again"));
      }
      return List.of(
          Advice.step("is the disk of " + archive.place() + " mounted on this host?"),
          Advice.step(
              "the run's files are not in the trash any more; bring the bundle back from a copy"));
    }

    /** Returns the newest cleanup of this user that may have one of the folders in the trash. */
    private static Optional<CleanupJournal.State> trash(Workspace workspace, List<Path> folders) {
      Predicate<TrashedPath> isThere =
          path ->
              folders.contains(path.full()) && Files.exists(path.held(), LinkOption.NOFOLLOW_LINKS);
      List<CleanupJournal> newest = new ArrayList<>(CleanupJournal.all(workspace));
      Collections.reverse(newest);
      for (CleanupJournal journal : newest) {
        try {
          Optional<CleanupJournal.State> state =
              journal.isOfAnotherUser() ? Optional.empty() : journal.read();
          if (state.isPresent() && state.get().inTrash().stream().anyMatch(isThere)) {
            return state;
          }
        } catch (NexaException | UncheckedIOException damaged) {
          // `cleanup list` names a damaged journal.
        }
      }
      return Optional.empty();
    }
  }
}
