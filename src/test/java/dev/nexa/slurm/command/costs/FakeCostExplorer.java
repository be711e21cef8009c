package dev.nexa.slurm.command.costs;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Speaks as much of Cost Explorer's JSON protocol as we ask for, on this machine: it answers each
 * request with the next of what was put in, and keeps the requests.
 */
final class FakeCostExplorer implements AutoCloseable {
  final List<JsonObject> requests = new ArrayList<>();
  final List<String> authorizations = new ArrayList<>();

  private final Deque<Answer> answers = new ArrayDeque<>();
  private final HttpServer server;

  private record Answer(int status, String body) {}

  FakeCostExplorer() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    server.createContext("/", this::answer);
    server.start();
  }

  String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** A page of charges; the last one where {@code next} is empty. */
  FakeCostExplorer page(String next, String... results) {
    String token = next.isEmpty() ? "" : "\"NextPageToken\":\"" + next + "\",";
    answers.add(
        new Answer(
            200,
            "{"
                + token
                + "\"GroupDefinitions\":[],\"DimensionValueAttributes\":[],\"ResultsByTime\":["
                + String.join(",", results)
                + "]}"));
    return this;
  }

  /** An error, as AWS tells it. */
  FakeCostExplorer error(int status, String code, String message) {
    answers.add(
        new Answer(
            status,
            Json.compact(
                new JsonObject()
                    .with("__type", "com.amazonaws.ce#" + code)
                    .with("message", message))));
    return this;
  }

  /** One period's groups, each {@code tag value|service|amount}. */
  static String result(String tag, String start, String end, boolean estimated, String... groups) {
    List<String> all = new ArrayList<>();
    for (String group : groups) {
      String[] parts = group.split("\\|", -1);
      all.add(
          "{\"Keys\":[\""
              + tag
              + "$"
              + parts[0]
              + "\",\""
              + parts[1]
              + "\"],\"Metrics\":{\"UnblendedCost\":{\"Amount\":\""
              + parts[2]
              + "\",\"Unit\":\"USD\"}}}");
    }
    return "{\"TimePeriod\":{\"Start\":\""
        + start
        + "\",\"End\":\""
        + end
        + "\"},\"Total\":{},\"Groups\":["
        + String.join(",", all)
        + "],\"Estimated\":"
        + estimated
        + "}";
  }

  private void answer(HttpExchange exchange) throws IOException {
    String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
    boolean ours =
        "AWSInsightsIndexService.GetCostAndUsage"
                .equals(exchange.getRequestHeaders().getFirst("X-Amz-Target"))
            && "application/x-amz-json-1.1"
                .equals(exchange.getRequestHeaders().getFirst("Content-Type"));
    Answer answer = ours ? answers.poll() : new Answer(400, "{\"__type\":\"UnknownOperation\"}");
    requests.add(Json.parseObject(body));
    authorizations.add(exchange.getRequestHeaders().getFirst("Authorization"));
    Answer told = answer == null ? new Answer(500, "{\"__type\":\"NothingLeft\"}") : answer;
    byte[] bytes = told.body().getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "application/x-amz-json-1.1");
    exchange.sendResponseHeaders(told.status(), bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
