package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Optional;
import javax.net.ssl.TrustManager;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.core.retry.RetryUtils;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;

/** Opens buckets with the SDK's synchronous client, which keeps its connections. */
public final class S3Stores implements ObjectStores {
  /** The SDK sends a request again once, only to correct its clock; the sync waits for longer. */
  private static final int ATTEMPTS = 2;

  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration CONNECT = Duration.ofSeconds(10);

  /** How long a connection may be silent. */
  private static final Duration SILENCE = Duration.ofSeconds(60);

  /** Public for the service loader. */
  public S3Stores() {}

  @Override
  public ObjectStore open(S3Place place) {
    AwsCredentialsProvider credentials =
        place.awsProfile().isPresent()
            ? ProfileCredentialsProvider.create(place.awsProfile().get())
            : DefaultCredentialsProvider.builder().build();
    Optional<CaBundle> bundle = CaBundle.named(place.awsProfile());
    S3Refusal refusal = new S3Refusal(place, bundle);
    try {
      credentials.resolveCredentials();
    } catch (SdkException
        | IllegalStateException
        | IllegalArgumentException
        | UncheckedIOException none) {
      // The last three: the profile is malformed, or nobody has logged in to its SSO.
      throw refusal.noCredentials();
    }
    S3ClientBuilder client =
        S3Client.builder()
            .credentialsProvider(credentials)
            .region(region(place, refusal))
            .forcePathStyle(place.pathStyle())
            // Every request carries the MD5 of its bytes, which all stores check.
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            .serviceConfiguration(S3Configuration.builder().chunkedEncodingEnabled(false).build())
            .httpClientBuilder(http(place, bundle))
            .overrideConfiguration(
                ClientOverrideConfiguration.builder()
                    .addExecutionInterceptor(new WithoutExpect())
                    .retryStrategy(
                        DefaultRetryStrategy.standardStrategyBuilder()
                            .retryOnException(
                                failed ->
                                    failed instanceof SdkException sdk
                                        && RetryUtils.isClockSkewException(sdk))
                            .treatAsThrottling(failed -> false)
                            .maxAttempts(ATTEMPTS)
                            .backoffStrategy(BackoffStrategy.fixedDelay(PAUSE))
                            .throttlingBackoffStrategy(BackoffStrategy.fixedDelay(PAUSE))
                            .build())
                    .build());
    place.endpoint().ifPresent(client::endpointOverride);
    OneBucket.of(client);
    return new S3Store(client.build(), place, refusal);
  }

  private static ApacheHttpClient.Builder http(S3Place place, Optional<CaBundle> bundle) {
    ApacheHttpClient.Builder http =
        ApacheHttpClient.builder()
            // Each thread has a request, and so has each thread that sends parts.
            .maxConnections(2 * place.connections() + 2)
            .connectionTimeout(CONNECT)
            .socketTimeout(SILENCE)
            .expectContinueEnabled(false);
    boolean plain = place.endpoint().filter(at -> "http".equals(at.getScheme())).isPresent();
    if (bundle.isPresent() && !plain) {
      TrustManager[] trusted = bundle.get().trusted();
      http.tlsTrustManagersProvider(() -> trusted);
    }
    return http;
  }

  /**
   * Takes the header Expect away: a small file would wait for an answer before it is sent, and
   * stores that do not know the header cost three seconds.
   */
  private static final class WithoutExpect implements ExecutionInterceptor {
    @Override
    public SdkHttpRequest modifyHttpRequest(
        Context.ModifyHttpRequest context, ExecutionAttributes attributes) {
      return context.httpRequest().toBuilder().removeHeader("Expect").build();
    }
  }

  private static Region region(S3Place place, S3Refusal refusal) {
    if (place.region().isPresent()) {
      return Region.of(place.region().get());
    }
    try {
      DefaultAwsRegionProviderChain.Builder chain = DefaultAwsRegionProviderChain.builder();
      place.awsProfile().ifPresent(chain::profileName);
      return chain.build().getRegion();
    } catch (SdkException none) {
      if (place.endpoint().isPresent()) {
        // Other stores ignore it, but it is a part of the signature.
        return Region.US_EAST_1;
      }
      throw refusal.noRegion();
    }
  }
}
