package dev.nexa.slurm.command.data;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * API tokens from the estimate to the ledger. A stand-in for the program reports the tokens that
 * the test wrote down; one test lets the program ask a server of its own. No API is asked.
 */
@Execution(ExecutionMode.CONCURRENT)
@Tag("full")
class TokensEndToEndTest {
  private static final String GENERATE =
      """
      stage: generate
      backend: data
      data:
        generate:
          requests: ['${workspace}/requests.jsonl']
          url: http://127.0.0.1:9/v1
          model: org/teacher-1
          max_input_tokens: 40000000
          max_output_tokens: 10000000
      array: {shards: 2}
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  @TempDir Path workspace;
  private Person person;

  @BeforeEach
  void begin() throws IOException {
    person = new Person(workspace);
    write("generate.yaml", GENERATE);
    write("requests.jsonl", "");
    write(
        "configs/prices/default.yaml",
        """
        currency: USD
        as_of: 2026-01-01
        api_tokens:
          org/teacher-1:
            input: {price: 0.15, source: list of 2026}
            output: {price: 0.60, source: list of 2026}
        """);
    Path java = workspace.resolve("java");
    StandIn.bash(
        java,
        """
        read -r input output status <"%s/paid.$NEXA_TASK" || exit 9
        printf '{"api_model": "org/teacher-1", "api_input_tokens": %%s, "api_output_tokens": %%s}' \\
          "$input" "$output" >"$NEXA_METRICS"
        exit "$status"
        """
            .formatted(workspace));
    write(
        "configs/clusters/local.yaml",
        """
        scheduler: local
        accelerator: cpu
        price_book: default
        health_check: false
        java: %s
        storage: {scratch: "${workspace}/s", durable: "${workspace}/d", shared: "${workspace}/sh"}
        """
            .formatted(java));
  }

  private void write(String name, String text) throws IOException {
    Path file = workspace.resolve(name);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }

  @Test
  void theEstimateNamesThemAndTheirMoney() throws IOException {
    write("p.yaml", "stages: {teach: {config: generate.yaml}}\n");

    String text = person.says("estimate", "generate.yaml", "--local");
    JsonObject json = person.json("estimate", "generate.yaml", "--local", "--json");
    String pipeline = person.says("pipeline", "estimate", "p.yaml", "--local");

    assertThat(text)
        .contains("At most 12.00 USD: 2 tasks, each ")
        .contains(
            "API tokens: at most 40000000 input, 10000000 output of org/teacher-1, 12.00 USD, for"
                + " the whole run")
        .contains("api_tokens:org/teacher-1 input");
    assertThat(json.object("api_tokens").text("cost")).isEqualTo("12.00");
    assertThat(json.object("reservation").text("total")).isEqualTo("12.00");
    assertThat(pipeline)
        .contains("At most 12.00 USD for 1 stage")
        .contains(
            "API tokens of teach: at most 40000000 input, 10000000 output of org/teacher-1, 12.00"
                + " USD.");
    assertThat(person.says("prices", "show", "--cluster", "local"))
        .containsSubsequence("api_tokens:org/teacher-1 output", "million_tokens", "0.6");
  }

  @Test
  void budgetsAndTheLimitForApprovalsSeeThem() throws IOException {
    write(
        "configs/policy.yaml",
        """
        approval_over: {amount: 11, currency: USD}
        budgets: [{scope: all, period: month, amount: 10, currency: USD}]
        """);

    assertThat(person.says("estimate", "generate.yaml", "--local"))
        .contains("Needs an approval: over 11 USD")
        .contains("needs 12.00, left 10.00");
  }

  @Test
  void aRunPaysForWhatItsTasksReportAndARerunIsNotChargedTwice() throws Exception {
    write("paid.0", "20000000 1000000 0\n");
    write("paid.1", "3000000 0 1\n");
    JsonObject run = person.submitAndWait("generate.yaml", "--local");

    // 23 x 0.15 = 3.45; 1 x 0.60
    assertThat(person.cost(run).object("breakdown").decimal("api_tokens"))
        .isEqualByComparingTo("4.05");
    assertThat(person.cost(run).decimal("total")).isEqualByComparingTo("4.05");
    assertThat(person.cost(run).text("difference")).isEqualTo("-7.95");

    // The second attempt of task 1 keeps what it paid for, and reports the sum.
    write("paid.1", "7000000 2000000 0\n");
    person.says("rerun", run.text("run_id"), "--failed", "--wait", "--json");

    JsonObject cost = person.cost(run);
    assertThat(cost.object("breakdown").decimal("api_tokens")).isEqualByComparingTo("5.85");
    assertThat(cost.number("version")).isEqualTo(2);
    assertThat(cost.text("difference")).isEqualTo("-18.15");
    assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
    assertThat(person.manifest(run).object("metrics").decimal("api_input_tokens"))
        .isEqualByComparingTo("27000000");
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
    JsonObject total = person.json("costs", "--json").objects("totals").get(0);
    assertThat(total.object("breakdown").text("api_tokens")).isEqualTo("5.85");
    assertThat(total.text("total")).isEqualTo("5.85");
    assertThat(person.says("costs", "--format", "focus"))
        .contains("1000000 Tokens")
        .contains("api_tokens of " + run.text("run_id"));
  }

  @Test
  void theProvidersUsageOfSuchARunIsNotAddedAgain() throws Exception {
    write("paid.0", "20000000 1000000 0\n");
    write("paid.1", "0 0 0\n");
    JsonObject run = person.submitAndWait("generate.yaml", "--local");
    write(
        "usage.jsonl",
        """
        {"run_id": "%s", "model": "org/teacher-1", "input_tokens": 20000000, "output_tokens": 1500000, "time": "2026-01-02T00:00:00Z"}
        """
            .formatted(run.text("run_id")));
    person.says("costs", "import", "usage", workspace.resolve("usage.jsonl").toString());

    JsonObject total = person.json("costs", "--json").objects("totals").get(0);

    // The cost file has 3.60; the provider counted 500,000 tokens more, for 0.30.
    assertThat(total.text("cost")).isEqualTo("3.60");
    assertThat(total.text("api")).isEqualTo("0.30");
    assertThat(total.text("total")).isEqualTo("3.90");
  }

  /** Each answer has 1,000,000 tokens in the prompt and 200,000 in the text, says the server. */
  @Test
  void theProgramsOwnCountIsCharged() throws Exception {
    byte[] answer =
        """
        {"id": "x", "object": "chat.completion", "model": "org/teacher-1",
         "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "4"}}],
         "usage": {"prompt_tokens": 1000000, "completion_tokens": 200000, "total_tokens": 1200000}}
        """
            .getBytes(StandardCharsets.UTF_8);
    HttpServer server =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    try {
      StringBuilder requests = new StringBuilder();
      for (int i = 0; i < 6; i++) {
        requests.append(
            """
            {"custom_id": "q%d", "method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "2+%d?"}]}}
            """
                .formatted(i, i));
      }
      write("requests.jsonl", requests.toString());
      write(
          "configs/clusters/local.yaml",
          Files.readString(workspace.resolve("configs/clusters/local.yaml"))
              .replaceAll("(?m)^java: .*\n", ""));
      String url = "data.generate.url=http://127.0.0.1:" + server.getAddress().getPort() + "/v1";

      JsonObject run =
          person.submitAndWait(
              "generate.yaml", "--local", "--set", url, "--set", "resources.memory=1G");

      // 6 x 0.15 = 0.90; 1.2 x 0.60 = 0.72
      JsonObject cost = person.cost(run);
      assertThat(cost.object("breakdown").decimal("api_tokens"))
          .as(person.logs(run))
          .isEqualByComparingTo("1.62");
      assertThat(cost.texts("not_measured")).doesNotContain("api_tokens");
      assertThat(cost.members()).doesNotContainKey("limits");
      assertThat(person.says("costs", "show", run.text("run_id")))
          .contains(
              """
              API tokens  1.62 USD
              TOKENS    COUNT  PRICE OF 10^6  COST
              input   6000000           0.15  0.90
              output  1200000           0.60  0.72
              """);
      assertThat(person.says("status", run.text("run_id"))).doesNotContain("LACKS");

      // Another run finds all answers in the cache, and pays for none.
      JsonObject again =
          person.submitAndWait(
              "generate.yaml", "--local", "--set", url, "--set", "resources.memory=1G");
      assertThat(person.cost(again).object("breakdown").decimal("api_tokens")).isZero();
      assertThat(person.cost(again).texts("not_measured")).doesNotContain("api_tokens");
    } finally {
      server.stop(0);
    }
  }

  @Test
  void listsNameTheTokensThatACostLacks() throws Exception {
    write("paid.0", "20000000 1000000 0\n");
    write("p.yaml", "stages: {teach: {config: generate.yaml}}\n");
    write(
        "shell.yaml",
        """
        stage: data
        backend: shell
        run: echo not JSON >"$NEXA_METRICS"
        resources: {cpus_per_task: 1, memory: 100M, time: 2m}
        """);

    String id =
        person.json("pipeline", "run", "p.yaml", "--local", "--wait", "--json").text("pipeline_id");

    JsonObject stage = person.json("pipeline", "status", id, "--json").objects("stages").get(0);
    assertThat(stage.text("cost_lacks")).isEqualTo("tokens of 1 task");
    assertThat(stage.text("cost")).isEqualTo("3.60");
    assertThat(person.says("pipeline", "status", id)).contains("COST LACKS", "tokens of 1 task");
    String run = stage.text("run_id");
    assertThat(person.says("status", run)).contains("3.60 USD  tokens of 1 task");
    assertThat(person.says("runs", "list")).contains("3.60 USD  tokens of 1 task");
    assertThat(person.says("runs", "show", run)).contains("cost lacks  tokens of 1 task\n");
    JsonObject row = person.json("status", run, "--json").objects("runs").get(0);
    assertThat(row.text("cost_lacks")).isEqualTo("tokens of 1 task");

    // A run without a paid API: its metrics, which are broken, are not read.
    JsonObject other = person.submitAndWait("shell.yaml", "--local");
    String all = person.until(other.text("run_id"), "status", other.text("run_id"));
    assertThat(all).doesNotContain("LACKS").doesNotContain("metrics");
  }

  @Test
  void aTaskThatDiedWithoutACountIsUnknownAndNotZero() throws Exception {
    write("paid.0", "20000000 1000000 0\n");
    JsonObject run = person.submitAndWait("generate.yaml", "--local");

    JsonObject cost = person.cost(run);
    assertThat(cost.object("breakdown").decimal("api_tokens"))
        .isEqualByComparingTo(new BigDecimal("3.60"));
    assertThat(cost.texts("not_measured")).contains("api_tokens");
    assertThat(cost.texts("limits").get(0)).startsWith("task 1: no count of API tokens");
    assertThat(person.says("audit", run.text("run_id"))).contains("0 differences");
  }
}
