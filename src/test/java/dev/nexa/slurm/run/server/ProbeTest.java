package dev.nexa.slurm.run.server;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.records.runs.RunId;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ProbeTest {
  @TempDir Path folder;

  private HttpServer server;
  private final List<String> keys = new ArrayList<>();
  private int health = 200;
  private int models = 200;
  private String list = "{\"data\":[{\"id\":\"base\"},{\"id\":\"science\"}]}";

  @BeforeEach
  void start() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/health", exchange -> answer(exchange, health, ""));
    server.createContext("/v1/models", exchange -> answer(exchange, models, list));
    server.start();
    Files.writeString(folder.resolve("api_key"), "secret\n");
  }

  @AfterEach
  void stop() {
    server.stop(0);
  }

  private void answer(HttpExchange exchange, int status, String body) throws IOException {
    keys.addAll(exchange.getRequestHeaders().getOrDefault("Authorization", List.of()));
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  @Test
  void isReadyOnceItListsTheModelToWhoShowsTheKey() {
    assertThat(ask(true)).isEqualTo(Probe.READY);
    assertThat(keys).containsExactly("Bearer secret");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          503 | 200 | {"data": [{"id": "science"}]} | /health answers 503
          200 | 401 | {} | /v1/models answers 401
          200 | 200 | {"data": [{"id": "other"}]} | /v1/models does not list science
          200 | 200 | {"data": "science"} | /v1/models answers something else than a list of models
          200 | 200 | <html> | /v1/models answers something else than a list of models
          """)
  void isNotReady(int health, int models, String list, String answer) {
    this.health = health;
    this.models = models;
    this.list = list;

    assertThat(ask(true)).isEqualTo(answer);
  }

  /** Whoever can write to the shared folder could name any endpoint, and any key's file. */
  @Test
  void nobodyElsesServerIsShownAKey() {
    models = 401;

    assertThat(ask(false)).isEqualTo("/health answers; its key can't be read");
    assertThat(keys).isEmpty();
  }

  @Test
  void isSilentWhereNobodyListens() throws IOException {
    try (ServerSocket held = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      assertThat(ask(true, held.getLocalPort(), Duration.ofSeconds(1)))
          .startsWith("does not answer (");
    }
  }

  @Test
  void aRegistrationThatCantBeReadHidesNoOther() throws IOException {
    Path jobs = Files.createDirectories(folder.resolve("active_jobs"));
    Files.writeString(jobs.resolve("a.json"), "{");
    Files.writeString(
        jobs.resolve("b.json"),
        """
        {"run_id":"serve_20261121_185259","run_dir":"/r","scheduler":"slurm","job_id":7,"restart":0,"node":"n1",
        "port":15205,"endpoint":"http://n1:15205","model":"a\\\\b \\"c\\"","api_key_file":"/r/api_key","started":1795287180}
        """);
    Files.writeString(jobs.resolve("c.json.17.tmp"), "{");
    List<String> problems = new ArrayList<>();

    List<Registration> all = Registration.all(folder, problems);

    assertThat(all).hasSize(1);
    assertThat(all.get(0).model()).isEqualTo("a\\b \"c\"");
    assertThat(all.get(0).own()).isTrue();
    assertThat(problems).singleElement().asString().contains("a.json: ");
    assertThat(Registration.all(folder.resolve("none"), problems)).isEmpty();
  }

  private String ask(boolean own) {
    return ask(own, server.getAddress().getPort(), Duration.ofSeconds(30));
  }

  private String ask(boolean own, int port, Duration patience) {
    return new Probe(patience)
        .ask(
            new Registration(
                new RunId("serve_20261121_185259"),
                folder,
                "slurm",
                7,
                0,
                "n1",
                port,
                "http://localhost:" + port,
                "science",
                folder.resolve("api_key"),
                Instant.EPOCH,
                own));
  }
}
