package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileLock;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.OpenFolder;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.base.text.VisibleText;
import dev.nexa.slurm.records.runs.LockOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes a release into a folder beside its place, forces it to disk, and gives it its name with
 * one rename. A killed call leaves a folder {@code .tmp-NAME}, which the next call removes.
 */
public record PackageRelease(Path parent, DurableFiles files) {
  private static final Duration PATIENCE = Duration.ofMinutes(1);
  private static final Set<PosixFilePermission> READ_ONLY =
      PosixFilePermissions.fromString("r--r--r--");

  /**
   * Prepares the packaging.
   *
   * @param durable the path of the durable tier
   */
  public PackageRelease(String durable, DurableFiles files) {
    this(ReleaseFolder.parent(durable), files);
  }

  /**
   * The result of packaging.
   *
   * @param added false if the same release was there already
   */
  public record Done(ReleaseFolder folder, ReleaseFile document, boolean added) {}

  /**
   * Packages a release.
   *
   * @throws NexaException with {@link ErrorCode#RELEASE_DIFFERS} if another release has the name,
   *     or with {@link ErrorCode#CONCURRENT_CHANGE} if a file changes while it is read
   */
  public Done run(ReleaseDraft draft, Progress progress) {
    String name = draft.facts().origin().release();
    Path place = parent.resolve(name);
    files.directories(parent);
    Path lock = parent.resolve("." + name + ".lock");
    try (FileLock held = FileLock.acquire(lock, LockOwner.me(), LockOwner::dead, PATIENCE)) {
      Path temporary = parent.resolve(".tmp-" + name);
      delete(temporary);
      Done done =
          Files.exists(place, LinkOption.NOFOLLOW_LINKS)
              ? compare(draft, new ReleaseFolder(place), progress)
              : write(draft, temporary, place, progress);
      held.clearClaims(LockOwner::dead);
      return done;
    } catch (FileLock.LockedException busy) {
      throw ErrorCode.WORKSPACE_BUSY.error(
          "another process packages the release " + name + ": " + busy.getMessage(),
          busy,
          Advice.step("type the command again; a lock of a dead host ends after an hour"));
    }
  }

  private Done write(ReleaseDraft draft, Path temporary, Path place, Progress progress) {
    files.directories(temporary);
    files.passed(PackageStep.BEGUN);
    try {
      ReleaseFile document;
      try (Running copying = progress.begin(phase("copying", draft))) {
        document = read(draft, Optional.of(temporary), copying);
      }
      files.passed(PackageStep.COPIED);
      Files.writeString(temporary.resolve(ReleaseFolder.DOCUMENT), document.text());
      files.directories(temporary.resolve(ReleaseFolder.SIGNATURES));
      files.passed(PackageStep.DOCUMENT_WRITTEN);
      Phase forcing = Phase.of("writing to disk", "files", draft.paths().size() + 1);
      try (Running running = progress.begin(forcing)) {
        force(temporary, running);
      }
      files.passed(PackageStep.FORCED);
      Files.move(temporary, place, StandardCopyOption.ATOMIC_MOVE);
      files.passed(PackageStep.RENAMED);
      files.force(parent);
      return new Done(new ReleaseFolder(place), document, true);
    } catch (IOException failed) {
      throw DurableFiles.failure("write", place, failed);
    } finally {
      delete(temporary);
    }
  }

  /** Compares a release that exists with what would be written. Reads, and writes nothing. */
  private Done compare(ReleaseDraft draft, ReleaseFolder there, Progress progress) {
    ReleaseFile old = there.document();
    ReleaseFile document = document(draft, progress);
    if (old.text().equals(document.text())) {
      return new Done(there, old, false);
    }
    String name = there.name();
    if (!old.licence().equals(document.licence())) {
      throw ErrorCode.RELEASE_DIFFERS.error(
          "the release %s exists with the licence %s, not %s"
              .formatted(
                  name, VisibleText.line(old.licence()), VisibleText.line(document.licence())),
          "name that licence: --licence " + VisibleText.line(old.licence()),
          "or package it under another name: --name " + name + "-2");
    }
    throw ErrorCode.RELEASE_DIFFERS.error(
        "the release %s exists with other content: %s differs"
            .formatted(name, VisibleText.line(difference(old, document))),
        Advice.step("package it under another name: --name " + name + "-2"),
        Advice.command("checks its files", "nexa-slurm release verify", name));
  }

  /** Reads all files of a draft, and returns the document that it gives. Writes nothing. */
  ReleaseFile document(ReleaseDraft draft, Progress progress) {
    try (Running comparing = progress.begin(phase("comparing", draft))) {
      return read(draft, Optional.empty(), comparing);
    } catch (IOException failed) {
      throw DurableFiles.failure("read", draft.model().root(), failed);
    }
  }

