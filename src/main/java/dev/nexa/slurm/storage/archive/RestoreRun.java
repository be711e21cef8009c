package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.files.Sync;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import dev.nexa.slurm.records.runs.Workspace;
import dev.nexa.slurm.storage.archive.BundleReader.DamagedArchive;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Restores a run from its archive: into a hidden folder first, which is renamed only when the whole
 * bundle was read and is what its document says.
 */
public record RestoreRun(Workspace workspace, ArchivePlace place, Progress progress) {
  private static final String HIDDEN = ".nexa-restore";

  /**
   * Restores the durable folders to the places where they were.
   *
   * @return the folders
   * @throws NexaException if something is there
   */
  public List<Path> toOldPlace(ArchiveFile archive) {
    Map<String, Path> targets = new LinkedHashMap<>(archive.sources());
    targets.keySet().retainAll(ArchiveFile.DURABLE);
    if (targets.isEmpty()) {
      throw ErrorCode.RUN_NOT_SUITABLE.error(
          "the run " + archive.run() + " had no durable files; its records are in the workspace",
          "to see what the bundle holds: --to DIR");
    }
    // The folders of a tier are TIER/PART/NAME.
    Path part = targets.values().iterator().next().resolveSibling("");
    return restore(archive, part.resolveSibling(""), targets);
  }

  /**
   * Restores everything to a folder {@code DIR/NAME}, which must not exist.
   *
   * @param folder a folder that exists
   */
  public Path toFolder(ArchiveFile archive, Path folder) {
    Path target = folder.resolve(archive.name());
    restore(archive, folder, Map.of("", target));
    return target;
  }

  private List<Path> restore(ArchiveFile archive, Path root, Map<String, Path> targets) {
    String own = Sha256.of(workspace.root() + archive.bundle().sha256()).substring(0, 8);
    Path hidden = root.resolve(HIDDEN).resolve(archive.name() + "." + own);
    Path whole = hidden.resolveSibling(archive.name() + "." + own + ".whole");
    try {
      if (!Files.isDirectory(whole, LinkOption.NOFOLLOW_LINKS)) {
        targets.values().forEach(target -> requireFree(archive, target));
        extract(archive, targets, hidden, whole);
      }
      workspace.files().passed(ArchiveStep.EXTRACTED);
      for (Map.Entry<String, Path> target : targets.entrySet()) {
        Path from = whole.resolve(target.getKey());
        // A call that was killed may have moved it already.
        if (Files.exists(from, LinkOption.NOFOLLOW_LINKS)) {
          move(archive, from, target.getValue());
        }
      }
      new ArchiveJournal(workspace).restored(archive, targets.values().iterator().next());
      return List.copyOf(targets.values());
    } catch (IOException failed) {
      throw DurableFiles.failure("restore", hidden, failed);
    } finally {
      remove(hidden, whole);
    }
  }

  private void extract(ArchiveFile archive, Map<String, Path> targets, Path hidden, Path whole)
      throws IOException {
    OpenFolder.deleteWhole(hidden);
    Files.createDirectories(hidden);
    Extract extract =
        new Extract(hidden, targets, () -> workspace.files().passed(ArchiveStep.HALF_EXTRACTED));
    if (!place.has(archive)) {
      throw DamagedArchive.error(workspace, archive, "the bundle is missing");
    }
    new BundleReader(workspace, archive).read(place.open(archive), extract, "restoring", progress);
    extract.finish();
    Files.move(hidden, whole, StandardCopyOption.ATOMIC_MOVE);
    workspace.files().force(whole.resolveSibling(""));
  }

  private void move(ArchiveFile archive, Path from, Path target) throws IOException {
    requireFree(archive, target);
    Path parent = target.resolveSibling("");
    Files.createDirectories(parent);
    Files.move(from, target, StandardCopyOption.ATOMIC_MOVE);
    workspace.files().force(parent);
    workspace.files().passed(ArchiveStep.RETURNED);
  }

  /** Removes what is left, also what an earlier call left. */
  private static void remove(Path hidden, Path whole) {
    try {
      OpenFolder.deleteWhole(hidden);
      OpenFolder.deleteWhole(whole);
      Files.deleteIfExists(hidden.resolveSibling(""));
    } catch (IOException used) {
      // Another restore works beside it, or the next one removes it.
    }
  }

  private static void requireFree(ArchiveFile archive, Path target) {
    if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      String run = archive.run().value();
      throw ErrorCode.FILE_EXISTS.error(
          target + " exists; nothing was restored",
          Advice.command("restores it elsewhere", "nexa-slurm archive restore", run, "--to", "."));
    }
  }

  /** Writes what belongs to the targets below a hidden folder. */
  private static final class Extract implements BundleReader.Sink {
    private final Path folder;
    private final Map<String, Path> targets;
    private final Runnable passing;

    /** Links are made last, so that no file goes through one. Folders get their times last. */
    private final List<TarEntry> links = new ArrayList<>();

    private final List<TarEntry> folders = new ArrayList<>();

    Extract(Path folder, Map<String, Path> targets, Runnable passing) {
      this.folder = folder;
      this.passing = passing;
      this.targets = targets;
    }

    private boolean isTaken(String path) {
      return targets.containsKey("") || targets.containsKey(path.split("/", 2)[0]);
    }

    private Path at(TarEntry entry) throws IOException {
      Path path = folder.resolve(entry.path()).normalize();
      if (entry.path().startsWith("/")
          || ("/" + entry.path() + "/").contains("/../")
          || !path.startsWith(folder)
          || path.equals(folder)) {
        throw new IOException("the bundle holds the path " + entry.path());
      }
      return path;
    }

    @Override
    public OutputStream file(TarEntry entry) throws IOException {
      if (!isTaken(entry.path())) {
        return OutputStream.nullOutputStream();
      }
      passing.run();
      Path file = at(entry);
      FileChannel disk =
          FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      return new FilterOutputStream(Channels.newOutputStream(disk)) {
        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
          out.write(bytes, offset, length);
        }

        @Override
        public void close() throws IOException {
          if (disk.isOpen()) {
            disk.force(true);
            super.close();
            settle(file, entry);
          }
        }
      };
    }

    @Override
    public void other(TarEntry entry) throws IOException {
      if (!isTaken(entry.path())) {
        return;
      }
      Path path = at(entry);
      if (entry.kind() == Kind.LINK) {
        links.add(entry);
      } else {
        Files.createDirectory(path);
        folders.add(entry);
      }
    }

    void finish() throws IOException {
      for (TarEntry link : links) {
        Files.createSymbolicLink(at(link), Path.of(link.target()));
      }
      for (int i = folders.size() - 1; i >= 0; i--) {
        Path made = at(folders.get(i));
        Sync.DISK.force(made);
        settle(made, folders.get(i));
      }
    }

    private static void settle(Path path, TarEntry entry) throws IOException {
      Files.setAttribute(path, "unix:mode", entry.mode());
      Files.setLastModifiedTime(path, FileTime.from(entry.modified()));
    }
  }
}
