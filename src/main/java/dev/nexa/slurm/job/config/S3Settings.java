package dev.nexa.slurm.job.config;

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
    Optional<String> encryption,
    Optional<String> kmsKey) {
  static S3Settings from(Values values) {
    return new S3Settings(
        values.optionalText("endpoint"),
        values.optionalText("region"),
        values.has("path_style") && values.flag("path_style"),
        values.optionalText("storage_class"),
        values.optionalText("sse"),
        values.optionalText("sse_kms_key"));
  }
}