  /** Returns the first file that two documents list differently; the document if there is none. */
  static String difference(ReleaseFile old, ReleaseFile document) {
    Map<String, ReleaseFile.Entry> before = new TreeMap<>(NamesOfFiles.ORDER);
    old.files().forEach(file -> before.put(file.path(), file));
    for (ReleaseFile.Entry file : document.files()) {
      if (!file.equals(before.remove(file.path()))) {
        return file.path();
      }
    }
    return before.isEmpty() ? ReleaseFolder.DOCUMENT : before.keySet().iterator().next();
  }

  private static Phase phase(String doing, ReleaseDraft draft) {
    return Phase.of(doing, "files", draft.paths().size()).withBytes(draft.bytes());
  }

  /**
   * Reads all files, and copies them if there is a place for the copies.
   *
   * @return the document with the list of files
   */
  private ReleaseFile read(ReleaseDraft draft, Optional<Path> into, Running reading)
      throws IOException {
    List<ReleaseFile.Entry> entries = new ArrayList<>();
    Map<Path, State> before = states(draft.model());
    List<String> paths = draft.paths();
    String half = paths.get(paths.size() / 2);
    for (String path : paths) {
      Path file = draft.model().files().get(path);
      byte[] content = draft.written().get(path);
      if (into.isPresent()) {
        files.directories(into.get().resolve(path).resolveSibling(""));
        if (path.equals(half)) {
          files.passed(PackageStep.HALF_COPIED);
        }
      }
      try (OutputStream out =
          into.isPresent()
              ? Files.newOutputStream(into.get().resolve(path), StandardOpenOption.CREATE_NEW)
              : OutputStream.nullOutputStream()) {
        if (content != null) {
          out.write(content);
          reading.done(0, content.length);
          entries.add(new ReleaseFile.Entry(path, content.length, Sha256.of(content)));
        } else if (file != null) {
          entries.add(copy(path, file, out, reading));
        }
      }
      reading.done(1, 0);
    }
    requireSame(before, states(draft.model()));
    return draft.facts().withFiles(entries);
  }

  /** The attributes that change when a file is written or replaced. */
  private record State(long size, FileTime modified, @Nullable Object key) {
    static State of(BasicFileAttributes attributes) {
      return new State(attributes.size(), attributes.lastModifiedTime(), attributes.fileKey());
    }
  }

  private static Map<Path, State> states(ModelSource model) throws IOException {
    Map<Path, State> states = new TreeMap<>();
    for (Path file : model.files().values()) {
      states.put(file, State.of(attributes(file)));
    }
    return states;
  }

  /** Files that were replaced after or before their turn would make a mixture of two models. */
  private static void requireSame(Map<Path, State> before, Map<Path, State> after) {
    for (Map.Entry<Path, State> file : before.entrySet()) {
      if (!file.getValue().equals(after.get(file.getKey()))) {
        throw changed(file.getKey());
      }
    }
  }

  private static NexaException changed(Path file) {
    return ErrorCode.CONCURRENT_CHANGE.error(
        VisibleText.line(file.toString()) + " changed while the checkpoint was read",
        "package the run again when nobody writes to its checkpoint");
  }

  private static ReleaseFile.Entry copy(String path, Path file, OutputStream out, Running reading)
      throws IOException {
    BasicFileAttributes before = attributes(file);
    MessageDigest digest = Sha256.digest();
    byte[] part = new byte[1 << 18];
    long size = 0;
    try (InputStream in =
        Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
      for (int read = in.read(part); read >= 0; read = in.read(part)) {
        digest.update(part, 0, read);
        out.write(part, 0, read);
        size += read;
        reading.done(0, read);
      }
    }
    if (!before.isRegularFile()
        || size != before.size()
        || !State.of(attributes(file)).equals(State.of(before))) {
      throw changed(file);
    }
    return new ReleaseFile.Entry(path, size, Sha256.hex(digest));
  }

  private static BasicFileAttributes attributes(Path file) throws IOException {
    return Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }

  /** Makes each file read-only, and forces the files, then the folders that hold them. */
  private void force(Path folder, Running forcing) throws IOException {
    Files.walkFileTree(
        folder,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.setPosixFilePermissions(file, READ_ONLY);
            files.force(file);
            forcing.done(1, 0);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path path, @Nullable IOException failed)
              throws IOException {
            if (failed != null) {
              throw failed;
            }
            files.force(path);
            return FileVisitResult.CONTINUE;
          }
        });
  }

  /**
   * Deletes the files that an earlier call or this call left. The caller holds the release's lock.
   */
  private void delete(Path folder) {
    DurableFiles.attempt(
        "delete",
        folder,
        () -> OpenFolder.deleteWhole(parent.toRealPath().resolve(folder.getFileName())));
  }

  /** The points at which a test kills the packaging of a release. */
  public enum PackageStep {
    BEGUN,
    HALF_COPIED,
    COPIED,
    DOCUMENT_WRITTEN,
    FORCED,
    RENAMED
  }
}
