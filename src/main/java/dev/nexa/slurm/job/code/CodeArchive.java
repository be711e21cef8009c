package dev.nexa.slurm.job.code;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.job.code.TarWriter.Format;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.List;
import java.util.Map;

/**
 * Writes the files of a working tree as a {@code .tar.gz} file. Equal trees give equal bytes, on
 * any machine and at any time. Memory use does not depend on the size of the files.
 */
final class CodeArchive {
  private static final int PART = 1 << 16;

  private final Path root;
  private final List<CodeEntry> entries;
  private final byte[] buffer = new byte[SecretFiles.MOST_BYTES];

  CodeArchive(Path root, List<CodeEntry> entries) {
    this.root = root;
    this.entries = entries;
  }

  /**
   * Returns the SHA-256 of the archive. Stores nothing.
   *
   * @param secrets receives the kind of secret that a file holds, by the file's path
   */
  String digest(Map<String, String> secrets) {
    try {
      return write(OutputStream.nullOutputStream(), secrets);
    } catch (IOException impossible) {
      throw new IllegalStateException("nothing is written", impossible);
    }
  }

  /**
   * Writes the archive.
   *
   * @return its SHA-256, which differs from {@link #digest} if the tree was changed since
   * @throws IOException if {@code out} cannot be written
   */
  String write(OutputStream out, Map<String, String> secrets) throws IOException {
    MessageDigest digest = Sha256.digest();
    try (TarWriter tar =
        new TarWriter(new StoredGzip(new DigestOutputStream(out, digest)), Format.GNU)) {
      for (CodeEntry entry : entries) {
        if (entry.isLink()) {
          requireTarget(entry);
          tar.write(TarEntry.link(entry.path(), entry.target()), InputStream.nullInputStream());
        } else {
          tar.write(
              TarEntry.file(entry.path(), entry.size(), entry.executable()),
              to -> content(entry, to, secrets));
        }
      }
    }
    return Sha256.hex(digest);
  }

  private void content(CodeEntry entry, OutputStream out, Map<String, String> secrets)
      throws IOException {
    Path file = root.resolve(entry.path());
    boolean small = entry.size() <= SecretFiles.MOST_BYTES;
    long left = entry.size();
    try (InputStream in = open(file)) {
      while (left > 0) {
        int read = read(file, in, small ? (int) left : (int) Math.min(left, PART));
        if (read == 0) {
          throw changed(file);
        }
        if (small) {
          SecretFiles.byContent(buffer, read).ifPresent(kind -> secrets.put(entry.path(), kind));
        }
        out.write(buffer, 0, read);
        left -= read;
      }
      if (read(file, in, 1) > 0) {
        throw changed(file);
      }
    }
  }

  /** Opens a file, and no link: somebody may have replaced the file or a folder above it. */
  private InputStream open(Path file) {
    try {
      Path folder = file.getParent();
      if (folder == null || !folder.toRealPath().equals(folder)) {
        throw changed(file);
      }
      return Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException failed) {
      boolean replaced = failed instanceof FileSystemException && Files.isSymbolicLink(file);
      boolean deleted = failed instanceof NoSuchFileException;
      throw replaced || deleted ? changed(file) : CodeTree.unreadable(file, failed);
    }
  }

  private int read(Path file, InputStream in, int most) {
    try {
      return in.readNBytes(buffer, 0, most);
    } catch (IOException failed) {
      throw CodeTree.unreadable(file, failed);
    }
  }

  private void requireTarget(CodeEntry entry) {
    Path link = root.resolve(entry.path());
    try {
      if (!Files.readSymbolicLink(link).toString().equals(entry.target())) {
        throw changed(link);
      }
    } catch (IOException failed) {
      throw changed(link);
    }
  }

  /** Returns the error for a tree that was changed while it was packed. */
  static NexaException changed(Path path) {
    return ErrorCode.CONCURRENT_CHANGE.error(
        path + " was changed while the code was packed",
        "nothing was submitted; type the command again");
  }
}
