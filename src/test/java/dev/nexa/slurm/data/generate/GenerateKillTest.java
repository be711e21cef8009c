package dev.nexa.slurm.data.generate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.OwnJvm;
import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.data.rows.Share;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The step in a process of its own, killed at random moments and started again. */
@Tag("full")
class GenerateKillTest {
  private static final int REQUESTS = 1500;
  private static final int CONCURRENCY = 4;

  /** {@code -Dkills=20} for more. */
  private static final int KILLS = SuiteSize.of("generate.kills", 2, 40);

  @TempDir Path folder;

  /** The process: REQUESTS OUTPUT URL; the key is on its standard input. */
  static final class Killed {
    private Killed() {}

    public static void main(String[] args) throws IOException {
      String key = new String(System.in.readAllBytes(), StandardCharsets.UTF_8);
      Path output = Path.of(args[1]);
      GenerateSettings settings =
          new GenerateSettings(
              Optional.of(args[2]),
              Optional.of("m"),
              Optional.of("K"),
              CONCURRENCY,
              Duration.ofSeconds(20),
              3,
              0,
              new Tokens(10_000_000, 10_000_000),
              Optional.empty());
      Generate.Result result =
          Generate.run(
              List.of(Path.of(args[0])),
              new Generate.Where(
                  output, Optional.of(output.resolveSibling("cache")), "run", Share.ALL, ""),
              new Generate.Server(args[2], Optional.of(key), Optional.empty(), Optional.empty()),
              settings,
              new Generate.Listener(metrics -> {}, line -> {}));
      Files.writeString(output.resolve("metrics"), Json.compact(result.metrics()));
      System.exit(result.failure().isPresent() ? 1 : 0);
    }
  }

  private Process start(Path requests, Path output, FakeTeacher teacher) throws IOException {
    Process process =
        new ProcessBuilder(
                OwnJvm.words(
                    List.of("-Xmx256m"),
                    Killed.class,
                    requests.toString(),
                    output.toString(),
                    teacher.url()))
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("log").toFile())
            .start();
    try (var in = process.getOutputStream()) {
      in.write(FakeTeacher.KEY.getBytes(StandardCharsets.UTF_8));
    }
    return process;
  }

  private static Path answers(Path output) {
    return output.resolve("answers-00000.jsonl");
  }

  @Test
  void killedAgainAndAgainItPaysOnceForEachRequestAndWritesTheSameBytes() throws Exception {
    List<String> lines = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      JsonObject body =
          new JsonObject().with("model", "m").with("prompt", "p" + i % 1450).with("max_tokens", 60);
      lines.add(
          Json.compact(
              new JsonObject()
                  .with("custom_id", "r" + i)
                  .with("method", "POST")
                  .with("url", "/v1/completions")
                  .with("body", body)));
    }
    Path requests = Files.write(folder.resolve("requests.jsonl"), lines);
    Random random = new Random(20);
    // A teacher's port is part of the keys, so both passes ask the same one.
    try (FakeTeacher teacher = new FakeTeacher().taking(2)) {
      Path calm = folder.resolve("calm/output");
      assertThat(start(requests, calm, teacher).waitFor()).isZero();
      assertThat(teacher.generated.getAndSet(0)).isEqualTo(REQUESTS);
      long onePass = teacher.output.getAndSet(0);
      Path output = folder.resolve("killed/output");
      int kills = 0;
      for (int attempt = 0; attempt < KILLS; attempt++) {
        Process process = start(requests, output, teacher);
        int made = teacher.generated.get();
        int until = made + random.nextInt(2 * REQUESTS / KILLS);
        while (process.isAlive() && teacher.generated.get() < until) {
          Thread.sleep(1);
        }
        // From time to time a polite signal: then nothing at all is lost.
        if (attempt % 5 == 4) {
          process.destroy();
        } else {
          process.destroyForcibly();
          kills++;
        }
        process.waitFor(30, TimeUnit.SECONDS);
      }
      assertThat(start(requests, output, teacher).waitFor())
          .as(Files.readString(folder.resolve("log")))
          .isZero();

      assertThat(Files.mismatch(answers(output), answers(calm))).isEqualTo(-1);
      int lost = teacher.generated.get() - REQUESTS;
      assertThat(lost).isBetween(0, kills * CONCURRENCY);
      JsonObject metrics = Json.parseObject(Files.readString(output.resolve("metrics")));
      // What the last attempt reports is all that the run paid, and no more than is known.
      assertThat(metrics.number("api_output_tokens")).isEqualTo(onePass);
      assertThat(metrics.number("api_unknown_requests")).isBetween((long) lost, kills * 4L);
      assertThat(teacher.output.get())
          .isLessThanOrEqualTo(onePass + metrics.number("api_unknown_output_tokens"));
    }
  }
}
