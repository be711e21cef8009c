package dev.nexa.slurm.job.config.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a sync stage's config may not say, each with its place; and what its job runs. */
class SyncStageTest {
  private static final String STAGE = "stage: sync\nbackend: sync\nresources: {time: 5m}\n";
  private static final String TIERS =
      "storage:\n  scratch: /scratch\n  durable: /durable\n  shared: /shared\n";

  @TempDir Path folder;
  private Terminal terminal;

  @BeforeEach
  void begin() {
    terminal = new Terminal(folder);
    terminal.file("configs/clusters/plain.yaml", TIERS);
    terminal.file(
        "configs/clusters/s3.yaml",
        TIERS
            + "  s3_prefix: s3://lab/tier\n"
            + "  s3: {endpoint: 'https://minio.test:9000', region: eu-central-1, path_style: true, sse: AES256}\n");
  }

  private String refused(String config, String cluster) {
    terminal.file("run.yaml", config);
    Terminal.Screen screen = terminal.type("render", "run.yaml", "--cluster", cluster);
    assertThat(screen.exit()).as(screen.out()).isEqualTo(2);
    return screen.err();
  }

  private String rendered(String config, String cluster) {
    terminal.file("run.yaml", config);
    Terminal.Screen screen = terminal.type("render", "run.yaml", "--cluster", cluster, "--files");
    assertThat(screen.exit()).as(screen.err()).isZero();
    return screen.out();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "to: 's3://lab/x' | sync.from: missing; expected a path",
        "from: checkpoints | sync.from: expected an absolute path, got 'checkpoints'; begin it with ${durable}/",
        "from: /a, to: lab/x | sync.to: expected an address such as s3://bucket/prefix, got 'lab/x'",
        "from: /a, to: 's3://' | sync.to: expected an address such as s3://bucket/prefix, got 's3://'",
        "from: /a, to: 's3://Lab/x' | sync.to: expected an address such as s3://bucket/prefix",
        "from: /a, to: 3 | sync.to: expected an address such as s3://bucket/prefix, got '3'",
        "from: /a, to: 's3://lab//x' | sync.to: the prefix of 's3://lab//x' holds '//'; write one slash",
        "from: /a, to: 's3://lab/${run}' | sync.to: unknown reference ${run}; an address may hold ${run_id}",
        "from: '${durabel}/a' | sync.from: unknown reference ${durabel}",
        "from: '${stages.train.checkpoint}' | ${stages.train.checkpoint}",
        "from: /a, threads: 100 | sync.threads: expected a whole number from 1 to 99",
        "from: /a, bandwidth: 5Mbit | sync.bandwidth: expected bytes in a second, such as 50M, got '5Mbit'",
        "from: /a, storage_class: cold | sync.storage_class: expected a storage class such as STANDARD_IA",
        "from: /a, endpoint: minio | sync.endpoint: expected a URL such as https://minio.example.org:9000",
        "from: /a, exclude: '*.pt' | sync.exclude: expected a list",
        "from: /a, form: /b | sync.form: unknown key (did you mean 'from'?)",
        "from: /a, delete: true | sync.delete: unknown key; a job deletes nothing in S3",
      })
  void aWrongKeyIsNamed(String keys, String message) {
    assertThat(refused(STAGE + "sync: {" + keys + "}\n", "s3"))
        .contains("run.yaml:4:")
        .contains(message);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "run: 'true' | run: backend sync does not read it",
        "options: {a: 1} | options: backend sync does not read it",
        "data: {prepare: {input: [/x], columns: {t: text}, text: [t]}} | data: ",
        "array: {shards: 2} | array: a sync stage is one task; sync.threads says",
        "sweep: {seed: [1, 2]} | sweep: a sync stage is one task",
      })
  void aKeyOfAnotherBackendIsNamed(String line, String message) {
    assertThat(refused(STAGE + "sync: {from: '${durable}/x'}\n" + line + "\n", "s3"))
        .contains("run.yaml:5:")
        .contains(message);
  }

  @Test
  void stageBackendAndSectionGoTogether() {
    String sync = "sync: {from: '${durable}/x'}\n";

    assertThat(refused(STAGE, "s3"))
        .contains("sync: missing; backend sync needs it: write sync: {from:");
    assertThat(refused(STAGE.replace("stage: sync", "stage: train") + sync, "s3"))
        .contains("run.yaml:1:")
        .contains("stage: backend sync needs stage: sync, got 'train'; write stage: sync");
    assertThat(refused(STAGE.replace("backend: sync", "backend: shell\nrun: x") + sync, "s3"))
        .contains("sync: needs backend: sync, got backend: shell");
    assertThat(refused(STAGE.replace("time", "gpus_per_node: 1, nodes: 2, time") + sync, "s3"))
        .contains("resources.gpus_per_node: a sync stage uses no GPU")
        .contains("resources.nodes: a sync stage works on one node");
    assertThat(rendered(sync + "resources: {time: 5m}\n", "s3")).contains(" sync push ");
  }

  @Test
  void anAddressThatNobodyKnowsIsRefused() {
    assertThat(refused(STAGE + "sync: {from: '${durable}/x'}\n", "plain"))
        .contains("run.yaml:4:")
        .contains("sync.to: missing, and the cluster profile has no storage.s3_prefix either")
        .contains("configs/clusters/plain.yaml");
    assertThat(refused(STAGE + "sync: {from: '${scratch}/x'}\n", "s3"))
        .contains("sync.to: missing; only files on the durable tier /durable have an address")
        .contains("sync.from is ${scratch}/x");
    terminal.file("configs/clusters/bad.yaml", TIERS + "  s3_prefix: lab/tier\n");
    assertThat(refused(STAGE + "sync: {from: /durable/x}\n", "bad"))
        .contains("storage.s3_prefix in configs/clusters/bad.yaml is no address such as")
        .contains("'lab/tier'");
    assertThat(rendered(STAGE + "sync: {from: /scratch/x, to: 's3://lab/x'}\n", "plain"))
        .contains("/scratch/x s3://lab/x");
  }

  @Test
  void theJobRunsOurOwnProgram() {
    String text =
        rendered(
            STAGE
                + "sync: {from: \"${durable}/it's\", to: 's3://lab/a b/${run_id}', threads: 8, bandwidth: 50M,"
                + " exclude: ['*'], include: ['*.pt', '-x'], storage_class: GLACIER_IR}\n",
            "s3");

    assertThat(text)
        .contains(
            " -cp \"$NEXA_PROGRAM\"/nexa-slurm.jar",
            " dev.nexa.slurm.command.Main sync push --settings \"$NEXA_RUN_DIR\"/runner/sync.json --threads 8"
                + " --bandwidth 50M '--exclude=*' '--include=*.pt' --include=-x"
                + " \"$NEXA_DURABLE\"'/it'\\''s' 's3://lab/a b/'\"$NEXA_RUN_ID\"")
        .contains("\"storage_class\": \"GLACIER_IR\"", "\"sse\": \"AES256\"")
        .contains("\"endpoint\": \"https://minio.test:9000\"", "\"region\": \"eu-central-1\"")
        .doesNotContain("duckdb")
        .doesNotContain("needs an x86_64 node")
        .doesNotContain("--delete");
  }

  @Test
  void anEndpointOfTheConfigReplacesTheProfiles() {
    assertThat(
            rendered(
                STAGE + "sync: {from: '${durable}', endpoint: 'http://ceph.test:7480'}\n", "s3"))
        .contains("\"endpoint\": \"http://ceph.test:7480\"", "\"path_style\": true")
        .contains("\"s3_prefix\": \"s3://lab/tier\"", "\"durable\": \"/durable\"");
  }
}
