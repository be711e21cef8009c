package dev.nexa.slurm.command.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Main;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Servers as a person starts and ends them; a stand-in speaks vLLM's HTTP. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class ServeTest {
  @TempDir Path workspace;

  /** What a command printed, and its exit status. */
  private record Typed(int exit, String out, String err) {
    JsonObject json() {
      return Json.parseObject(out);
    }
  }

  /** Whatever failed: no server may outlive its test. */
  @AfterEach
  void leaveNothingRunning() throws IOException {
    for (Path run : runs()) {
      context("cancel", run.getFileName().toString());
    }
  }

  @Test
  void aServerOnThisMachineIsListedWhileItStandsAndLeavesNothing() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "the stand-in is Python");
    config("");
    standsAndLeavesNothing("--local");
  }

  @Test
  @Tag("slurm")
  void aServerOnSlurmIsListedWhileItStandsAndLeavesNothing() throws Exception {
    config("");
    standsAndLeavesNothing("--cluster", "test");
  }

  private void standsAndLeavesNothing(String... where) throws Exception {
    Typed typed = serve(where);
    assertThat(typed.exit()).as(typed.err()).isZero();
    JsonObject server = typed.json();
    String run = server.text("run_id");
    assertThat(typed.err()).contains("/health answers 503");
    assertThat(server.flag("ready")).isTrue();
    assertThat(server.text("cost_per_hour")).matches("\\d+\\.\\d\\d");
    assertThat(server.text("tunnel"))
        .matches("ssh -N -L (\\d+):" + "\\S+:\\1 \\S+@\\S+")
        .contains("-L " + server.number("port") + ":");
    keyIsOnlyInItsFile(Path.of(server.text("api_key_file")), typed.out() + typed.err());

    String key = DurableFiles.read(Path.of(server.text("api_key_file"))).strip();
    assertThat(models(server.text("endpoint"), key)).contains("\"science\"", "\"tuned\"");

    List<String> list = new ArrayList<>(List.of("serve", "list", "--json"));
    if (where.length == 2) {
      list.addAll(List.of(where));
    }
    JsonObject row = context(list.toArray(String[]::new)).json().objects("servers").get(0);
    assertThat(row.text("run_id")).isEqualTo(run);
    assertThat(row.flag("healthy")).isTrue();
    assertThat(row.text("answer")).isEqualTo("ready");

    Typed stopped = context("serve", "stop", "latest", "--json");
    assertThat(stopped.exit()).as(stopped.err()).isZero();
    assertThat(stopped.json().text("state")).isEqualTo("cancelled");
    assertThat(shared().resolve("active_jobs")).isEmptyDirectory();
    assertThat(context("serve", "stop", run).out()).contains(run + ": cancelled, cost ");
  }

  /** A pipeline that ends with a server: it is done when the server takes requests. */
  @Test
  void aPipelineThatEndsWithAServerIsWaitedForAndCompletesWhenTheServerIsStopped()
      throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/python3")), "the stand-in is Python");
    config("");
    Files.writeString(
        workspace.resolve("train.yaml"),
        "stage: train\nbackend: shell\nrun: \"true\"\nresources: {memory: 50M, time: 1m}\n");
    Path file =
        Files.writeString(
            workspace.resolve("p.yaml"),
            "stages: {train: {config: train.yaml}, serve: {config: serve.yaml, after: [train]}}\n");

    Typed waited = context("pipeline", "run", file.toString(), "--local", "--wait");

    assertThat(waited.exit()).as(waited.err()).isZero();
    assertThat(waited.out()).contains("running, cost ");
    String run = runs().get(0).getFileName().toString();
    assertThat(waited.err())
        .containsPattern("serve: ready at http://\\S+;")
        .contains("`nexa-slurm serve stop " + run + "` ends it");

    assertThat(context("serve", "stop", run).exit()).isZero();
    assertThat(context("pipeline", "status").out())
        .contains(": completed, cost ")
        .containsPattern("serve +" + run + " +cancelled");
    assertThat(context("pipeline", "resume").out())
        .contains("serve: it was stopped", "nothing is left to run again");
  }

  /** Nor in what a person sees, nor in anything else that the run keeps. */
  private static void keyIsOnlyInItsFile(Path file, String printed) throws IOException {
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-------");
    String key = DurableFiles.read(file).strip();
    assertThat(key).hasSize(43); // 32 bytes
    assertThat(printed).doesNotContain(key);
    try (Stream<Path> kept = Files.walk(file.getParent().getParent())) {
      for (Path other : kept.filter(Files::isRegularFile).toList()) {
        if (!other.equals(file)) {
          assertThat(DurableFiles.read(other)).as("%s", other).doesNotContain(key);
        }
      }
    }
  }

  @Test
  @Tag("slurm")
  void aServerThatIsNeverReadyIsEndedAndItsLastLinesAreShown() throws Exception {
    config("ready_within: 1m\n", "STANDIN_READY_AFTER: 1000");

    Typed typed = serve("--cluster", "test");

    assertThat(typed.exit()).as(typed.err()).isEqualTo(5);
    assertThat(typed.json().flag("ready")).isFalse();
    assertThat(typed.json().text("state")).isEqualTo("cancelled");
    assertThat(typed.json().texts("log")).hasSize(20).endsWith("loading shard 30 of 30");
    assertThat(typed.err())
        .contains("loading shard 30 of 30")
        .contains("was not ready 1 minute after its start")
        .contains("it costs money, so it is ended now");
    assertThat(shared().resolve("active_jobs")).isEmptyDirectory();
  }

  @Test
  @Tag("slurm")
  void aServerThatDiesIsNotWaitedFor() throws Exception {
    config("", "STANDIN_DIES: 1");

    Typed typed = serve("--cluster", "test");

    assertThat(typed.exit()).as(typed.err()).isEqualTo(5);
    assertThat(typed.err())
        .contains("CUDA error: the stand-in dies once")
        .contains("ended (failed) before it was ready");
    assertThat(shared().resolve("active_jobs")).isEmptyDirectory();
  }

  @Test
  @Tag("slurm")
  void aServerThatDiesOnceIsStartedAgain() throws Exception {
    config("requeues: 1\n", "STANDIN_DIES: 1");

    StringWriter said = new StringWriter();
    CompletableFuture<Typed> served =
        CompletableFuture.supplyAsync(() -> typed(said, serving("--cluster", "test")));
    for (int i = 0; i < 600 && !firstAttemptEnded(); i++) {
      Thread.sleep(100);
    }
    for (int i = 0; i < 100 && !said.toString().contains(": queued: "); i++) {
      Thread.sleep(1000);
    }
    // Slurm lets a requeued job wait for 120 s, until its old credential has expired; within the
    // second in which it was revoked it would refuse the job (seen).
    Thread.sleep(3000);
    for (int i = 0; i < 120 && !served.isDone(); i++) {
      Thread.sleep(1000);
      for (Path run : runs()) {
        hurry(run);
      }
    }
    Typed typed = served.get();

    assertThat(typed.exit()).as(typed.err()).isZero();
    assertThat(typed.err()).contains(": queued: ");
    JsonObject server = typed.json();
    String logs = context("logs", server.text("run_id")).out();
    assertThat(logs).contains("queued again: the server ended with exit code 7");
    assertThat(context("serve", "stop", "latest").exit()).isZero();
    JsonObject manifest =
        Json.parseObject(DurableFiles.read(Path.of(server.object("files").text("manifest"))));
    assertThat(manifest.number("attempts")).isEqualTo(2);
    assertThat(shared().resolve("active_jobs")).isEmptyDirectory();
  }

  @Test
  @Tag("slurm")
  void aServerOverFourNodesAnswersOnTheFirst() throws Exception {
    Path seen = Files.createDirectories(workspace.resolve("seen"));
    config("", "STANDIN_SEEN: " + seen);

    Typed typed =
        serve(
            "--cluster",
            "test",
            "--set",
            "resources.nodes=4",
            "--set",
            "resources.gpus_per_node=2",
            "--set",
            "resources.gpu_type=h100");

    assertThat(typed.exit()).as(typed.err()).isZero();
    assertThat(context("serve", "stop", "latest").exit()).isZero();
    for (int node = 0; node < 4; node++) {
      List<String> lines = Files.readAllLines(seen.resolve("" + node));
      String[] ports = lines.get(1).split(" ", -1);
      assertThat(ports[0]).isEqualTo("" + typed.json().number("port")).isNotEqualTo(ports[1]);
      assertThat(lines.get(0))
          .contains("--tensor-parallel-size 2 --pipeline-parallel-size 4 --nnodes 4")
          .contains("--node-rank " + node + " --master-addr " + typed.json().text("node") + " ")
          .contains("--master-port " + ports[1]);
      assertThat(lines.get(0).endsWith(" --headless")).isEqualTo(node > 0);
    }
  }

  @Test
  @Tag("slurm")
  void whatWasTrainedIsEvaluatedAndServedOnTheSameNode() throws Exception {
    Path seen = Files.createDirectories(workspace.resolve("seen"));
    config("", "STANDIN_SEEN: " + seen);
    Path train =
        Files.writeString(
            workspace.resolve("train.yaml"),
            """
            stage: train
            backend: shell
            run: |
              printf '{"checkpoint": "%s/final"}' "$NEXA_CHECKPOINTS" >"$NEXA_METRICS"
            resources: {nodelist: n3, memory: 100M, time: 1m}
            """);
    Path eval =
        Files.writeString(
            workspace.resolve("eval.yaml"),
            """
            stage: eval
            backend: lm_eval
            model_name: ${checkpoint}
            options: {tasks: [hellaswag]}
            tags: [mine]
            resources: {memory: 100M, time: 1m}
            """);
    String run =
        context("submit", train.toString(), "--cluster", "test", "--wait", "--json")
            .json()
            .text("run_id");
    String checkpoint = workspace + "/durable/checkpoints/" + run + "/final";

    JsonObject evaluated =
        context("submit", eval.toString(), "--cluster", "test", "--from", run, "--json").json();
    JsonObject plan =
        Json.parseObject(DurableFiles.read(Path.of(evaluated.object("files").text("plan"))));
    assertThat(plan.text("model")).isEqualTo("${stages.from.checkpoint}");
    assertThat(plan.texts("tags")).contains("mine", "from:" + run);
    context("cancel", evaluated.text("run_id"));

    Typed served =
        serve(
            "--cluster", "test", "--from", run, "--same-node", "--set", "model_name=${checkpoint}");
    assertThat(served.exit()).as(served.err()).isZero();
    assertThat(served.json().text("node")).isEqualTo("n3");
    assertThat(context("serve", "stop", "latest").exit()).isZero();
    assertThat(Files.readString(seen.resolve("0"))).startsWith("serve " + checkpoint + " --port ");
    JsonObject manifest =
        Json.parseObject(
            DurableFiles.read(Path.of(served.json().object("files").text("manifest"))));
    assertThat(manifest.texts("tags")).contains("from:" + run);
    assertThat(context("submit", eval.toString(), "--from", evaluated.text("run_id")).err())
        .containsPattern("--from:? \\S*eval_\\S+.* it (was cancelled|has failed)");
  }

  @Test
  @Tag("slurm")
  void aServerThatWasKilledHardIsStale() throws Exception {
    config("");
    JsonObject server = serve("--cluster", "test").json();
    Path registration = shared().resolve("active_jobs").resolve(server.text("run_id") + ".json");
    String text = DurableFiles.read(registration);
    context("serve", "stop", "latest");
    Files.writeString(registration, text);

    Typed list = context("serve", "list", "--cluster", "test");
    assertThat(list.out()).contains(server.text("run_id")).endsWith("stale\n");

    assertThat(context("serve", "stop", "latest").exit()).isZero();
    assertThat(registration).doesNotExist();
  }

  private boolean firstAttemptEnded() throws IOException {
    for (Path run : runs()) {
      Path submissions = run.resolve("submissions");
      if (Files.exists(submissions)) {
        try (Stream<Path> all = Files.list(submissions)) {
          if (all.anyMatch(one -> Files.exists(one.resolve("results/0.0.json")))) {
            return true;
          }
        }
      }
    }
    return false;
  }

  private static void hurry(Path run) throws IOException {
    Path journal = run.resolve("journal.jsonl");
    if (!Files.exists(journal)) {
      return;
    }
    for (String line : DurableFiles.read(journal).lines().toList()) {
      JsonObject data = Json.parseObject(line).object("data");
      if (data.optionalDecimal("job_id").isPresent()) {
        Person.letGo("" + data.number("job_id"));
      }
    }
  }

  private List<Path> runs() throws IOException {
    Path runs = workspace.resolve("runs");
    if (!Files.exists(runs)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(runs)) {
      return all.filter(run -> run.getFileName().toString().startsWith("serve_")).toList();
    }
  }

  private static String models(String endpoint, String key) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(endpoint + "/v1/models"))
            .header("Authorization", "Bearer " + key)
            .build();
    return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  /** A server with a stand-in for vllm, and a profile whose storage is the test's own. */
  private void config(String lines, String... env) throws IOException {
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    Path vllm = bin.resolve("vllm");
    Files.copy(Path.of("src/test/resources/serve/vllm"), vllm);
    Files.setPosixFilePermissions(vllm, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path profiles = Files.createDirectories(workspace.resolve("configs/clusters"));
    Files.writeString(
        profiles.resolve("test.yaml"),
        """
        storage:
          scratch: ${workspace}/scratch
          durable: ${workspace}/durable
          shared: ${workspace}/storage/shared
        health: {all_reduce: false}
        """);
    Files.writeString(
        workspace.resolve("serve.yaml"),
        """
        stage: serve
        backend: vllm
        model_name: lab/science-7b
        lora_adapters: {tuned: "${durable}/adapters/tuned"}
        options: {served_model_name: science}
        resources: {cpus_per_task: 1, memory: 200M, time: 10m}
        env:
          PATH: "%s:/usr/bin:/bin"
        """
                .formatted(bin)
            + Stream.of(env)
                .map(line -> "  " + line.replace(": ", ": \"") + "\"\n")
                .reduce("", String::concat)
            + lines);
  }

  private Path shared() {
    return workspace.resolve("storage/shared");
  }

  private Typed serve(String... arguments) {
    return context(serving(arguments));
  }

  private String[] serving(String... arguments) {
    List<String> all =
        new ArrayList<>(List.of("serve", workspace.resolve("serve.yaml").toString(), "--json"));
    all.addAll(List.of(arguments));
    return all.toArray(String[]::new);
  }

  private Typed context(String... command) {
    return typed(new StringWriter(), command);
  }

  private Typed typed(StringWriter err, String... command) {
    StringWriter out = new StringWriter();
    Map<String, String> environment = new HashMap<>(System.getenv());
    environment.put("NEXA_WORKSPACE", workspace.toString());
    int exit =
        Main.run(command, environment, new PrintWriter(out, true), new PrintWriter(err, true));
    return new Typed(exit, out.toString(), err.toString());
  }
}
