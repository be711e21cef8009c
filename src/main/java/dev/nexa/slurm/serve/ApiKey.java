package dev.nexa.slurm.serve;

import dev.nexa.slurm.files.DurableFiles;
import dev.nexa.slurm.journal.RunFolder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;

/**
 * The key that a server asks for: 32 random bytes in a file of mode 0600 in the run's folder. It is
 * in no script, argument, log, manifest or journal.
 */
public final class ApiKey {
  private static final String NAME = "api_key";
  private static final int BYTES = 32;

  private ApiKey() {}

  /** Where a server's key lies; a run that is no server has none. */
  public static Path file(RunFolder run) {
    return run.path().resolve(NAME);
  }

  /** Makes the key of a server that is about to be submitted. */
  public static void make(RunFolder run, DurableFiles files) {
    byte[] bytes = new byte[BYTES];
    new SecureRandom().nextBytes(bytes);
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes) + "\n";
    files.create(file(run), text.getBytes(StandardCharsets.UTF_8), "rw-------");
  }

  /** The key; empty where it is another user's, or gone. */
  static Optional<String> read(Path file) {
    return Files.isReadable(file) ? Optional.of(DurableFiles.read(file).strip()) : Optional.empty();
  }
}
