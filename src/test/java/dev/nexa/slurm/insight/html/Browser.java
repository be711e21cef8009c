package dev.nexa.slurm.insight.html;

import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Debian's Chromium, headless, driven over chromedriver's HTTP. It starts with an empty profile and
 * ends with {@link #close}.
 */
public final class Browser implements AutoCloseable {
  private static final Pattern PORT = Pattern.compile("successfully on port (\\d+)");
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private final Process driver;
  private final HttpClient client = HttpClient.newHttpClient();
  private final String base;
  private final String session;

  /** Starts the browser with an empty profile in a folder. */
  public Browser(Path profile) {
    try {
      driver =
          new ProcessBuilder("chromedriver", "--port=0")
              .redirectErrorStream(true)
              .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
              .start();
      base = "http://127.0.0.1:" + port();
      JsonObject chrome =
          new JsonObject()
              .with("binary", "/usr/bin/chromium")
              .with(
                  "args",
                  List.of(
                      "--headless",
                      "--no-sandbox",
                      "--disable-gpu",
                      "--disable-quic",
                      "--no-first-run",
                      "--disable-background-networking",
                      "--disable-component-update",
                      "--disable-sync",
                      "--disable-dev-shm-usage",
                      "--hide-scrollbars",
                      "--window-size=1280,1600",
                      "--user-data-dir=" + Files.createDirectories(profile)));
      JsonObject wanted =
          new JsonObject()
              .with("goog:chromeOptions", chrome)
              .with(
                  "goog:loggingPrefs",
                  new JsonObject().with("browser", "ALL").with("performance", "ALL"));
      session =
          send(
                  "POST",
                  "/session",
                  new JsonObject()
                      .with("capabilities", new JsonObject().with("alwaysMatch", wanted)))
              .object("value")
              .text("sessionId");
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  private String port() throws IOException {
    BufferedReader said = driver.inputReader(StandardCharsets.UTF_8);
    for (String line = said.readLine(); line != null; line = said.readLine()) {
      Matcher port = PORT.matcher(line);
      if (port.find()) {
        return port.group(1);
      }
    }
    throw new IOException("chromedriver ended before it named its port");
  }

  private JsonObject send(String method, String path, @Nullable JsonObject body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(base + path))
            .timeout(PATIENCE)
            .header("Content-Type", "application/json")
            .method(
                method,
                body == null
                    ? HttpRequest.BodyPublishers.noBody()
                    : HttpRequest.BodyPublishers.ofString(Json.compact(body)))
            .build();
    try {
      HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IllegalStateException(path + ": " + answer.body());
      }
      return Json.parseObject(answer.body());
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(interrupted);
    }
  }

  private JsonObject inSession(String path, JsonObject body) {
    return send("POST", "/session/" + session + path, body);
  }

  /** Opens a file, or a page of it. */
  public void open(Path file, String hash) {
    inSession("/url", new JsonObject().with("url", "about:blank"));
    inSession("/url", new JsonObject().with("url", file.toUri() + hash));
  }

  /** Runs a program in the page and returns what it returned: text, BigDecimal, Boolean or null. */
  public @Nullable Object run(String program, Object... arguments) {
    return inSession(
            "/execute/sync",
            new JsonObject().with("script", program).with("args", List.of(arguments)))
        .members()
        .get("value");
  }

  /** Sets the width of the page, on a screen or on paper. */
  public void width(int pixels, String medium) {
    devTools(
        "Emulation.setDeviceMetricsOverride",
        new JsonObject()
            .with("width", pixels)
            .with("height", 900)
            .with("deviceScaleFactor", 1)
            .with("mobile", false));
    devTools("Emulation.setEmulatedMedia", new JsonObject().with("media", medium));
  }

  private void devTools(String command, JsonObject parameters) {
    inSession(
        "/goog/cdp/execute", new JsonObject().with("cmd", command).with("params", parameters));
  }

  /** Keeps a picture of the whole window. */
  public void picture(Path file) throws IOException {
    String picture = send("GET", "/session/" + session + "/screenshot", null).text("value");
    Files.createDirectories(file.toAbsolutePath().resolveSibling(""));
    Files.write(file, Base64.getMimeDecoder().decode(picture));
  }

  /** Runs a program that returns a text. */
  public String text(String program, Object... arguments) {
    return String.valueOf(run(program, arguments));
  }

  /** Returns the lines of the console since the last call. */
  public List<String> console() {
    List<String> lines = new ArrayList<>();
    for (JsonObject line : log("browser")) {
      lines.add(line.text("level") + " " + line.text("message"));
    }
    return lines;
  }

  /** Returns the addresses that a document asked for since the last call, with its own. */
  List<String> requests(String document) {
    List<String> asked = new ArrayList<>();
    for (JsonObject line : log("performance")) {
      JsonObject message = Json.parseObject(line.text("message")).object("message");
      if (message.text("method").equals("Network.requestWillBeSent")) {
        JsonObject request = message.object("params");
        // The browser's first page, of a new tab, asks for files of the browser.
        if (request.text("documentURL").startsWith(document)) {
          asked.add(request.object("request").text("url"));
        }
      }
    }
    return asked;
  }

  private List<JsonObject> log(String type) {
    return inSession("/se/log", new JsonObject().with("type", type)).objects("value");
  }

  @Override
  public void close() {
    try {
      send("DELETE", "/session/" + session, null);
    } finally {
      driver.destroy();
    }
  }
}
