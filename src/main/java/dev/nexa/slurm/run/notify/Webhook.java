package dev.nexa.slurm.run.notify;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.shared.NotifyChannel;
import dev.nexa.slurm.records.notices.Notice;
import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.channels.UnresolvedAddressException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Posts a notification to an address. Follows no redirect, because the address is a secret, and
 * reads no more of the answer than its status.
 */
record Webhook(NotifyChannel channel, Map<String, String> environment) implements Channel {
  private static final int TOO_MANY = 429;
  private static final Duration LONGEST_WAIT = Duration.ofDays(1);

  @Override
  public Answer send(Notice notice, boolean doubtful, Duration limit) {
    URI address;
    try {
      address = SecretAddress.of(channel, environment);
    } catch (SecretAddress.UnusableException unusable) {
      return Answer.failed(String.valueOf(unusable.getMessage()));
    }
    HttpClient client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(limit)
            .build();
    CompletableFuture<HttpResponse<InputStream>> answer =
        client.sendAsync(
            request(address, notice, doubtful, limit), HttpResponse.BodyHandlers.ofInputStream());
    try {
      HttpResponse<InputStream> response = answer.get(limit.toMillis(), TimeUnit.MILLISECONDS);
      response.body().close();
      return judged(response);
    } catch (TimeoutException silent) {
      answer.cancel(true);
      return Answer.doubtful("no answer within " + limit.toSeconds() + " s");
    } catch (ExecutionException failed) {
      return judged(failed.getCause() == null ? failed : failed.getCause());
    } catch (IOException closing) {
      return Answer.doubtful("the connection broke");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while sending a notification", interrupted);
    }
  }

  private HttpRequest request(URI address, Notice notice, boolean doubtful, Duration limit) {
    JsonObject body =
        channel.kind() == NotifyChannel.Kind.SLACK
            ? new JsonObject()
                .with("text", NoticeText.slack(notice, doubtful))
                .with("mrkdwn", false)
                .with("unfurl_links", false)
                .with("unfurl_media", false)
            : notice.document().with("may_be_repeated", doubtful);
    return HttpRequest.newBuilder(address)
        .timeout(limit)
        .header("Content-Type", "application/json; charset=utf-8")
        .header("User-Agent", "nexa-slurm")
        .header("Idempotency-Key", notice.id())
        .POST(HttpRequest.BodyPublishers.ofString(Json.compact(body)))
        .build();
  }

  private Answer judged(HttpResponse<InputStream> response) {
    int status = response.statusCode();
    if (status / 100 == 2) {
      return Answer.SENT;
    }
    String words =
        switch (status / 100) {
          case 3 -> ", a redirect, which is not followed: name the final address";
          case 4 ->
              status == TOO_MANY
                  ? ", too many messages"
                  : ", which refuses the message: check the address";
          default -> "";
        };
    return new Answer(
        Optional.of("HTTP status " + status + words),
        false,
        response.headers().firstValue("Retry-After").flatMap(Webhook::wait));
  }

  /** Returns the wait that a header asks for, in seconds or as a date; at most a day. */
  static Optional<Duration> wait(String header) {
    Duration asked;
    try {
      asked =
          header.matches("[0-9]{1,9}")
              ? Duration.ofSeconds(Long.parseLong(header))
              : Duration.between(
                  Instant.now(),
                  ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
    } catch (DateTimeException neither) {
      return Optional.empty();
    }
    return asked.isNegative()
        ? Optional.empty()
        : Optional.of(asked.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : asked);
  }

  /** An exception's own text could hold the address, so only its class counts. */
  private static Answer judged(Throwable failed) {
    if (failed instanceof HttpConnectTimeoutException) {
      return Answer.failed("no connection in time");
    }
    if (failed instanceof ConnectException) {
      return Answer.failed(
          failed.getCause() instanceof UnresolvedAddressException
              ? "the host's name is unknown"
              : "no connection");
    }
    return failed instanceof java.net.http.HttpTimeoutException
        ? Answer.doubtful("no answer in time")
        : Answer.doubtful("the connection broke (" + failed.getClass().getSimpleName() + ")");
  }
}
