package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.FileModes;
import dev.nexa.slurm.base.files.NamesOfFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.progress.Phase;
import dev.nexa.slurm.base.progress.Progress;
import dev.nexa.slurm.base.progress.Progress.Running;
import dev.nexa.slurm.job.code.TarEntry;
import dev.nexa.slurm.job.code.TarEntry.Kind;
import dev.nexa.slurm.job.code.TarWriter;
import dev.nexa.slurm.storage.bundle.TarReader;
import dev.nexa.slurm.storage.bundle.Zstd;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A release as one archive: tar in POSIX's format (pax), compressed with Zstandard. Two archives of
 * the same release are the same bytes: files in order, mode 0444, owner 0, the time of the release.
 */
public final class ReleaseTar {
  private static final int MODE = 0444;

  private ReleaseTar() {}

  /**
   * Writes an archive of a release. Each file's path begins with the release's name.
   *
   * @param files writes it: under a temporary name until it is whole
   * @return false if the file exists
   */
  public static boolean write(
      ReleaseFolder release, Path archive, DurableFiles files, Progress progress) {
    ReleaseFile document = release.document();
    TreeMap<String, String> digests = new TreeMap<>(NamesOfFiles.ORDER);
    document.files().forEach(file -> digests.put(file.path(), file.sha256()));
    digests.put(ReleaseFolder.DOCUMENT, release.digest());
    ReleaseContent.signed(release)
        .signatures()
        .forEach(
            (name, bytes) -> digests.put(ReleaseFolder.SIGNATURES + "/" + name, Sha256.of(bytes)));
    Instant time = Instant.ofEpochSecond(document.origin().ended().getEpochSecond());
    long bytes =
        digests.keySet().stream()
            .mapToLong(file -> release.path().resolve(file).toFile().length())
            .sum();
    Phase phase = Phase.of("packing", "files", digests.size()).withBytes(bytes);
    try (Running packing = progress.begin(phase)) {
      return files.claim(
          archive,
          out -> {
            try (TarWriter tar = new TarWriter(Zstd.into(out), TarWriter.Format.PAX)) {
              for (Map.Entry<String, String> file : digests.entrySet()) {
                Path from = release.path().resolve(file.getKey());
                String name = release.name() + "/" + file.getKey();
                requireSame(from, write(tar, name, from, time, packing), file.getValue());
                packing.done(1, 0);
              }
            }
          },
          FileModes.USUAL);
    }
  }

  /** Writes one file, and returns its SHA-256. */
  private static String write(TarWriter tar, String name, Path file, Instant time, Running packing)
      throws IOException {
    MessageDigest digest = Sha256.digest();
    try (InputStream in =
        new DigestInputStream(packing.counting(Files.newInputStream(file)), digest)) {
      tar.write(new TarEntry(name, Kind.FILE, Files.size(file), MODE, time, ""), in);
    }
    return Sha256.hex(digest);
  }

  private static void requireSame(Path file, String digest, String listed) {
    if (!digest.equals(listed)) {
      throw ErrorCode.RELEASE_DAMAGED.error(
          file + " is not the file that was packaged: it has another SHA-256",
          "package the run again under another name: --name NAME");
    }
  }

  /**
   * Reads all files of an archive, part by part.
   *
   * @throws NexaException with {@link ErrorCode#RELEASE_DAMAGED} if it is no whole archive of a
   *     release
   */
  public static ReleaseContent read(Path archive) {
    ReleaseContent content = new ReleaseContent(archive.toString());
    try (TarReader tar =
        new TarReader(new BufferedInputStream(Files.newInputStream(archive), 1 << 18))) {
      String folder = "";
      for (Optional<TarEntry> next = tar.next(); next.isPresent(); next = tar.next()) {
        TarEntry entry = next.get();
        String name = entry.path();
        int slash = name.indexOf('/');
        String first = slash < 0 ? name : name.substring(0, slash);
        folder = folder.isEmpty() ? first : folder;
        String below = slash < 0 ? "" : name.substring(slash + 1);
        if (!first.equals(folder)) {
          content.addStrange(name, "outside the folder " + folder);
        } else if (entry.kind() == Kind.FOLDER) {
          if (!below.isEmpty()) {
            content.addFolder(below.replaceAll("/+$", ""));
          }
        } else if (entry.kind() == Kind.FILE) {
          content.add(below, tar.data());
        } else {
          content.addStrange(below, "no file");
        }
      }
    } catch (IOException | RuntimeException broken) {
      if (broken instanceof NexaException known) {
        throw known;
      }
      throw ErrorCode.RELEASE_DAMAGED.error(
          archive + " is not a whole archive of a release: " + broken.getMessage(),
          broken,
          Advice.step("make it again: nexa-slurm release package RUN --tar FILE.tar.zst"));
    }
    return content.requireDocument();
  }
}
