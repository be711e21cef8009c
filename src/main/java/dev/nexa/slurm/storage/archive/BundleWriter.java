package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import dev.nexa.slurm.job.code.TarWriter;
import dev.nexa.slurm.storage.bundle.Zstd;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;

/** Writes a bundle: the same files give the same bytes. */
final class BundleWriter {
  private BundleWriter() {}

  /** What was written. */
  record Written(ArchiveFile.Digest bundle, List<BundledFile> files) {}

  /**
   * Writes all entries into a file, and forces it to disk. Replaces the file's content.
   *
   * @param packing gets each entry and its bytes
   * @param passing is called after each entry
   * @throws IOException also if a file changes its size while it is read
   */
  static Written write(SourceTree tree, Path file, Running packing, Runnable passing)
      throws IOException {
    List<BundledFile> files = new ArrayList<>();
    MessageDigest digest = Sha256.digest();
    try (FileChannel disk =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      OutputStream out =
          new DigestOutputStream(
              new BufferedOutputStream(Channels.newOutputStream(disk), 1 << 18), digest);
      try (TarWriter tar = new TarWriter(Zstd.into(out), TarWriter.Format.PAX)) {
        for (SourceTree.Item item : tree.items()) {
          files.add(write(tar, item, packing));
          packing.done(1, 0);
          passing.run();
        }
      }
      out.flush();
      disk.force(true);
      return new Written(new ArchiveFile.Digest(disk.size(), Sha256.hex(digest)), files);
    }
  }

  private static BundledFile write(TarWriter tar, SourceTree.Item item, Running packing)
      throws IOException {
    TarEntry entry = item.entry();
    if (entry.kind() != Kind.FILE) {
      tar.write(entry, InputStream.nullInputStream());
      return BundledFile.of(entry, "");
    }
    MessageDigest digest = Sha256.digest();
    try (InputStream in =
        new DigestInputStream(packing.counting(SourceTree.open(item.file())), digest)) {
      tar.write(entry, in);
    }
    return BundledFile.of(entry, Sha256.hex(digest));
  }
}
