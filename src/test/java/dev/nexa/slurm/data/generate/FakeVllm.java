package dev.nexa.slurm.data.generate;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Stands in for vLLM's server that is asked for the log-probabilities of conversations. A token is
 * a character of a message. After {@code n} tokens, token {@code 1000 n + i} has the
 * log-probability {@code -(i + 1)}. The first word of the last message says what goes wrong.
 */
final class FakeVllm implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final CountDownLatch closed = new CountDownLatch(1);
  final AtomicInteger asked = new AtomicInteger();

  FakeVllm() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
    server.setExecutor(threads);
    server.createContext("/v1/chat/completions", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1";
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      JsonObject body =
          Json.parseObject(
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
      boolean first = asked.getAndIncrement() == 0;
      List<JsonObject> messages = body.objects("messages");
      int length = messages.stream().mapToInt(message -> message.text("content").length()).sum();
      String fault = messages.get(messages.size() - 1).text("content").split(" ", 2)[0];
      byte[] whole = answer(body, length, fault).getBytes(StandardCharsets.UTF_8);
      switch (fault) {
        case "long" -> send(exchange, 400, "{\"error\": {\"message\": \"the context is full\"}}");
        case "busy" ->
            send(
                exchange,
                first ? 503 : 200,
                first ? "wait" : new String(whole, StandardCharsets.UTF_8));
        case "cut", "silent" -> {
          exchange.sendResponseHeaders(200, whole.length);
          exchange.getResponseBody().write(whole, 0, first ? whole.length / 2 : whole.length);
          exchange.getResponseBody().flush();
          if (first && fault.equals("silent")) {
            closed.await();
          }
        }
        default -> send(exchange, 200, new String(whole, StandardCharsets.UTF_8));
      }
    } catch (InterruptedException end) {
      Thread.currentThread().interrupt();
    }
  }

  private static void send(HttpExchange exchange, int status, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  private static String answer(JsonObject body, int length, String fault) {
    int top = (int) body.number("prompt_logprobs");
    List<@Nullable Object> positions = new ArrayList<>(Arrays.asList((Object) null));
    for (int i = 1; i < length; i++) {
      positions.add(position(i, fault.equals("few") && i == 2 ? top - 1 : top));
    }
    if (fault.equals("less")) {
      positions.remove(1);
    }
    List<JsonObject> next = new ArrayList<>();
    for (int i = 0; i < top; i++) {
      next.add(
          new JsonObject()
              .with("token", "token_id:" + (1000 * length + i))
              .with("logprob", -i - 1));
    }
    JsonObject logprobs =
        new JsonObject().with("content", List.of(new JsonObject().with("top_logprobs", next)));
    JsonObject answer =
        new JsonObject()
            .with("id", "chatcmpl-1")
            .with("choices", List.of(new JsonObject().with("logprobs", logprobs)));
    if (!fault.equals("openai")) {
      answer.with("prompt_logprobs", positions);
    }
    return Json.compact(
        answer.with(
            "usage", new JsonObject().with("prompt_tokens", length).with("completion_tokens", 1)));
  }

  /** The prompt's own token comes first: the least probable one, or one beyond those asked for. */
  private static JsonObject position(int after, int top) {
    JsonObject entries = new JsonObject();
    if (after % 2 == 0) {
      entry(entries, 1000 * after + top - 1, -top);
    } else {
      entry(entries, 7, -99);
    }
    for (int i = 0; i < top; i++) {
      entry(entries, 1000 * after + i, -i - 1);
    }
    return entries;
  }

  private static void entry(JsonObject entries, int token, int logprob) {
    entries.with(
        "" + token, new JsonObject().with("logprob", logprob).with("decoded_token", "\"é"));
  }

  @Override
  public void close() {
    closed.countDown();
    server.stop(0);
    threads.shutdownNow();
  }
}
