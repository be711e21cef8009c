package dev.nexa.slurm.run.server;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.job.config.run.Serving.SmokePrompt;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Asks a server for answers, as a user of it would: {@code /v1/chat/completions}, or {@code
 * /v1/completions} for a model without a chat template.
 */
public final class AskModel {
  private static final Duration PATIENCE = Duration.ofMinutes(2);
  private static final int SHOWN = 200;

  private final HttpClient client = Probe.client(Duration.ofSeconds(10));
  private final String endpoint;
  private final Optional<String> key;

  /**
   * Makes a client.
   *
   * @param endpoint the server's address, with or without {@code /v1}
   * @param key the API key; empty for a server without one
   */
  public AskModel(String endpoint, Optional<String> key) {
    this.endpoint = endpoint.replaceFirst("/+$", "").replaceFirst("/v1$", "");
    this.key = key;
  }

  /**
   * Asks each prompt.
   *
   * @param model the model's name in requests; empty for the first model that the server lists
   * @return why a prompt failed; empty if the server is ready and all answers match
   */
  public Optional<String> refusal(Optional<String> model, List<SmokePrompt> prompts) {
    try {
      HttpResponse<String> health = send("/health", Optional.empty());
      if (health.statusCode() != 200) {
        return Optional.of("/health answers " + health.statusCode());
      }
      HttpResponse<String> models = send("/v1/models", Optional.empty());
      if (models.statusCode() != 200) {
        return Optional.of("/v1/models answers " + models.statusCode());
      }
      List<String> listed =
          Json.parseObject(models.body()).objects("data").stream()
              .map(one -> one.text("id"))
              .toList();
      String asked = model.orElse(listed.isEmpty() ? "" : listed.get(0));
      if (!listed.contains(asked)) {
        return Optional.of(
            "/v1/models does not list "
                + model.orElse("a model")
                + (listed.isEmpty() ? "" : "; it lists " + String.join(", ", listed)));
      }
      for (SmokePrompt prompt : prompts) {
        Optional<String> refusal = refusal(asked, prompt);
        if (refusal.isPresent()) {
          return refusal;
        }
      }
      return Optional.empty();
    } catch (IOException silent) {
      return Optional.of(endpoint + " does not answer (" + DurableFiles.reason(silent) + ")");
    } catch (IllegalArgumentException notJson) {
      return Optional.of(endpoint + " answers something else than vLLM's JSON");
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while asking " + endpoint, interrupted);
    }
  }

  private Optional<String> refusal(String model, SmokePrompt prompt)
      throws IOException, InterruptedException {
    JsonObject message = new JsonObject().with("role", "user").with("content", prompt.prompt());
    JsonObject question = question(model, prompt).with("messages", List.of(message));
    HttpResponse<String> response =
        send("/v1/chat/completions", Optional.of(Json.compact(question)));
    boolean chat = response.statusCode() != 400 && response.statusCode() != 404;
    if (!chat) {
      JsonObject plain = question(model, prompt).with("prompt", prompt.prompt());
      response = send("/v1/completions", Optional.of(Json.compact(plain)));
    }
    String asked = "the prompt '" + shown(prompt.prompt()) + "'";
    if (response.statusCode() != 200) {
      return Optional.of(asked + " was answered with HTTP status " + response.statusCode());
    }
    JsonObject choice = Json.parseObject(response.body()).objects("choices").get(0);
    String answer =
        chat
            ? choice.object("message").optionalText("content").orElse("")
            : choice.optionalText("text").orElse("");
    return Pattern.compile(prompt.expect()).matcher(answer).find()
        ? Optional.empty()
        : Optional.of(
            "%s was answered with '%s', which has no match of %s"
                .formatted(asked, shown(answer), prompt.expect()));
  }

  private static JsonObject question(String model, SmokePrompt prompt) {
    return new JsonObject()
        .with("model", model)
        .with("max_tokens", prompt.maxTokens())
        .with("temperature", 0);
  }

  private static String shown(String text) {
    String line = text.replaceAll("\\p{Cntrl}+", " ");
    return line.length() > SHOWN ? line.substring(0, SHOWN) + "…" : line;
  }

  private HttpResponse<String> send(String path, Optional<String> body)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create(endpoint + path)).timeout(PATIENCE);
    key.ifPresent(secret -> request.header("Authorization", "Bearer " + secret));
    if (body.isPresent()) {
      request
          .header("Content-Type", "application/json")
          .POST(HttpRequest.BodyPublishers.ofString(body.get()));
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }
}
