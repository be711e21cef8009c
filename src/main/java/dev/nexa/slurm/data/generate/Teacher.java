package dev.nexa.slurm.data.generate;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.error.NexaException;
import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.data.collect.JsonLines;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/** Sends one request to a server with OpenAI's HTTP interface and waits for its response. */
final class Teacher {
  private static final Duration CONNECT = Duration.ofSeconds(30);

  /** The most bytes of a refusal that are read. */
  private static final int REFUSAL = 1 << 20;

  private static final Pattern KEY = Pattern.compile("[\\x21-\\x7e]+");

  private final String base;
  private final Optional<String> key;
  private final Duration timeout;
  private final HttpClient client;

  /**
   * A response, and how long the server asks to wait before the next try.
   *
   * @param retryAfter empty if the server does not say
   */
  record Answered(Reply reply, Optional<Duration> retryAfter) {}

  /**
   * Makes a client.
   *
   * @param base such as {@code https://HOST/v1}
   * @param key empty for a server without a key
   * @param proxy the proxy on the way to the server; empty for none
   * @throws NexaException if the key has characters that no HTTP header may have; the message does
   *     not hold the key
   */
  Teacher(String base, Optional<String> key, Duration timeout, Optional<URI> proxy) {
    this.base = base.replaceFirst("/+$", "");
    this.key = key.map(String::strip);
    this.timeout = timeout;
    if (this.key.filter(text -> !KEY.matcher(text).matches()).isPresent()) {
      throw ErrorCode.API_REFUSED.error(
          "the server's key has a blank, a line feed or another character that no key has",
          "correct the variable in env_file");
    }
    // Servers such as vLLM's close a connection that is idle for five seconds.
    System.setProperty("jdk.httpclient.keepalive.timeout", "4");
    // HTTP/1.1: vLLM knows no other version, and a broken connection breaks one request. No
    // redirects: another host would get the key.
    this.client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .followRedirects(HttpClient.Redirect.NEVER)
            .connectTimeout(timeout.compareTo(CONNECT) < 0 ? timeout : CONNECT)
            .proxy(
                proxy
                    .map(it -> ProxySelector.of(new InetSocketAddress(it.getHost(), it.getPort())))
                    .orElse(HttpClient.Builder.NO_PROXY))
            .build();
  }

  /**
   * Returns the address of a request: the base, and the request's path without its {@code /v1}. A
   * path without {@code /v1} begins at the server's root.
   */
  URI address(String path) {
    boolean below = path.startsWith("/v1/");
    return URI.create(below ? base + path.substring(3) : base.replaceFirst("/v1$", "") + path);
  }

  /** Reads the body of a response with status 200, as it arrives. */
  @FunctionalInterface
  interface BodyReader {
    Reply read(InputStream body) throws IOException;
  }

  /** Sends a request and waits for the whole response. */
  Answered ask(Question question) throws InterruptedException {
    return ask(question, body -> Reply.of(200, whole(body)));
  }

  /** Returns a body as text, unless it is longer than a line may be. */
  private String whole(InputStream body) throws IOException {
    byte[] bytes = body.readNBytes(JsonLines.LONGEST + 1);
    if (bytes.length > JsonLines.LONGEST) {
      throw new IOException("the response has more than " + JsonLines.LONGEST + " bytes");
    }
    return safe(new String(bytes, StandardCharsets.UTF_8));
  }

