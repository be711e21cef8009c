package dev.nexa.slurm.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.storage.s3.S3Server;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;

/** A sync stage on the real Slurm, to a real S3 server. */
@Tag("slurm")
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
@Tag("full")
class SyncOnSlurmTest {
  private static final String TO_THE_PREFIX = "from: '${durable}/checkpoints/it is'";

  @TempDir Path workspace;

  @TempDir Path server;

  private String config(String sync, String more) throws IOException {
    Path config = workspace.resolve("sync.yaml");
    Files.writeString(
        config,
        "stage: sync\nbackend: sync\nsync: {%s}\n%s\nresources: {time: 5m, memory: 600M}\n"
                .formatted(sync, more)
            + "env:\n  AWS_EC2_METADATA_DISABLED: 'true'\n  HOME: '${workspace}'\n"
            + "  AWS_CA_BUNDLE: '"
            + server.resolve("authority/authority.pem")
            + "'\n");
    return config.toString();
  }

  private String secrets() throws IOException {
    Path secrets = workspace.resolve("secrets");
    Files.writeString(
        secrets,
        "AWS_ACCESS_KEY_ID=" + S3Server.KEY + "\nAWS_SECRET_ACCESS_KEY=" + S3Server.SECRET + "\n");
    Files.setPosixFilePermissions(secrets, PosixFilePermissions.fromString("rw-------"));
    return "env_file: " + secrets;
  }

  private Person person(S3Server store) throws IOException {
    Person person = new Person(workspace);
    person.slurmProfile("health_check: false\nprice_book: mine\n");
    Files.writeString(
        workspace.resolve("configs/clusters/test.yaml"),
        "  s3_prefix: s3://%s/tier\n  s3: {endpoint: '%s', path_style: true}\n"
            .formatted(S3Server.BUCKET, store.address()),
        StandardOpenOption.APPEND);
    Files.createDirectories(workspace.resolve("configs/prices"));
    Files.writeString(
        workspace.resolve("configs/prices/mine.yaml"),
        """
        currency: USD
        as_of: 2026-01-01
        cpu_hour: {price: 0, source: test}
        memory_gib_hour: {price: 0, source: test}
        egress_gb: {price: 1000000000, source: test}
        """);
    return person;
  }

  /** The store's certificate is signed by an authority that only the config names. */
  @Test
  void aRunCopiesItsFolderToS3() throws Exception {
    Path from = Files.createDirectories(workspace.resolve("durable/checkpoints/it is"));
    Files.writeString(from.resolve("model.pt"), "weights");
    Files.writeString(Files.createDirectories(from.resolve("b")).resolve("optim.pt"), "Adam");
    try (S3Server store = S3Server.secure(server)) {
      Person person = person(store);

      JsonObject run = person.submitAndWait(config(TO_THE_PREFIX, secrets()));

      JsonObject manifest = person.manifest(run);
      assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
      Path objects = server.resolve("objects/nexacompute/tier/checkpoints/it is");
      assertThat(objects.resolve("model.pt")).hasContent("weights");
      assertThat(objects.resolve("b/optim.pt")).hasContent("Adam");
      JsonObject metrics = manifest.object("metrics");
      assertThat(metrics.number("egress_bytes")).isEqualTo(11);
      assertThat(metrics.number("files")).isEqualTo(2);
      assertThat(metrics.number("bytes")).isEqualTo(11);
      assertThat(metrics.text("address")).isEqualTo("s3://nexacompute/tier/checkpoints/it is/");
      assertThat(person.cost(run).object("breakdown").decimal("egress_gb"))
          .isEqualByComparingTo("11");
      assertThat(person.logs(run)).doesNotContain(S3Server.SECRET);

      JsonObject again =
          person.submitAndWait(
              config(TO_THE_PREFIX + ", to: 's3://nexacompute/tier/checkpoints/it is'", secrets()));

      JsonObject second = person.manifest(again).object("metrics");
      assertThat(second.number("egress_bytes")).as(person.logs(again)).isZero();
      assertThat(second.number("copied_files")).isZero();
      assertThat(second.number("files")).isEqualTo(2);
    }
  }

  @Test
  void aNodeWithoutCredentialsSaysSo() throws Exception {
    Files.writeString(
        Files.createDirectories(workspace.resolve("durable/checkpoints/it is")).resolve("m"), "w");
    try (S3Server store = S3Server.proxy(server)) {
      Person person = person(store);

      JsonObject run = person.submit(config(TO_THE_PREFIX, ""));
      JsonObject manifest = person.finish(run);

      assertThat(manifest.text("status")).isEqualTo("failed");
      assertThat(person.logs(run)).contains("there are no AWS credentials [aws-credentials]");
      assertThat(person.says("why", run.text("run_id")))
          .contains("The node has no AWS credentials, or S3 refused them.")
          .contains("env_file");
    }
  }
}
