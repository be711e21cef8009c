package dev.nexa.slurm.run.server;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.records.runs.RunFolder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;

/**
 * The API key of a server: 32 random bytes in a file of mode 0600 in the run's folder.
 *
 * <p>The key never appears in a script, an argument, a log, a manifest or a journal.
 */
public final class ApiKey {
  private static final String NAME = "api_key";
  private static final int BYTES = 32;

  private ApiKey() {}

  /** Returns the path of a server's key. A run that is not a server has no such file. */
  public static Path file(RunFolder run) {
    return run.path().resolve(NAME);
  }

  /** Makes the key of a server that is about to be submitted, and writes it to its file. */
  public static void make(RunFolder run, DurableFiles files) {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes) + "\n";
    files.create(file(run), text.getBytes(StandardCharsets.UTF_8), "rw-------");
  }

  /** Returns the key, or empty if this user cannot read the file. */
  static Optional<String> read(Path file) {
    return Files.isReadable(file) ? Optional.of(DurableFiles.read(file).strip()) : Optional.empty();
  }
}
