package dev.nexa.slurm.storage.s3;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.storage.sync.ObjectStore;
import dev.nexa.slurm.storage.sync.ObjectStores;
import dev.nexa.slurm.storage.sync.S3Place;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
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
import software.amazon.awssdk.endpoints.Endpoint;
import software.amazon.awssdk.http.SdkHttpRequest;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.http.auth.spi.scheme.AuthSchemeOption;
import software.amazon.awssdk.profiles.ProfileFile;
import software.amazon.awssdk.profiles.ProfileFileSystemSetting;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.S3Configuration;
import software.amazon.awssdk.services.s3.auth.scheme.S3AuthSchemeProvider;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointProvider;

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
      // The last three: the profile is malformed, or no user has logged in to its SSO.
      throw refusal.noCredentials();
    }
    S3ClientBuilder client =
        S3Client.builder()
            .credentialsProvider(credentials)
            .region(region(place, refusal))
            .forcePathStyle(place.store().pathStyle())
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
    if (place.store().region().isPresent()) {
      return Region.of(place.store().region().get());
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

  /**
   * The trusted certificates for a store with a certificate authority of its own. The AWS CLI reads
   * the name of their file from the variable, then from the profile (botocore's configprovider.py);
   * the SDK for Java reads neither (2.x).
   *
   * @param file in PEM
   * @param from the variable, or the key of the profile, that names the file
   */
  record CaBundle(String file, String from) {
    private static final String VARIABLE = "AWS_CA_BUNDLE";
    private static final String KEY = "ca_bundle";

    /**
     * Returns the bundle that the environment names, or else the bundle that the AWS profile names.
     * Empty if there is none, and if the profiles cannot be read: then the credentials came from
     * elsewhere, too.
     */
    static Optional<CaBundle> named(Optional<String> awsProfile) {
      String variable = System.getenv(VARIABLE);
      if (variable != null && !variable.isEmpty()) {
        return Optional.of(new CaBundle(variable, VARIABLE));
      }
      String profile =
          awsProfile.orElseGet(ProfileFileSystemSetting.AWS_PROFILE::getStringValueOrThrow);
      try {
        return ProfileFile.defaultProfileFile()
            .profile(profile)
            .flatMap(found -> found.property(KEY))
            .filter(file -> !file.isEmpty())
            .map(file -> new CaBundle(file, KEY + " of the AWS profile '" + profile + "'"));
      } catch (IllegalArgumentException | UncheckedIOException malformed) {
        return Optional.empty();
      }
    }

    /**
     * Returns the managers that trust the bundle's certificates, and no others: so does the AWS
     * CLI.
     *
     * @throws NexaException if the file cannot be read, or holds no certificate
     */
    TrustManager[] trusted() {
      Collection<? extends Certificate> certificates;
      try {
        byte[] pem = Files.readAllBytes(Path.of(file));
        certificates =
            CertificateFactory.getInstance("X.509")
                .generateCertificates(new ByteArrayInputStream(pem));
      } catch (NoSuchFileException | InvalidPathException missing) {
        throw wrong("but there is no such file");
      } catch (IOException failed) {
        throw wrong("which cannot be read: " + DurableFiles.reason(failed));
      } catch (CertificateException broken) {
        throw wrong("which holds no certificates in PEM");
      }
      if (certificates.isEmpty()) {
        throw wrong("which holds no certificates in PEM");
      }
      try {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        int number = 0;
        for (Certificate one : certificates) {
          store.setCertificateEntry("" + number++, one);
        }
        TrustManagerFactory factory =
            TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        return factory.getTrustManagers();
      } catch (IOException | GeneralSecurityException impossible) {
        throw new IllegalStateException("a store in memory takes certificates", impossible);
      }
    }

    private NexaException wrong(String what) {
      return ErrorCode.S3_REFUSED.error(
          "S3: " + from + " is " + file + ", " + what,
          "name a file with the certificates of the store's authority, in PEM");
    }
  }

  /**
   * The endpoint of a bucket, and the way to sign requests to it. The SDK finds both by rules, anew
   * for each request. A client that asks one bucket gets the same answers each time, so it needs
   * them once. They take a sixth of the CPU time of a small request.
   */
  static final class OneBucket {
    private OneBucket() {}

    /**
     * Lets a client keep both answers.
     *
     * @param client must ask one bucket only, and must not copy objects from another
     */
    static void of(S3ClientBuilder client) {
      S3EndpointProvider endpoints = S3EndpointProvider.defaultProvider();
      AtomicReference<CompletableFuture<Endpoint>> endpoint = new AtomicReference<>();
      client.endpointProvider(
          asked ->
              endpoint.updateAndGet(
                  known -> known == null ? endpoints.resolveEndpoint(asked) : known));
      S3AuthSchemeProvider schemes = S3AuthSchemeProvider.defaultProvider();
      Map<String, List<AuthSchemeOption>> ofOperation = new ConcurrentHashMap<>();
      client.authSchemeProvider(
          asked ->
              ofOperation.computeIfAbsent(
                  asked.operation(), first -> schemes.resolveAuthScheme(asked)));
    }
  }
}
