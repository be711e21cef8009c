package dev.nexa.slurm.job.config.shared;

import dev.nexa.slurm.base.json.Codec;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.yaml.Values;
import java.util.Optional;

/**
 * The section {@code storage.s3} of a cluster profile: how {@code sync} reaches S3.
 *
 * @param endpoint the store's URL; empty for AWS
 * @param region empty for the region that the AWS SDK finds
 * @param pathStyle whether the bucket's name is in the URL's path, not in the host's name
 * @param storageClass the class of new objects; empty for the bucket's default
 * @param encryption {@code AES256} or {@code aws:kms}; empty for the bucket's default
 * @param kmsKey the key for {@code aws:kms}
 */
public record S3Settings(
    Optional<String> endpoint,
    Optional<String> region,
    boolean pathStyle,
    Optional<String> storageClass,
    @Codec.Key("sse") Optional<String> encryption,
    @Codec.Key("sse_kms_key") Optional<String> kmsKey) {
  /** AWS, with the bucket's own settings. */
  public static final S3Settings NONE =
      new S3Settings(
          Optional.empty(),
          Optional.empty(),
          false,
          Optional.empty(),
          Optional.empty(),
          Optional.empty());

  public static S3Settings from(Values values) {
    return new S3Settings(
        values.optionalText("endpoint"),
        values.optionalText("region"),
        values.has("path_style") && values.flag("path_style"),
        values.optionalText("storage_class"),
        values.optionalText("sse"),
        values.optionalText("sse_kms_key"));
  }

  /** Returns the settings that {@link #toJson} wrote. */
  public static S3Settings of(JsonObject json) {
    return Codec.read(json, S3Settings.class);
  }

  public JsonObject toJson() {
    return Codec.write(this);
  }

  /**
   * Returns a copy with another store, region and class, where they are given. Another store gets
   * the bucket's name in the path, as with {@code --endpoint}.
   */
  public S3Settings with(
      Optional<String> store, Optional<String> newRegion, Optional<String> newClass) {
    return new S3Settings(
        store.isPresent() ? store : endpoint,
        newRegion.isPresent() ? newRegion : region,
        pathStyle || store.isPresent(),
        newClass.isPresent() ? newClass : storageClass,
        encryption,
        kmsKey);
  }

  /** Returns a copy for objects of this class; empty for the bucket's default. */
  public S3Settings ofClass(Optional<String> other) {
    return new S3Settings(endpoint, region, pathStyle, other, encryption, kmsKey);
  }
}
