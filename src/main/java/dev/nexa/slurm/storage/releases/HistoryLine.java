package dev.nexa.slurm.storage.releases;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.Codec.Key;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.text.InLowerCase;
import java.time.Instant;
import java.util.Optional;

/**
 * One line of {@code deploy/history.jsonl}. This class owns its keys.
 *
 * @param number counts the lines from 1
 * @param what says what was done
 * @param previous the SHA-256 of the line before; 64 zeros in the first line
 * @param signature the armored SSH signature over all other members; empty while it is missing
 */
public record HistoryLine(
    @Key("seq") int number,
    Instant at,
    What what,
    Author author,
    String previous,
    String signature) {
  /** {@code previous} of the first line. */
  static final String FIRST = "0".repeat(64);

  private static final int VERSION = 1;
  private static final String SIGNATURE = "signature";

  /** The kinds of lines. */
  public enum Action implements InLowerCase {
    /** The link is about to be switched to a release that is deployed. */
    DEPLOYING,
    /** The deployment is complete: the release is in production. */
    DEPLOYED,
    /** The link is about to be switched back, because a person asked for it. */
    ROLLING_BACK,
    /** The link leads back to an earlier release, or there is none in production. */
    ROLLED_BACK,
    /** An announced switch did not happen. The link leads where it led before. */
    ABANDONED,
    /** The link was found to lead elsewhere than the history says. */
    FOUND,
    /** A crash had cut the last line short. That part was removed. */
    TORN_TAIL;

    /** Returns whether the line announces a switch whose result a later line says. */
    public boolean isIntent() {
      return this == DEPLOYING || this == ROLLING_BACK;
    }
  }

  /**
   * The content of a line.
   *
   * @param release the release that is or will be in production; empty if there is none
   * @param digest the digest of that release
   * @param from the release that was in production before
   * @param reason why; may be empty
   * @param smoke the test of the release; {@code none} if nobody asks the model anything
   */
  public record What(
      Action action,
      Optional<String> release,
      @Key("release_digest") Optional<String> digest,
      Optional<String> from,
      String reason,
      String smoke)
      implements Codec.Flat {
    /** The value of {@code smoke} of a line without a test. */
    public static final String NO_SMOKE = "none";

    /** Returns the same with another action. */
    public What as(Action other) {
      return new What(other, release, digest, from, reason, smoke);
    }

    /** Returns the same with another reason. */
    public What because(String other) {
      return new What(action, release, digest, from, other, smoke);
    }

    /** Returns the same with another result of the test. */
    public What tested(String result) {
      return new What(action, release, digest, from, reason, result);
    }
  }

  /**
   * The person who wrote a line.
   *
   * @param user the login name
   * @param signer the name that allowed_signers gives for the key
   */
  public record Author(@Key("by") String user, String signer, String host) implements Codec.Flat {}

  /** Returns the bytes that are signed: the line without its signature. */
  String unsigned() {
    return Json.compact(json());
  }

  /** Returns the line as {@code history --json} shows it: without its signature. */
  public JsonObject json() {
    return JsonObject.ofVersion(VERSION)
        .with("seq", number)
        .with("at", at)
        .with("action", what.action().text())
        .with("release", what.release().orElse(null))
        .with("release_digest", what.digest().orElse(null))
        .with("from", what.from().orElse(null))
        .with("by", author.user())
        .with("signer", author.signer())
        .with("host", author.host())
        .with("reason", what.reason())
        .with("smoke", what.smoke())
        .with("previous", previous);
  }

  HistoryLine signed(String armored) {
    return new HistoryLine(number, at, what, author, previous, armored);
  }

  /** Returns the line of the file, without its line feed. */
  String text() {
    return Json.compact(json().with(SIGNATURE, signature));
  }

  /** Returns the digest that the next line holds. */
  String digest() {
    return Sha256.of(text());
  }

  /**
   * Reads a line.
   *
   * @throws IllegalArgumentException if the text is not exactly what {@link #text} writes
   */
  static HistoryLine parse(String text) {
    HistoryLine line = Codec.read(Json.parseObject(text), HistoryLine.class);
    if (!line.text().equals(text)) {
      throw new IllegalArgumentException("it has other members, or another order or spacing");
    }
    return line;
  }
}
