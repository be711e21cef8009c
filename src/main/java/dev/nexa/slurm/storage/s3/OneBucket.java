package dev.nexa.slurm.storage.s3;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import software.amazon.awssdk.endpoints.Endpoint;
import software.amazon.awssdk.http.auth.spi.scheme.AuthSchemeOption;
import software.amazon.awssdk.services.s3.S3ClientBuilder;
import software.amazon.awssdk.services.s3.auth.scheme.S3AuthSchemeProvider;
import software.amazon.awssdk.services.s3.endpoints.S3EndpointProvider;

/**
 * The endpoint of a bucket, and how requests to it are signed. The SDK finds both by rules, anew
 * for each request. A client that asks one bucket gets the same answers each time, so it needs them
 * once: they are a sixth of the CPU time of a small request.
 */
final class OneBucket {
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
