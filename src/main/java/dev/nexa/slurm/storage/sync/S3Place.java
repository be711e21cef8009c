package dev.nexa.slurm.storage.sync;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.job.config.shared.S3Settings;
import java.net.URI;
import java.util.Optional;

/**
 * A bucket and a prefix, and how to reach them.
 *
 * @param prefix the beginning of all keys: empty, or text that ends with a slash
 * @param store the settings to reach the store, and for new objects
 * @param awsProfile a profile of ~/.aws; empty for the SDK's default chain
 * @param connections how many requests run at once
 */
public record S3Place(
    String bucket, String prefix, S3Settings store, Optional<String> awsProfile, int connections) {
  private static final String SCHEME = "s3://";

  /** Returns whether the text is an address of objects, not a folder. */
  public static boolean isAddress(String text) {
    return text.startsWith(SCHEME);
  }

  /** Returns the address that a text such as {@code s3:/b/x} or {@code S3://b} probably means. */
  public static Optional<String> misspelt(String text) {
    return !isAddress(text) && text.regionMatches(true, 0, "s3:", 0, 3)
        ? Optional.of(SCHEME + text.substring(3).replaceFirst("^/+", ""))
        : Optional.empty();
  }

  /**
   * Reads {@code s3://BUCKET/PREFIX}.
   *
   * @param where the option, key or variable that holds the text, for messages
   */
  public static S3Place parse(String text, String where) {
    String rest = isAddress(text) ? text.substring(SCHEME.length()) : "";
    int slash = rest.indexOf('/');
    String bucket = slash < 0 ? rest : rest.substring(0, slash);
    String prefix = slash < 0 ? "" : rest.substring(slash + 1);
    if (!bucket.matches("[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")) {
      throw ErrorCode.OPTION_INVALID.error(
          where + ": expected an address such as s3://bucket/prefix, got '" + text + "'",
          "a bucket's name has 3 to 63 lower-case letters, digits, dots and hyphens");
    }
    if (("/" + prefix).contains("//")) {
      throw ErrorCode.OPTION_INVALID.error(
          where + ": the prefix of '" + text + "' holds '//'",
          "type " + SCHEME + (bucket + "/" + prefix).replaceAll("/+", "/"));
    }
    String folder = prefix.isEmpty() || prefix.endsWith("/") ? prefix : prefix + "/";
    return new S3Place(bucket, folder, S3Settings.NONE, Optional.empty(), 16);
  }

  /** Returns the place in another store, for this many requests at once. */
  public S3Place in(S3Settings other, Optional<String> profile, int requests) {
    return new S3Place(bucket, prefix, other, profile, requests);
  }

  /** Returns the place for objects of another storage class; empty for the bucket's default. */
  public S3Place withStorageClass(Optional<String> other) {
    return in(store.ofClass(other), awsProfile, connections);
  }

  /** Returns the store's address; empty for AWS. */
  public Optional<URI> endpoint() {
    return store.endpoint().map(URI::create);
  }

  /** Returns the address: {@code s3://BUCKET/PREFIX}. */
  public String address() {
    return SCHEME + bucket + "/" + prefix;
  }

  /**
   * Returns the text that identifies the place. The name of a sync's state folder has its digest.
   */
  String identity() {
    return store.endpoint().orElse("aws") + "\n" + address();
  }
}