  /** Sends a request and waits for its response. */
  Answered ask(Question question, BodyReader reader) throws InterruptedException {
    long begin = System.nanoTime();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(address(question.path()))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(question.text()));
    key.ifPresent(secret -> request.header("Authorization", "Bearer " + secret));
    CompletableFuture<HttpResponse<InputStream>> response =
        client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofInputStream());
    try {
      // The client's own timeout would end with the response's first line.
      HttpResponse<InputStream> begun = response.get(timeout.toMillis(), TimeUnit.MILLISECONDS);
      return read(begun, reader, timeout.minusNanos(System.nanoTime() - begin));
    } catch (TimeoutException late) {
      response.cancel(true);
      return late();
    } catch (ExecutionException failed) {
      return broken(failed);
    }
  }

  private static Answered broken(Exception failed) {
    Throwable cause = Optional.ofNullable(failed.getCause()).orElse(failed);
    boolean unreached =
        cause instanceof ConnectException || cause instanceof HttpConnectTimeoutException;
    String reason =
        cause instanceof IOException io && io.getMessage() != null
            ? DurableFiles.reason(io)
            : cause.getClass().getSimpleName();
    return without(unreached ? Reply.Kind.UNREACHED : Reply.Kind.CUT, reason);
  }

  private static Answered without(Reply.Kind kind, String reason) {
    return new Answered(Reply.without(kind, reason), Optional.empty());
  }

  private Answered late() {
    return without(Reply.Kind.CUT, "no answer within " + timeout.toSeconds() + " s");
  }

  private Answered read(HttpResponse<InputStream> response, BodyReader reader, Duration left) {
    InputStream body = response.body();
    CompletableFuture<Boolean> watch = new CompletableFuture<>();
    // The read below ends when the stream is closed.
    CompletableFuture<Void> closing =
        watch
            .completeOnTimeout(true, Math.max(1, left.toMillis()), TimeUnit.MILLISECONDS)
            .thenRun(() -> JsonLines.close(body));
    try (body) {
      if (response.statusCode() != 200) {
        byte[] start = body.readNBytes(REFUSAL);
        String text = safe(new String(start, StandardCharsets.UTF_8));
        return answered(response, Reply.of(response.statusCode(), text));
      }
      Reply reply = reader.read(open(body));
      if (reply.kind() != Reply.Kind.CUT) {
        // A connection is used again only if its response was read to the end.
        body.transferTo(OutputStream.nullOutputStream());
      }
      return watch.isDone() && reply.kind() == Reply.Kind.CUT
          ? late()
          : answered(response, new Reply(reply.kind(), 200, reply.body(), safe(reply.reason())));
    } catch (IOException failed) {
      return watch.isDone() ? late() : broken(failed);
    } finally {
      watch.cancel(false);
      closing.cancel(false);
    }
  }

  /** A parser closes the stream that it read, and the rest of the response would be lost. */
  private static InputStream open(InputStream body) {
    return new FilterInputStream(body) {
      @Override
      public void close() {
        // Its owner closes it.
      }
    };
  }

  private static Answered answered(HttpResponse<?> response, Reply reply) {
    return new Answered(
        reply,
        response.headers().firstValue("Retry-After").flatMap(it -> retryAfter(it, Instant.now())));
  }

  /** Takes the key out of a text: some servers repeat it in their refusal. */
  private String safe(String text) {
    return key.map(secret -> text.replace(secret, "***")).orElse(text);
  }

  /** Reads {@code Retry-After}: seconds, or a date (RFC 9110, section 10.2.3). */
  static Optional<Duration> retryAfter(String header, Instant now) {
    if (header.matches("[0-9]{1,9}")) {
      return Optional.of(Duration.ofSeconds(Long.parseLong(header)));
    }
    try {
      Instant then = ZonedDateTime.parse(header, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
      return Optional.of(then.isAfter(now) ? Duration.between(now, then) : Duration.ZERO);
    } catch (DateTimeParseException other) {
      return Optional.empty();
    }
  }

  /** Returns whether {@code /health} answers 200, as vLLM's does when its model is loaded. */
  boolean ready() throws InterruptedException {
    HttpRequest request =
        HttpRequest.newBuilder(address("/health")).timeout(Duration.ofSeconds(5)).GET().build();
    try {
      return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
    } catch (IOException silent) {
      return false;
    }
  }

  String base() {
    return base;
  }
}
