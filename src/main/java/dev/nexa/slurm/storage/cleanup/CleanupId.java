package dev.nexa.slurm.storage.cleanup;

import dev.nexa.slurm.base.error.Advice;
import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.regex.Pattern;

/**
 * The name of a cleanup, {@code cleanup_<yyyyMMdd_HHmmss>_<six characters>}. The random part keeps
 * apart workspaces that share a tier.
 *
 * @param value the name
 */
public record CleanupId(String value) {
  private static final Pattern FORM = Pattern.compile("cleanup_\\d{8}_\\d{6}_[a-z0-9]{6}");
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd_HHmmss").withZone(ZoneOffset.UTC);
  private static final String LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789";
  private static final int RANDOM = 6;

  /**
   * Checks the form, because the name becomes part of a path.
   *
   * @throws NexaException if the text is no cleanup's name
   */
  public CleanupId {
    if (!FORM.matcher(value).matches()) {
      throw new NexaException(
          ErrorCode.OPTION_INVALID,
          "'" + value + "' is no cleanup; one looks like cleanup_20251101_143200_k3x9ab",
          Advice.command("shows them", "nexa-slurm cleanup list"));
    }
  }

  /** Returns a new name. */
  static CleanupId of(Instant now) {
    SecureRandom random = new SecureRandom();
    StringBuilder end = new StringBuilder();
    for (int i = 0; i < RANDOM; i++) {
      end.append(LETTERS.charAt(random.nextInt(LETTERS.length())));
    }
    return new CleanupId("cleanup_" + TIME.format(now) + "_" + end);
  }

  /** Returns whether the text is a cleanup's name. */
  static boolean isOne(String text) {
    return FORM.matcher(text).matches();
  }

  @Override
  public String toString() {
    return value;
  }
}
