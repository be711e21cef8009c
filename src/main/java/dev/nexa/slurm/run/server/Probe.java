package dev.nexa.slurm.run.server;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Optional;

/**
 * Checks whether a server takes requests for its model.
 *
 * <p>Asks {@code /health}, then {@code /v1/models} with the server's key. The answer must list the
 * model, because another process may have taken over the port and answer {@code /health}.
 */
public final class Probe {
  /** The answer of {@link #ask} for a server that takes requests for its model. */
  public static final String READY = "ready";

  private final Duration patience;
  private final HttpClient client;

  /**
   * Makes a probe.
   *
   * @param patience the timeout of each connection and of each request
   */
  public Probe(Duration patience) {
    this.patience = patience;
    this.client = client(patience);
  }

  /**
   * HTTP/1.1: some simple servers misread the upgrade header of HTTP/2. No proxy: the server is on
   * the cluster's own network.
   */
  static HttpClient client(Duration connectTimeout) {
    return HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1)
        .proxy(HttpClient.Builder.NO_PROXY)
        .connectTimeout(connectTimeout)
        .build();
  }

  /**
   * Asks the server and describes its answer.
   *
   * @return {@link #READY}, or a short phrase that says what failed
   * @throws IllegalStateException if the thread is interrupted
   */
  public String ask(Registration server) {
    Optional<String> key = server.key();
    try {
      int health = get(server, "/health", Optional.empty()).statusCode();
      if (health != 200) {
        return "/health answers " + health;
      }
      HttpResponse<String> models = get(server, "/v1/models", key);
      if (models.statusCode() != 200) {
        return key.isEmpty()
            ? "/health answers; its key can't be read"
            : "/v1/models answers " + models.statusCode();
      }
      return names(models.body(), server.model())
          ? READY
          : "/v1/models does not list " + server.model();
    } catch (IOException silent) {
      return "does not answer (" + DurableFiles.reason(silent) + ")";
    } catch (IllegalArgumentException noJson) {
      return "/v1/models answers something else than a list of models";
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking " + server.endpoint(), interrupted);
    }
  }

  private HttpResponse<String> get(Registration server, String path, Optional<String> key)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(server.endpoint() + path)).timeout(patience).GET();
    key.ifPresent(secret -> request.header("Authorization", "Bearer " + secret));
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static boolean names(String models, String model) {
    return Json.parseObject(models).objects("data").stream()
        .anyMatch(served -> served.text("id").equals(model));
  }
}
