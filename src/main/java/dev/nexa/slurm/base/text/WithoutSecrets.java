package dev.nexa.slurm.base.text;

import dev.nexa.slurm.base.files.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Returns texts without what looks like a secret: the run's own API key, and each line that holds a
 * token, a password or a private key of a known form. Every text of a job passes through here
 * before it leaves the workspace: in a notification, an archive of {@code postmortem}, a report.
 *
 * @param key the run's own API key; empty if it has none
 */
public record WithoutSecrets(Optional<String> key) {
  /** The most bytes of one file; the end of a log says more than its beginning. */
  public static final int MOST = 10 << 20;

  private static final String BEGIN = "-----BEGIN ";

  /**
   * Reads the run's own key.
   *
   * @param file the key's file, which may be missing
   */
  public static WithoutSecrets of(Path file) {
    return new WithoutSecrets(
        Files.isReadable(file)
            ? Optional.of(DurableFiles.read(file).strip()).filter(text -> !text.isEmpty())
            : Optional.empty());
  }

  /** Returns the last 10 MB of a file, without secrets. */
  public byte[] tail(Path file) {
    try (FileChannel channel = FileChannel.open(file)) {
      long size = channel.size();
      int length = (int) Math.min(MOST, size);
      ByteBuffer bytes = ByteBuffer.allocate(length);
      long at = size - length;
      int read = 0;
      while (bytes.hasRemaining() && read >= 0) {
        read = channel.read(bytes, at + bytes.position());
      }
      String text = new String(bytes.array(), 0, bytes.position(), StandardCharsets.UTF_8);
      // The first line is cut short, and half a token is not recognized.
      return clean(at > 0 ? text.substring(text.indexOf('\n') + 1) : text)
          .getBytes(StandardCharsets.UTF_8);
    } catch (IOException failed) {
      return ("it could not be read: " + DurableFiles.reason(failed) + "\n")
          .getBytes(StandardCharsets.UTF_8);
    }
  }

  /** Returns one line without secrets, and without the white space around it. */
  public String line(String text) {
    return clean(text).strip();
  }

  /** Returns a text without secrets. */
  public String clean(String text) {
    String own = key.isPresent() ? text.replace(key.get(), "[the server's API key]") : text;
    StringBuilder kept = new StringBuilder(own.length());
    boolean inKey = false;
    for (String line : own.split("(?<=\n)", -1)) {
      if (inKey) {
        inKey = !line.contains("-----END ");
        continue;
      }
      Optional<String> secret = OutputSecrets.in(line);
      if (secret.isPresent()) {
        inKey = line.contains(BEGIN) && !line.contains("-----END ");
        kept.append("[nexa-slurm left out a line that looks like " + secret.get() + "]\n");
      } else {
        kept.append(line);
      }
    }
    return kept.toString();
  }
}
