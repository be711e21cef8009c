package dev.nexa.slurm.command.shared;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.job.config.shared.S3Settings;
import dev.nexa.slurm.job.config.site.ClusterProfile.Storage;
import dev.nexa.slurm.run.Context;
import dev.nexa.slurm.storage.sync.S3Place;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.OptionSpec;

/** The options that say how S3 is reached, with the profile's values for what was not typed. */
public final class S3Options {
  private final OptionSpec endpoint;
  private final OptionSpec region;
  private final OptionSpec awsProfile;
  private final boolean takesAddress;

  /**
   * Adds the options.
   *
   * @param takesAddress whether the command also takes an address as a word
   */
  public S3Options(Subcommand command, boolean takesAddress) {
    this.takesAddress = takesAddress;
    endpoint =
        command.option(
            "--endpoint URL",
            "The store's URL, for MinIO, Ceph or Backblaze. Default: storage.s3.endpoint of the profile, else AWS.");
    region = command.option("--region REGION", "The bucket's region. Default: the profile's.");
    awsProfile =
        command.option("--aws-profile NAME", "A profile of ~/.aws; else the SDK's default chain.");
  }

  /** Returns all options. */
  public List<OptionSpec> all() {
    return List.of(endpoint, region, awsProfile);
  }

  /**
   * Returns the address that was typed, else the environment's, else the profile's.
   *
   * @param typed the address that was typed
   * @param threads how many requests run at once
   * @throws NexaException if there is no address, or a value is not usable
   */
  public S3Place place(Context context, Storage storage, Optional<String> typed, int threads) {
    String variable = context.environment().getOrDefault("NEXA_S3_PREFIX", "");
    S3Place place;
    if (typed.isPresent()) {
      place = S3Place.parse(typed.get(), "PLACE");
    } else if (!variable.isEmpty()) {
      place = S3Place.parse(variable, "NEXA_S3_PREFIX");
    } else if (storage.s3Prefix().isPresent()) {
      place = S3Place.parse(storage.s3Prefix().get(), "storage.s3_prefix");
    } else {
      throw ErrorCode.ARGUMENT_MISSING.error(
          "no address in S3 is given",
          "export NEXA_S3_PREFIX=s3://BUCKET/PREFIX",
          "or set storage.s3_prefix in the profile"
              + (takesAddress ? ", or type s3://BUCKET/PREFIX" : ""));
    }
    return place(place, storage, threads);
  }

  /**
   * Returns the address with the options.
   *
   * @throws NexaException if a value is not usable
   */
  public S3Place place(S3Place place, Storage storage, int threads) {
    Optional<String> typed = Subcommand.value(endpoint);
    S3Settings store =
        storage
            .s3()
            .orElse(S3Settings.NONE)
            .with(typed, Subcommand.value(region), Optional.empty());
    store.endpoint().ifPresent(url -> requireUrl(url, typed.isPresent()));
    return place.in(store, Subcommand.value(awsProfile), threads);
  }

  private static void requireUrl(String url, boolean typed) {
    if (url(url).isEmpty()) {
      // The text is not repeated: it can hold a password.
      throw Subcommand.invalid(
          (typed ? "--endpoint" : "storage.s3.endpoint")
              + ": expected a URL such as https://minio.example.org:9000, without a user name",
          "without it, AWS is asked");
    }
  }

  /** Returns the URL of a server, without a user name; empty if the text is none. */
  public static Optional<URI> url(String text) {
    try {
      URI uri = new URI(text);
      boolean web = "https".equals(uri.getScheme()) || "http".equals(uri.getScheme());
      boolean isUsable = web && uri.getHost() != null && uri.getUserInfo() == null;
      return isUsable ? Optional.of(uri) : Optional.empty();
    } catch (URISyntaxException notAnAddress) {
      return Optional.empty();
    }
  }
}
