package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.storage.s3.FaultProxy;
import dev.nexa.slurm.storage.s3.FaultProxy.Fault;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** `sync` as a user types it, in a process of its own, because the AWS SDK reads its variables. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class SyncCommandTest {
  private static final Map<String, String> KEYS =
      Map.of("AWS_ACCESS_KEY_ID", S3Server.KEY, "AWS_SECRET_ACCESS_KEY", S3Server.SECRET);

  private Path folder;
  private Path source;
  private S3Server server;

  @BeforeAll
  void start(@TempDir Path temporary) throws IOException {
    folder = temporary;
    source = Files.createDirectories(folder.resolve("source"));
    Files.writeString(source.resolve("final.pt"), "weights");
    Files.writeString(source.resolve("half.tmp"), "weig");
    server = S3Server.proxy(folder);
  }

  @AfterAll
  void stop() {
    server.close();
  }

  private record Ended(int status, String text) {}

  private Ended sync(Map<String, String> variables, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp"));
    command.add(System.getProperty("java.class.path"));
    command.addAll(List.of("dev.nexa.slurm.command.Main", "sync"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(folder.toFile());
    Path log = Files.createTempFile(folder, "client", ".log");
    builder.redirectErrorStream(true).redirectOutput(log.toFile());
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("AWS_") || name.startsWith("NEXA_"));
    environment.put("AWS_EC2_METADATA_DISABLED", "true");
    environment.put("AWS_REGION", "us-east-1");
    environment.put("HOME", folder.toString());
    environment.putAll(variables);
    int status = builder.start().waitFor();
    return new Ended(status, Files.readString(log));
  }

  private String endpoint() {
    return server.address().toString();
  }

  @Test
  void pushesTheDurableTierToTheAddressOfTheEnvironment() throws Exception {
    Map<String, String> seeds =
        new java.util.HashMap<>(
            Map.of(
                "NEXA_DURABLE",
                source.toString(),
                "NEXA_S3_PREFIX",
                "s3://nexacompute/checkpoints"));
    seeds.putAll(KEYS);

    Ended push = sync(seeds, "push", "--endpoint", endpoint());

    assertThat(push.text()).contains("1 file copied, 7 bytes moved");
    assertThat(push.status()).isZero();
    Ended verify = sync(seeds, "verify", "--checksum", "--json", "--endpoint", endpoint());
    assertThat(verify.text()).contains("\"equal\": 1").contains("\"differing\": 0");
    Files.writeString(source.resolve("final.pt"), "WEIGHTS");
    Ended changed = sync(seeds, "verify", "--endpoint", endpoint());
    Files.writeString(source.resolve("final.pt"), "weights");
    assertThat(changed.text()).contains("final.pt: other bytes [sync-differs]");
    assertThat(changed.status()).isEqualTo(1);
  }

  @Test
  void aPushInAJobReportsItsBytesForTheRunsCost() throws Exception {
    Path metrics = folder.resolve("0.0.metrics.json");
    Map<String, String> job = new java.util.HashMap<>(KEYS);
    job.put("NEXA_METRICS", metrics.toString());
    String[] push = {"push", source.toString(), "s3://nexacompute/job", "--endpoint", endpoint()};

    assertThat(sync(job, push).status()).isZero();
    assertThat(sync(job, push).status()).isZero();

    assertThat(metrics).hasContent("{\"egress_bytes\":7}");
  }

  @Test
  void saysWhatIsMissing() throws Exception {
    Ended nowhere = sync(KEYS, "push", source.toString());
    assertThat(nowhere.text()).contains("no address in S3 is given").contains("NEXA_S3_PREFIX");
    assertThat(nowhere.status()).isEqualTo(2);

    String[] push = {"push", source.toString(), "s3://nexacompute/x", "--endpoint", endpoint()};
    Ended anonymous = sync(Map.of(), push);
    assertThat(anonymous.text()).contains("there are no AWS credentials").contains("AWS_PROFILE");
    assertThat(anonymous.status()).isEqualTo(2);

    Ended bucket =
        sync(KEYS, "push", source.toString(), "s3://no-such-bucket/x", "--endpoint", endpoint());
    assertThat(bucket.text()).contains("there is no bucket 'no-such-bucket'").contains("aws s3 mb");
    assertThat(bucket.status()).isEqualTo(2);
  }

  @Test
  void neverPrintsASecret() throws Exception {
    String secret = "wrong-canary-secret";
    Ended refused =
        sync(
            Map.of(
                "AWS_ACCESS_KEY_ID",
                S3Server.KEY,
                "AWS_SECRET_ACCESS_KEY",
                secret,
                "AWS_SESSION_TOKEN",
                "canary-token"),
            "push",
            source.toString(),
            "s3://nexacompute/x",
            "--endpoint",
            endpoint(),
            "--stacktrace");
    assertThat(refused.text())
        .contains("S3: ")
        .doesNotContain(secret)
        .doesNotContain("canary-token")
        .doesNotContain(S3Server.SECRET);
    assertThat(refused.status()).isEqualTo(2);
  }

  @Test
  void aListingThatFailsDeletesNothing() throws Exception {
    String[] push = {"push", source.toString(), "s3://nexacompute/keep", "--endpoint", endpoint()};
    assertThat(sync(KEYS, push).status()).isZero();
    Path copy = Files.createDirectories(folder.resolve("copy"));
    Files.writeString(copy.resolve("mine"), "mine");
    try (FaultProxy proxy = new FaultProxy(server.port())) {
      proxy.choose((method, target) -> Fault.SLOWDOWN_503);
      Ended pull =
          sync(
              KEYS,
              "pull",
              copy.toString(),
              "s3://nexacompute/keep",
              "--delete",
              "--max-delete",
              "100%",
              "--endpoint",
              proxy.address().toString());

      assertThat(pull.text()).contains("the listing failed").contains("SlowDown");
      assertThat(pull.status()).isEqualTo(1);
      assertThat(copy.resolve("mine")).exists();
    }
  }
}
