package dev.nexa.slurm.storage.archive;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Phase;
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
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The files of a run that a bundle holds, in their state when the tree is read. Follows no link.
 */
record SourceTree(List<SourceTree.Item> items) {
  /** A bundle holds files, folders and links. */
  static final String ENTRIES = "entries";

  /** The folder of the run in the workspace. Commands that lock the run change its time. */
  private static final String RUN = "run";

  /** The key of a server, which nobody needs once the server has ended, and the run's lock. */
  private static final Set<String> LEFT_OUT = Set.of("run/api_key", "run/.lock");

  /** An entry, its path on disk, and its device and inode. */
  record Item(TarEntry entry, Path file, String identity) {}

  /**
   * Reads names, sizes and times.
   *
   * @param sources for each first part of a path in the bundle, the file or folder
   * @throws NexaException if something is neither a file nor a folder nor a link
   */
  static SourceTree of(Map<String, Path> sources) {
    SourceTree tree = new SourceTree(new ArrayList<>());
    for (Map.Entry<String, Path> source : sources.entrySet()) {
      DurableFiles.attempt(
          "read", source.getValue(), () -> tree.add(source.getKey(), source.getValue()));
    }
    return tree;
  }

  private void add(String path, Path file) throws IOException {
    boolean ours = path.startsWith(RUN + "/");
    if (LEFT_OUT.contains(path)
        || (ours && DurableFiles.isTemporary(file.getFileName().toString()))) {
      return;
    }
    PosixFileAttributes facts =
        Files.readAttributes(file, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    Kind kind =
        facts.isRegularFile()
            ? Kind.FILE
            : facts.isDirectory() ? Kind.FOLDER : facts.isSymbolicLink() ? Kind.LINK : Kind.OTHER;
    if (kind == Kind.OTHER || path.indexOf('\uFFFD') >= 0) {
      throw ErrorCode.FILE_NOT_REGULAR.error(
          file
              + (kind == Kind.OTHER
                  ? " is neither a file nor a folder nor a link, and cannot be archived"
                  : " has a name that is not UTF-8, and cannot be archived"),
          "remove it, or move it out of the run's folder");
    }
    int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS) & 07777;
    items.add(
        new Item(
            new TarEntry(
                path,
                kind,
                kind == Kind.FILE ? facts.size() : 0,
                kind == Kind.LINK ? 0777 : mode,
                path.equals(RUN) ? Instant.EPOCH : facts.lastModifiedTime().toInstant(),
                kind == Kind.LINK ? Files.readSymbolicLink(file).toString() : ""),
            file,
            String.valueOf(facts.fileKey())));
    if (kind == Kind.FOLDER) {
      List<String> names;
      try (Stream<Path> all = Files.list(file)) {
        names = all.map(one -> one.getFileName().toString()).sorted(NamesOfFiles.ORDER).toList();
      }
      for (String name : names) {
        add(path + "/" + name, file.resolve(name));
      }
    }
  }

  /** Returns a phase that reads all bytes. */
  Phase phase(String doing) {
    long bytes = items.stream().mapToLong(item -> item.entry().bytes()).sum();
    return Phase.of(doing, ENTRIES, items.size()).withBytes(bytes);
  }

  /** Opens a file, never what a link leads to. */
  static InputStream open(Path file) throws IOException {
    return Files.newInputStream(file, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS);
  }

  /**
   * Reads all bytes again.
   *
   * @param comparing gets each entry and its bytes
   * @throws NexaException if a file is not what the bundle holds
   */
  void requireSame(List<BundledFile> bundled, Running comparing) {
    for (int i = 0; i < Math.max(items.size(), bundled.size()); i++) {
      if (i >= items.size()) {
        throw changed("the bundle has " + bundled.get(i).path() + ", and the run has not");
      }
      Item item = items.get(i);
      if (i >= bundled.size()) {
        throw changed("the bundle does not have " + item.file());
      }
      BundledFile other = bundled.get(i);
      if (!item.entry().path().equals(other.path())) {
        throw changed("the run has " + item.file() + ", and the bundle " + other.path());
      }
      if (!BundledFile.of(item.entry(), sha256(item, comparing)).equals(other)) {
        throw changed(item.file() + " is not what the bundle holds");
      }
      comparing.done(1, 0);
    }
  }

  private static Optional<String> sha256(Item item, Running comparing) {
    if (item.entry().kind() != Kind.FILE) {
      return Optional.empty();
    }
    try (InputStream in = comparing.counting(open(item.file()))) {
      return Optional.of(Sha256.of(in));
    } catch (NoSuchFileException gone) {
      throw changed(item.file() + " is gone");
    } catch (IOException failed) {
      throw DurableFiles.failure("read", item.file(), failed);
    }
  }

  /**
   * Compares sizes, times and inodes with a later reading. Reads no bytes.
   *
   * @throws NexaException if something changed
   */
  void requireUnchanged(SourceTree later) {
    for (int i = 0; i < Math.max(items.size(), later.items.size()); i++) {
      if (i >= items.size() || i >= later.items.size()) {
        throw changed("files came or went in " + items.get(0).file());
      }
      if (!items.get(i).equals(later.items.get(i))) {
        throw changed(items.get(i).file() + " changed");
      }
    }
  }

  /** The written bundle. */
  record Written(long bytes, String sha256, List<BundledFile> files) {}

  /**
   * Writes all entries into a bundle, and forces it to disk. Replaces the file's content.
   *
   * @param packing gets each entry and its bytes
   * @param passing is called after each entry
   * @throws IOException also if a file changes its size while it is read
   */
  Written write(Path file, Running packing, Runnable passing) throws IOException {
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
        for (Item item : items) {
          files.add(write(tar, item, packing));
          packing.done(1, 0);
          passing.run();
        }
      }
      out.flush();
      disk.force(true);
      return new Written(disk.size(), Sha256.hex(digest), files);
    }
  }

  private static BundledFile write(TarWriter tar, Item item, Running packing) throws IOException {
    TarEntry entry = item.entry();
    if (entry.kind() != Kind.FILE) {
      tar.write(entry, InputStream.nullInputStream());
      return BundledFile.of(entry, Optional.empty());
    }
    MessageDigest digest = Sha256.digest();
    try (InputStream in = new DigestInputStream(packing.counting(open(item.file())), digest)) {
      tar.write(entry, in);
    }
    return BundledFile.of(entry, Optional.of(Sha256.hex(digest)));
  }

  private static NexaException changed(String what) {
    return ErrorCode.FILE_CHANGED.error(
        what + ": the run's files changed while they were archived, or since",
        "nothing was removed; type the command again when nobody writes there");
  }
}
