package dev.nexa.slurm.base.program;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestOutputStream;
import java.security.MessageDigest;

/**
 * A file of the program.
 *
 * @param name its path below the program's folder, such as {@code nexa-slurm.jar}
 * @param sha256 the SHA-256 of its bytes
 * @param content writes the bytes
 */
public record ProgramFile(String name, String sha256, DurableFiles.Content content) {

  /** Returns a file with the digest of what its content writes. */
  static ProgramFile of(String name, DurableFiles.Content content) throws IOException {
    MessageDigest digest = Sha256.digest();
    try (OutputStream out = new DigestOutputStream(OutputStream.nullOutputStream(), digest)) {
      content.writeTo(out);
    }
    return new ProgramFile(name, Sha256.hex(digest), content);
  }

  /** Returns whether the file is machine code, which runs on x86_64 only. */
  public boolean isNative() {
    return name.endsWith("_amd64");
  }

  /**
   * Writes the file into a folder, unless it is there. Several processes may do so at once.
   *
   * @throws NexaException if the file then has other bytes
   */
  public void layIn(Path folder, DurableFiles files) {
    Path file = folder.resolve(name);
    files.directories(parent(file));
    if (!Files.exists(file)) {
      // False if another process was faster.
      boolean ours = files.claim(file, content, "r--r--r--");
      assert ours || Files.exists(file);
    }
    requireIn(folder);
  }

  /**
   * Checks the file in a folder against its digest.
   *
   * @throws NexaException if the file is missing or has other bytes
   */
  public void requireIn(Path folder) {
    Path file = folder.resolve(name);
    try {
      String found = Sha256.of(file);
      if (!found.equals(sha256)) {
        throw ErrorCode.FILE_CHANGED.error(
            file + " was changed: its SHA-256 is " + found + ", expected " + sha256,
            Advice.command(
                "removes it; the next command that needs it writes it again", "rm", "-f", file));
      }
    } catch (IOException failed) {
      throw DurableFiles.failure("read", file, failed);
    }
  }

  private static Path parent(Path file) {
    Path parent = file.getParent();
    return parent == null ? Path.of("") : parent;
  }
}
