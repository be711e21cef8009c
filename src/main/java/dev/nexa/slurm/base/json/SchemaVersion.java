package dev.nexa.slurm.base.json;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import java.math.BigDecimal;

/** The member {@code schema_version} of the documents that nexa-slurm writes and reads back. */
public final class SchemaVersion {
  /** The member's name. A document without the member has version 1. */
  public static final String KEY = "schema_version";

  private static final String MEMBER = "\"" + KEY + "\": ";

  private SchemaVersion() {}

  /**
   * Parses a document and checks its version.
   *
   * @param file the file's name for messages
   * @param newest the newest version that the caller reads
   * @throws IllegalArgumentException if the text is no JSON object
   * @throws NexaException if a newer nexa-slurm wrote the document
   */
  public static JsonObject parse(String text, String file, long newest) {
    JsonObject json = Json.parseObject(text);
    require(json.optionalDecimal(KEY).orElse(BigDecimal.ONE).longValue(), file, newest);
    return json;
  }

  /**
   * Checks a document's version.
   *
   * @throws NexaException if it is newer than {@code newest}
   */
  public static void require(long version, String file, long newest) {
    if (version > newest) {
      throw ErrorCode.RECORD_TOO_NEW.error(
          file + " has schema_version " + version + "; this nexa-slurm reads up to " + newest,
          "use the nexa-slurm that made the run, or a newer one");
    }
  }

  /**
   * Checks that a stored text may be replaced. Looks only for the first member of this name,
   * because a cost file may have a million attempts.
   *
   * @throws NexaException if a newer nexa-slurm wrote the text
   */
  public static void requireReplaceable(String text, String file, long newest) {
    int at = text.indexOf(MEMBER);
    int begin = at + MEMBER.length();
    int end = begin;
    while (at >= 0
        && end < text.length()
        && end - begin < 9
        && Character.isDigit(text.charAt(end))) {
      end++;
    }
    if (end > begin) {
      require(Long.parseLong(text.substring(begin, end)), file, newest);
    }
  }
}
