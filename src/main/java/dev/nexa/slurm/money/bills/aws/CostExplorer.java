package dev.nexa.slurm.money.bills.aws;

import dev.nexa.slurm.money.bills.CostSource;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.time.YearMonth;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.ProfileCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.ProxyConfiguration;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.services.costexplorer.CostExplorerClient;
import software.amazon.awssdk.services.costexplorer.CostExplorerClientBuilder;
import software.amazon.awssdk.services.costexplorer.model.GetCostAndUsageRequest;
import software.amazon.awssdk.services.costexplorer.model.GetCostAndUsageResponse;
import software.amazon.awssdk.services.costexplorer.model.Granularity;
import software.amazon.awssdk.services.costexplorer.model.GroupDefinition;
import software.amazon.awssdk.services.costexplorer.model.GroupDefinitionType;
import software.amazon.awssdk.services.costexplorer.model.LimitExceededException;

/**
 * Calls GetCostAndUsage, grouped by a tag and the service, and reads all pages. AWS charges 0.01
 * USD for each page.
 */
public final class CostExplorer implements CostSource {
  /** Attempts of one request, including the first, if it is throttled or fails. */
  static final int ATTEMPTS = 4;

  private static final int MOST_PAGES = 2000;
  private static final Duration ATTEMPT_TIMEOUT = Duration.ofSeconds(60);
  private static final Duration TIMEOUT = Duration.ofMinutes(3);

  /** Public for the service loader. */
  public CostExplorer() {}

  @Override
  public Answer ask(Question question) {
    try (CostExplorerClient client = client(question, credentials(question))) {
      List<Charge> charges = new ArrayList<>();
      Set<YearMonth> estimated = new TreeSet<>();
      Set<String> tokens = new HashSet<>();
      GetCostAndUsageRequest request = request(question);
      for (int page = 1; page <= MOST_PAGES; page++) {
        GetCostAndUsageResponse response = client.getCostAndUsage(request);
        charges.addAll(Page.charges(question.tag(), response.resultsByTime()));
        response.resultsByTime().stream()
            .filter(result -> Boolean.TRUE.equals(result.estimated()))
            .forEach(result -> estimated.add(YearMonth.from(Page.day(result))));
        String next = response.nextPageToken();
        if (next == null || next.isEmpty()) {
          return new Answer(charges, estimated, page);
        }
        if (!tokens.add(next)) {
          throw AwsRefusal.strange("the same next page twice");
        }
        request = request.toBuilder().nextPageToken(next).build();
      }
      throw AwsRefusal.strange("more than " + MOST_PAGES + " pages: ask for fewer months");
    } catch (SdkException failure) {
      throw AwsRefusal.of(question, failure);
    }
  }

  /**
   * Finds the credentials before the first request, so that missing credentials cause an error of
   * their own.
   */
  private static AwsCredentials credentials(Question question) {
    try {
      // A profile that the user typed overrides the environment, as in the AWS CLI.
      if (question.profile().isPresent()) {
        String name = question.profile().get();
        try (ProfileCredentialsProvider profile = ProfileCredentialsProvider.create(name)) {
          return profile.resolveCredentials();
        }
      }
      try (DefaultCredentialsProvider chain = DefaultCredentialsProvider.builder().build()) {
        return chain.resolveCredentials();
      }
    } catch (SdkException
        | IllegalStateException
        | IllegalArgumentException
        | UncheckedIOException none) {
      // The last three: the profile is malformed, or no user has logged in to its SSO.
      throw AwsRefusal.noCredentials(question, none);
    }
  }

  private static CostExplorerClient client(Question question, AwsCredentials credentials) {
    StandardRetryStrategy retries =
        AwsRetryStrategy.standardRetryStrategy().toBuilder()
            .maxAttempts(ATTEMPTS)
            .retryOnException(LimitExceededException.class)
            .treatAsThrottling(LimitExceededException.class::isInstance)
            .build();
    CostExplorerClientBuilder client =
        CostExplorerClient.builder()
            .credentialsProvider(StaticCredentialsProvider.create(credentials))
            .region(Region.of(question.region()))
            .httpClientBuilder(
                UrlConnectionHttpClient.builder().proxyConfiguration(proxy(question)))
            .overrideConfiguration(
                ClientOverrideConfiguration.builder()
                    .retryStrategy(retries)
                    .apiCallAttemptTimeout(ATTEMPT_TIMEOUT)
                    .apiCallTimeout(TIMEOUT)
                    .build());
    question.endpoint().ifPresent(client::endpointOverride);
    return client.build();
  }

  /** Reads {@code HTTPS_PROXY}, or {@code HTTP_PROXY} for an endpoint without TLS. */
  private static ProxyConfiguration proxy(Question question) {
    String scheme = question.endpoint().map(URI::getScheme).orElse("https");
    return ProxyConfiguration.builder().scheme(scheme).build();
  }

  private static GetCostAndUsageRequest request(Question question) {
    return GetCostAndUsageRequest.builder()
        .timePeriod(days -> days.start(question.from().toString()).end(question.to().toString()))
        .granularity(question.daily() ? Granularity.DAILY : Granularity.MONTHLY)
        .metrics(Page.METRIC)
        .groupBy(
            List.of(
                group(GroupDefinitionType.TAG, question.tag()),
                group(GroupDefinitionType.DIMENSION, "SERVICE")))
        .build();
  }

  private static GroupDefinition group(GroupDefinitionType type, String key) {
    return GroupDefinition.builder().type(type).key(key).build();
  }
}
