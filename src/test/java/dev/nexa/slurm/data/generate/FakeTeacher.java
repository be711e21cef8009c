package dev.nexa.slurm.data.generate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands in for a server with OpenAI's HTTP interface. Its answer to a prompt is always the same.
 * Counts the answers that it made and their tokens, whether they arrive or not.
 */
public final class FakeTeacher implements AutoCloseable {
  /** What goes wrong with a try. */
  public enum Fault {
    NONE,
    BUSY,
    BROKEN,
    CUT_BEFORE,
    CUT_WITHIN,
    NO_JSON,
    ERROR_IN_200,
    NO_USAGE,
    BAD_REQUEST,
    UNAUTHORIZED,
    NO_MODEL,
    NO_MONEY,
    ELSEWHERE,
    SILENT
  }

  /** Decides what goes wrong. */
  @FunctionalInterface
  public interface Faults {
    /**
     * Returns the fault of a try.
     *
     * @param tries counts the tries of this prompt, from 1
     */
    Fault of(String prompt, int tries);
  }

  public static final String KEY = "sk-test-0123456789abcdef";

  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final Map<String, AtomicInteger> tries = new ConcurrentHashMap<>();
  private volatile Faults faults = (prompt, number) -> Fault.NONE;
  private volatile int delayMillis;
  public final AtomicInteger asked = new AtomicInteger();
  public final AtomicInteger generated = new AtomicInteger();
  public final AtomicLong input = new AtomicLong();
  public final AtomicLong output = new AtomicLong();
  private final AtomicInteger now = new AtomicInteger();
  public final AtomicInteger mostAtOnce = new AtomicInteger();

  public FakeTeacher() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  public FakeTeacher with(Faults wanted) {
    faults = wanted;
    return this;
  }

  public FakeTeacher taking(int millis) {
    delayMillis = millis;
    return this;
  }

  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
  }

  private void answer(HttpExchange exchange) throws IOException {
    asked.incrementAndGet();
    mostAtOnce.accumulateAndGet(now.incrementAndGet(), Math::max);
    try (exchange) {
      String text = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      if (exchange.getRequestURI().getPath().equals("/health")) {
        now.decrementAndGet();
        send(exchange, 200, "");
        return;
      }
      JsonObject body = Json.parseObject(text);
      String prompt = body.text("prompt");
      int count = tries.computeIfAbsent(prompt, key -> new AtomicInteger()).incrementAndGet();
      answer(exchange, body, prompt, faults.of(prompt, count));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void answer(HttpExchange exchange, JsonObject body, String prompt, Fault fault)
      throws IOException, InterruptedException {
    if (!("Bearer " + KEY).equals(exchange.getRequestHeaders().getFirst("Authorization"))) {
      fault = Fault.UNAUTHORIZED;
    }
    if (!exchange.getRequestURI().getPath().equals("/v1/completions")) {
      fault = Fault.NO_MODEL;
    }
    if (delayMillis > 0) {
      Thread.sleep(delayMillis);
    }
    // Before the answer: who has it may ask again before this thread goes on.
    now.decrementAndGet();
    switch (fault) {
      case BUSY -> {
        exchange.getResponseHeaders().set("Retry-After", "0");
        send(exchange, 429, error("slow down", "rate_limit_exceeded"));
      }
      case BROKEN -> send(exchange, 500, "oops");
      case CUT_BEFORE -> {
        // Closed without a response.
      }
      case BAD_REQUEST -> send(exchange, 400, error("too long", "context_length_exceeded"));
      case UNAUTHORIZED ->
          send(exchange, 401, error("Incorrect API key provided: " + KEY, "invalid_api_key"));
      case NO_MODEL -> send(exchange, 404, error("no such model", "model_not_found"));
      case NO_MONEY -> send(exchange, 429, error("no money", "insufficient_quota"));
      case ELSEWHERE -> {
        exchange.getResponseHeaders().set("Location", "http://127.0.0.1:1/v1/completions");
        send(exchange, 302, "");
      }
      case SILENT -> Thread.sleep(20_000);
      case ERROR_IN_200 -> {
        generate(body, prompt);
        send(exchange, 200, error("lost a worker", "internal"));
      }
      case NO_JSON -> {
        generate(body, prompt);
        send(exchange, 200, "{\"choices\": [");
      }
      case CUT_WITHIN -> {
        byte[] whole = generate(body, prompt).getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, whole.length);
        exchange.getResponseBody().write(whole, 0, whole.length / 2);
        exchange.getResponseBody().flush();
      }
      case NO_USAGE ->
          send(exchange, 200, generate(body, prompt).replaceFirst(",\"usage\":.*", "}"));
      case NONE -> send(exchange, 200, generate(body, prompt));
    }
  }

  /** Makes the answer; it is charged from now on. */
  private String generate(JsonObject body, String prompt) {
    String text = text(prompt);
    long in = inputTokens(prompt);
    long out = Math.min(outputTokens(prompt), body.number("max_tokens"));
    generated.incrementAndGet();
    input.addAndGet(in);
    output.addAndGet(out);
    JsonObject usage = new JsonObject().with("prompt_tokens", in).with("completion_tokens", out);
    JsonObject choice =
        new JsonObject().with("index", 0).with("text", text).with("finish_reason", "stop");
    return Json.compact(
        new JsonObject()
            .with("id", "cmpl-" + text)
            .with("model", body.text("model"))
            .with("choices", List.of(choice))
            .with("usage", usage));
  }

  public static String text(String prompt) {
    return Sha256.of("answer to " + prompt).substring(0, 20);
  }

  public static long inputTokens(String prompt) {
    return 3L + prompt.length() / 4;
  }

  public static long outputTokens(String prompt) {
    return 1L + Math.floorMod(prompt.hashCode(), 50);
  }

  private static String error(String message, String code) {
    JsonObject error =
        new JsonObject().with("message", message).with("type", "x").with("code", code);
    return Json.compact(new JsonObject().with("error", error));
  }

  private static void send(HttpExchange exchange, int status, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    try {
      exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
      exchange.getResponseBody().write(bytes);
    } catch (IOException gone) {
      // The client was killed.
      if (gone.getMessage() == null) {
        throw new UncheckedIOException(gone);
      }
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
