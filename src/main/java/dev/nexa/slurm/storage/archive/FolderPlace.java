package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Progress.Running;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/** A folder, such as the mount point of a tape library or of another disk. */
public record FolderPlace(Path folder, Path workspace, DurableFiles files) implements ArchivePlace {
  /**
   * Creates the place. The folder must exist.
   *
   * @param workspace the workspace's folder, which keeps its temporary files apart from others
   */
  public FolderPlace {
    folder = folder.toAbsolutePath().normalize();
    if (!Files.isDirectory(folder)) {
      throw ErrorCode.FILE_NOT_FOUND.error(
          "there is no folder " + folder,
          "make it, or name another one: --to DIR, or storage.archive in the profile");
    }
  }

  @Override
  public String address() {
    return folder.toString();
  }

  @Override
  public Optional<String> storageClass() {
    return Optional.empty();
  }

  @Override
  public Path staged(Path durable, String name) {
    String own = Sha256.of(workspace.toString()).substring(0, 8);
    return folder.resolve("." + ArchiveFile.bundle(name) + "." + own + ".tmp");
  }

  @Override
  public Optional<String> document(String name) throws IOException {
    try {
      return Optional.of(Files.readString(folder.resolve(ArchiveFile.document(name))));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    }
  }

  @Override
  public void putDocument(String name, String text, Path staged) {
    Path file = folder.resolve(ArchiveFile.document(name));
    if (!files.claim(file, text.getBytes(StandardCharsets.UTF_8), FileModes.USUAL)) {
      throw ErrorCode.CONCURRENT_CHANGE.error(
          "another command has just written " + file, "type the command again");
    }
  }

  @Override
  public void putBundle(ArchiveFile archive, Path staged, Running sending) throws IOException {
    Path bundle = folder.resolve(ArchiveFile.bundle(archive.name()));
    Files.move(staged, bundle, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    files.force(folder);
  }

  @Override
  public boolean has(ArchiveFile archive) throws IOException {
    try {
      return Files.readAttributes(
              folder.resolve(ArchiveFile.bundle(archive.name())), BasicFileAttributes.class)
          .isRegularFile();
    } catch (NoSuchFileException none) {
      return false;
    }
  }

  @Override
  public Optional<String> difference(ArchiveFile archive) throws IOException {
    try {
      long bytes = Files.size(folder.resolve(ArchiveFile.bundle(archive.name())));
      return bytes == archive.bundle().bytes()
          ? Optional.empty()
          : Optional.of("it has " + bytes + " bytes, not " + archive.bundle().bytes());
    } catch (NoSuchFileException none) {
      return Optional.of("it is missing");
    }
  }

  @Override
  public boolean knowsDigests() {
    return false;
  }

  @Override
  public InputStream open(ArchiveFile archive) throws IOException {
    Path bundle = folder.resolve(ArchiveFile.bundle(archive.name()));
    try {
      return Files.newInputStream(bundle);
    } catch (NoSuchFileException none) {
      throw ErrorCode.ARCHIVE_DAMAGED.error(
          "the archive of " + archive.run() + " is damaged: there is no file " + bundle,
          "is the disk mounted on this host? else bring the bundle back from a copy");
    }
  }
}
