package dev.nexa.slurm.command.jobs;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.command.Person;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.api.parallel.ResourceAccessMode;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The main jobs as a person would type them: the real programs, the real schedulers. */
@Execution(ExecutionMode.CONCURRENT)
@ResourceLock(value = "slurm", mode = ResourceAccessMode.READ)
@Order(1)
class EndToEndTest {
  @TempDir Path workspace;
  private Person person;

  private static final int FEW = 5000;

  @BeforeEach
  void begin() {
    person = new Person(workspace);
  }

  @Tag("long")
  @Test
  void quickstartRunsWithoutSlurmAndLeavesManifestAndCost() throws IOException {
    fewRecords("storage/shared");
    JsonObject run = person.submitAndWait("configs/data/quickstart.yaml", "--local");

    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).isEqualTo("completed");
    assertThat(manifest.object("tasks").object("states").number("completed")).isEqualTo(4);
    assertRowsAddUp(manifest.object("metrics"));
    assertThat(person.cost(run).decimal("total")).isNotNull();
    assertThat(person.cost(run).object("actual").objects("attempts")).hasSize(4);
  }

  private static final String SWEEP =
      """
      stage: train
      backend: shell
      sweep: {lr: [1e-5, 2e-5], seed: [1, 2, 3]}
      array: {max_parallel: 3}
      run: |
        printf '{"tried": "%s %s %s", "seed": %d}' \
          "$NEXA_TASK" "$NEXA_SWEEP_LR" "$NEXA_SWEEP_SEED" "$NEXA_SWEEP_SEED" >"$NEXA_METRICS"
      resources: {cpus_per_task: 1, memory: 100M, time: 2m}
      """;

  @Test
  void aSweepTriesEachPointOnceWithoutSlurm() throws IOException {
    Files.writeString(workspace.resolve("sweep.yaml"), SWEEP);

    assertTried(person.submitAndWait("sweep.yaml", "--local"));
  }

  @Test
  @Tag("slurm")
  void aSweepTriesEachPointOnce() throws IOException {
    person.slurmProfile("");
    Files.writeString(workspace.resolve("sweep.yaml"), SWEEP);

    JsonObject run = person.submitAndWait("sweep.yaml");

    assertTried(run);
    String task = run.objects("jobs").get(0).number("job_id") + "_4";
    assertThat(person.says("runs", "show", task))
        .contains("\n4     completed  lr=0.00002 seed=2  tried=4 0.00002 2 seed=2\n")
        .doesNotContain("seed=3");
  }

  private void assertTried(JsonObject run) throws IOException {
    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.manifest(run).objects("points"))
        .extracting(point -> point.object("metrics").text("tried"))
        .containsExactly(
            "0 0.00001 1",
            "1 0.00001 2",
            "2 0.00001 3",
            "3 0.00002 1",
            "4 0.00002 2",
            "5 0.00002 3");
    assertThat(person.manifest(run).object("metrics").members()).doesNotContainKey("seed");
  }

  /** As it is written: what it says of arguments, environment and time, on the real programs. */
  @Test
  @Tag("slurm")
  void aSweepFileOfNexaComputeRunsToItsEnd() throws IOException {
    person.slurmProfile("");
    Path fixture = Path.of("src/test/resources/nexa-compute/sweep.yaml").toAbsolutePath();
    Files.copy(fixture, workspace.resolve("sweep.yaml"));
    Files.createDirectories(workspace.resolve("scripts"));
    Files.writeString(workspace.resolve("scripts/beside.py"), "NAME = 'beside'\n");
    Files.writeString(
        workspace.resolve("scripts/train.py"),
        """
        import argparse, beside, json, os
        parser = argparse.ArgumentParser()
        for name in ["dataset", "output-dir", "epochs", "learning-rate", "batch-size"]:
            parser.add_argument("--" + name, required=True)
        parser.add_argument("--freeze-encoder", action="store_true")
        tried = vars(parser.parse_args())
        for name in ["WANDB_RUN_NAME", "WANDB_RUN_GROUP", "WANDB_MODE", "FROM_PRE_COMMAND"]:
            tried[name] = os.environ[name]
        tried["directory"] = os.getcwd()
        json.dump(tried, open(os.environ["NEXA_METRICS"], "w"))
        """);

    JsonObject run = person.submitAndWait("sweep.yaml");

    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    List<JsonObject> points = person.manifest(run).objects("points");
    assertThat(points).hasSize(8);
    assertThat(points.get(5).object("metrics").toString())
        .isEqualTo(
            "{\"dataset\":\"glue\",\"output_dir\":\"my runs/glue\",\"epochs\":\"1\","
                + "\"learning_rate\":\"0.00003\",\"batch_size\":\"8\",\"freeze_encoder\":false,"
                + "\"WANDB_RUN_NAME\":\"glue-lr_005\",\"WANDB_RUN_GROUP\":\"glue-search\","
                + "\"WANDB_MODE\":\"offline\",\"FROM_PRE_COMMAND\":\"a b\",\"directory\":\""
                + workspace.toRealPath()
                + "\"}");
    assertThat(points.get(6).object("metrics").flag("freeze_encoder")).isTrue();
    assertThat(person.cost(run).object("actual").objects("attempts")).hasSize(8);
  }

  /** With a stand-in for torchrun: each node has one, and all the same words. */
  @Tag("long")
  @Test
  @Tag("slurm")
  void aSweepFileOfNexaComputeStartsEveryNode() throws IOException {
    person.slurmProfile("");
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    Path standIn =
        Files.writeString(
            bin.resolve("torchrun"),
            "#!/bin/bash\necho \"$*\" >\"$SEEN/$NEXA_TASK.$SLURM_NODEID\"\n");
    assertThat(standIn.toFile().setExecutable(true)).isTrue();
    Path seen = Files.createDirectories(workspace.resolve("seen"));
    Files.writeString(
        workspace.resolve("sweep.yaml"),
        """
        job:
          nodes: 2
          gpus_per_node: 2
          cpus_per_task: 2
          memory: 100M
          gpu_type: h100_80gb
          time: 2
          env: {PATH: "%s:/usr/bin:/bin", SEEN: "%s"}
        sweep: {parameters: {seed: [7, 8]}}
        launcher: {type: torchrun, module: true, entrypoint: pkg.train, extra_args: ["--role r"]}
        """
            .formatted(bin, seen));

    JsonObject run = person.submitAndWait("sweep.yaml");

    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(seen.toFile().list()).containsExactlyInAnyOrder("0.0", "0.1", "1.0", "1.1");
    for (String node : List.of("1.0", "1.1")) {
      assertThat(DurableFiles.read(seen.resolve(node)))
          .startsWith("--nnodes=2 --nproc_per_node=2 ")
          .endsWith(" --role r -m pkg.train --seed 8\n");
    }
  }

  @Tag("long")
  @Test
  @Tag("slurm")
  void quickstartLeavesTheSameBytesForAnyNumberOfShards() throws Exception {
    person.slurmProfile("");
    Path raw = fewRecords("shared");
    JsonObject run = person.submitAndWait("configs/data/quickstart.yaml");
    assertThat(person.manifest(run).object("tasks").object("states").number("completed"))
        .isEqualTo(4);
    assertRowsAddUp(person.manifest(run).object("metrics"));
    Map<String, String> bytes =
        digests(workspace.resolve("durable/datasets").resolve(run.text("run_id")));
    assertThat(bytes).hasSizeGreaterThan(64);

    // The program alone: an array of 16 tasks would compile it 32 times.
    for (int shards : List.of(1, 16)) {
      assertThat(shards(raw, shards)).as("%s shards", shards).isEqualTo(bytes);
    }
  }

  /**
   * Puts the first records of the quickstart's raw file where a run takes them as they are: ./demo
   * runs it with all of them.
   */
  private Path fewRecords(String shared) throws IOException {
    Path all = workspace.resolve("all.jsonl");
    Path raw = workspace.resolve(shared).resolve("quickstart/records.jsonl");
    command("javac", "-d", classes().toString(), "configs/data/quickstart/Records.java");
    command("java", "-cp", classes().toString(), "Records", "generate", all.toString());
    Files.createDirectories(raw.getParent());
    try (Stream<String> lines = Files.lines(all, ISO_8859_1)) {
      return Files.write(raw, lines.limit(FEW).toList(), ISO_8859_1);
    }
  }

  private Path classes() {
    return workspace.resolve("classes");
  }

  /** The digests of what the quickstart's program makes of a raw file in so many shards. */
  private Map<String, String> shards(Path raw, int shards) throws IOException {
    Path output = workspace.resolve(raw.getFileName() + "_" + shards);
    for (int shard = 0; shard < shards; shard++) {
      command(
          "java",
          "-XX:TieredStopAtLevel=1",
          "-cp",
          classes().toString(),
          "Records",
          "shard",
          raw.toString(),
          output.toString(),
          "" + shard,
          "" + shards);
    }
    return digests(output);
  }

  /** Runs a program in this project's folder; it has to succeed. */
  private static void command(String... argv) throws IOException {
    Path here = Path.of("").toAbsolutePath();
    CommandResult result =
        new CommandRunner()
            .run(new Command(List.of(argv), System.getenv(), here, Duration.ofMinutes(2)));
    assertThat(result.exit()).as(result.err()).isZero();
  }

  @Test
  @Tag("slurm")
  @Tag("full")
  void scienceTrainsForRealOnTwoNodesWithTwoRanksEach() throws IOException {
    person.slurmProfile("env: {PATH: '/usr/bin:/bin'}\n"); // Debian's Python has torch

    JsonObject run = person.submitAndWait("configs/train/science.yaml");

    JsonObject manifest = person.manifest(run);
    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.logs(run)).contains("2 nodes added up a number over gloo");
    JsonObject metrics = manifest.object("metrics");
    assertThat(metrics.number("ranks")).isEqualTo(4);
    assertThat(metrics.number("parameters")).isGreaterThanOrEqualTo(1_000_000);
    assertThat(metrics.decimal("loss_drop")).isGreaterThanOrEqualTo(new BigDecimal("0.30"));
    assertThat(metrics.flag("checkpoint_loads")).isTrue();
    assertThat(Path.of(manifest.text("checkpoint"))).isRegularFile();
    assertThat(person.cost(run).object("actual").objects("attempts").get(0).text("nodes"))
        .contains("[");
  }

  @Test
  @Tag("slurm")
  void theProfileThatInitReadsOffTheClusterIsOneToWorkWith() throws IOException {
    // The profile that init writes has this machine's own folders.
    Map<String, String> tiers =
        Map.of(
            "NEXA_SCRATCH", workspace.resolve("scratch").toString(),
            "NEXA_DURABLE", workspace.resolve("durable").toString(),
            "NEXA_SHARED", workspace.resolve("shared").toString());
    Person person = new Person(workspace, tiers);
    JsonObject init = Json.parseObject(person.says("init", "--json"));

    assertThat(init.object("cluster").texts("partitions")).contains("gpu", "cpu");
    assertThat(Files.readString(workspace.resolve("configs/clusters/default.yaml")))
        .contains("gpu_type: h100");
    JsonObject estimate =
        Json.parseObject(person.says("estimate", "configs/train/science.yaml", "--json"));
    assertThat(estimate.text("partition_reason")).isEqualTo("partition gpu: the profile's default");
    assertThat(Json.parseObject(person.says("init", "--json")).objects("differences")).isEmpty();
    JsonObject run =
        person.submitAndWait(
            Files.writeString(
                    workspace.resolve("small.yaml"),
                    "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m}\n")
                .toString(),
            "--cluster",
            "default");
    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
  }

  @Test
  @Tag("slurm")
  void gpusAreAllocatedAndPaidFor() throws IOException {
    person.slurmProfile("");
    Path config =
        Files.writeString(
            workspace.resolve("gpus.yaml"),
            """
            stage: eval
            backend: shell
            run: |
              echo "sees $CUDA_VISIBLE_DEVICES"
              sleep 10
            resources: {gpus_per_node: 3, gpu_type: h100, cpus_per_task: 2, memory: 1G, time: 2m}
            """);

    JsonObject run = person.submitAndWait(config.toString());

    JsonObject attempt = person.cost(run).object("actual").objects("attempts").get(0);
    assertThat(attempt.object("gpus").number("h100")).isEqualTo(3);
    assertThat(attempt.text("gpus_from")).isEqualTo("accounting");
    BigDecimal seconds = attempt.decimal("elapsed_seconds");
    assertThat(seconds).isGreaterThanOrEqualTo(new BigDecimal(10));
    BigDecimal gpuHours = new BigDecimal(person.cost(run).object("actual").text("gpu_hours"));
    assertThat(
            gpuHours
                .subtract(
                    seconds
                        .multiply(new BigDecimal("3"))
                        .divide(new BigDecimal(3600), 6, java.math.RoundingMode.HALF_EVEN))
                .abs())
        .isLessThan(new BigDecimal("0.0001"));
    BigDecimal reserved = new BigDecimal(person.cost(run).object("estimate").text("reservation"));
    assertThat(person.cost(run).decimal("total")).isPositive().isLessThanOrEqualTo(reserved);
  }

  /** What happens before the time limit, without waiting for it: Slurm's warning by hand. */
  @Test
  @Tag("slurm")
  void aTaskThatIsOutOfTimeSavesAndGoesOnWhereItWas() throws Exception {
    person.slurmProfile("");
    Path config =
        Files.writeString(
            workspace.resolve("long.yaml"),
            """
            stage: train
            backend: shell
            requeues: 1
            warn_before_end: 30s
            run: |
              if [[ $NEXA_RESTART != 0 ]]; then cat "$NEXA_RUN_DIR/saved" && exit 0; fi
              trap 'echo step 7 >"$NEXA_RUN_DIR/saved"; exit 9' TERM
              touch "$NEXA_RUN_DIR/began"
              sleep 200 & wait
            resources: {cpus_per_task: 1, memory: 100M, time: 5m}
            """);

    JsonObject run = person.submit(config.toString());
    JsonObject manifest = warnedAndRequeued(run, Person.folder(run).resolve("began"));

    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    assertThat(person.logs(run)).contains("queued again: out of time").contains("step 7");
    assertTwoAttemptsPaid(run, manifest);
  }

  /** The same with PyTorch: four ranks on two nodes save, and go on from what they saved. */
  @Test
  @Tag("slurm")
  @Tag("full")
  void trainingThatIsOutOfTimeResumesFromItsCheckpoint() throws Exception {
    person.slurmProfile("accelerator: cpu\n");

    JsonObject run =
        person.submit(
            "configs/train/science.yaml",
            "--set",
            "requeues=1",
            "--set",
            "warn_before_end=60s",
            "--set",
            "save_steps=2",
            "--set",
            "eval_steps=5",
            "--set",
            "checkpoints.on=scratch");
    Path scratch = workspace.resolve("scratch").resolve(run.text("run_id"));
    JsonObject manifest = warnedAndRequeued(run, scratch.resolve("task_0/checkpoints/step_4.pt"));

    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    Matcher stopped =
        Pattern.compile("stopped by SIGTERM after step (\\d+), which is saved")
            .matcher(person.logs(run));
    assertThat(stopped.find()).as(person.logs(run)).isTrue();
    assertThat(person.logs(run)).contains("resumed after step " + stopped.group(1));
    // Both nodes see one scratch folder, so one of them copied.
    assertThat(person.logs(run))
        .containsOnlyOnce("step_" + stopped.group(1) + ".pt copied to")
        .contains("brought back from");
    Path durable = workspace.resolve("durable/checkpoints").resolve(run.text("run_id"));
    assertThat(manifest.text("checkpoint")).isEqualTo(durable.resolve("final.pt").toString());
    assertThat(durable.resolve("final.pt")).exists();
    assertThat(durable.resolve(".nexa-resume")).doesNotExist();
    assertThat(scratch).doesNotExist();
    assertThat(manifest.object("metrics").decimal("loss_drop"))
        .isGreaterThanOrEqualTo(new BigDecimal("0.30"));
    assertTwoAttemptsPaid(run, manifest);
    for (JsonObject attempt : person.cost(run).object("actual").objects("attempts")) {
      assertThat(attempt.decimal("elapsed_seconds")).isPositive();
    }
  }

  @Test
  @Tag("slurm")
  void aNodeThatIsNotWellIsNamedAndTheNextAttemptDoesWithoutIt() throws Exception {
    person.slurmProfile("");
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    executable(
        bin.resolve("nvidia-smi"),
        """
        #!/bin/bash
        [[ $1 != --query-remapped-rows* ]] || exit 1
        if [[ ${SLURM_RESTART_COUNT:-0} == 0 && $SLURM_NODEID == 1 ]]; then echo 570.1, 7; else echo 570.1, 0; fi
        """);
    Path config =
        Files.writeString(
            workspace.resolve("gpus.yaml"),
            """
            stage: eval
            backend: shell
            requeues: 1
            run: echo "works on $SLURM_JOB_NODELIST"
            env: {PATH: "%s:/usr/bin:/bin"}
            resources: {nodes: 2, gpus_per_node: 1, gpu_type: h100, cpus_per_task: 1, memory: 1G, time: 2m}
            """
                .formatted(bin));

    JsonObject run = person.submit(config.toString());
    JsonObject manifest = person.requeued(run);

    assertThat(manifest.text("status")).as(person.logs(run)).isEqualTo("completed");
    JsonObject unfit = manifest.objects("unfit_nodes").get(0);
    String node = unfit.text("node");
    assertThat(unfit.text("reason")).isEqualTo("a GPU has 7 uncorrected ECC errors");
    assertThat(person.logs(run))
        .contains("node " + node + " is not well: a GPU has 7 uncorrected ECC errors")
        .contains("queued again: without " + node)
        .contains("works on ");
    List<JsonObject> attempts = person.cost(run).object("actual").objects("attempts");
    assertThat(attempts).hasSize(2);
    assertThat(hosts(attempts.get(0))).contains(node);
    assertThat(hosts(attempts.get(1))).hasSize(2).doesNotContain(node);
    String note = "without node " + node + ": the check of " + run.text("run_id") + " said: a GPU";
    assertThat(person.says("estimate", "--json", "--cluster", "test", config.toString()))
        .contains(note);
    JsonObject next = person.submit(config.toString(), "--set", "run=sleep 60");
    long job = next.objects("jobs").get(0).number("job_id");
    assertThat(Person.command("squeue", "-h", "-r", "-o", "%x", "-j", "" + job).strip())
        .isEqualTo(node);
    person.says("cancel", next.text("run_id"));
  }

  private static List<String> hosts(JsonObject attempt) throws IOException {
    return Person.command("scontrol", "show", "hostnames", attempt.text("nodes")).lines().toList();
  }

  private static void executable(Path file, String text) throws IOException {
    assertThat(Files.writeString(file, text).toFile().setExecutable(true)).isTrue();
  }

  /** Slurm's warning by hand, once the file is there. */
  private JsonObject warnedAndRequeued(JsonObject run, Path ready) throws Exception {
    String job = run.objects("jobs").get(0).number("job_id") + "";
    Person.await(ready);
    Person.command("scancel", "--batch", "--signal=USR1", job);
    return person.requeued(run);
  }

  private void assertTwoAttemptsPaid(JsonObject run, JsonObject manifest) {
    assertThat(manifest.number("attempts")).isEqualTo(2);
    List<JsonObject> attempts = person.cost(run).object("actual").objects("attempts");
    assertThat(attempts).hasSize(2);
    assertThat(attempts.get(0).text("state")).isEqualTo("REQUEUED");
    assertThat(Json.parseObject(DurableFiles.read(Person.result(run, "0.0.json"))).text("signal"))
        .isEqualTo("USR1");
  }

  @Test
  void logsOfALocalArrayAreMergedAndTheFailedTasksComeFirst() throws IOException {
    logsAreMerged("--local");
  }

  @Test
  @Tag("slurm")
  void logsOfAnArrayOnSlurmAreMergedAndTheFailedTasksComeFirst() throws IOException {
    person.slurmProfile("health_check: false\n");
    logsAreMerged("--cluster", "test");
  }

  private void logsAreMerged(String... where) throws IOException {
    Path config =
        Files.writeString(
            workspace.resolve("array.yaml"),
            """
            stage: eval
            backend: shell
            run: |
              for i in {1..30}; do echo "line $i of $NEXA_TASK"; done
              sleep 2
              printf 'the end of %s' "$NEXA_TASK"
              if [[ $NEXA_TASK == 1 ]]; then exit 3; fi
            array: {shards: 3}
            resources: {cpus_per_task: 1, memory: 100M, time: 2m}
            """);
    List<String> arguments = new ArrayList<>(List.of(where));
    arguments.add(0, config.toString());

    JsonObject run = person.submit(arguments.toArray(String[]::new));
    List<String> followed = person.says("logs", "-f", run.text("run_id")).lines().toList();
    person.says("reconcile");
    List<String> read = person.says("logs", run.text("run_id")).lines().toList();

    for (int task = 0; task < 3; task++) {
      String prefix = "[" + task + "] ";
      List<String> own = followed.stream().filter(line -> line.startsWith(prefix)).toList();
      assertThat(own)
          .contains(prefix + "line 1 of " + task)
          .endsWith(prefix + "the end of " + task);
      assertThat(read.stream().filter(line -> line.startsWith(prefix))).containsAll(own);
    }
    String job = run.objects("jobs").get(0).number("job_id") + "_1.out <==";
    assertThat(followed)
        .anySatisfy(
            line ->
                assertThat(line).startsWith("==> task 1: FAILED, exit code 3, /").endsWith(job));
    assertThat(read.get(0)).startsWith("==> task 1: FAILED, exit code 3, /").endsWith(job);
    assertThat(read.subList(1, 21)).startsWith("[1] line 12 of 1").endsWith("[1] the end of 1");
    assertThat(read.subList(21, 24)).startsWith("", "==> all 3 tasks <==");
  }

  /**
   * On four nodes, with stand-ins for the launcher and for what runs containers, that write down
   * what they were given: what torchrun, axolotl or accelerate does with it is theirs.
   */
  @ParameterizedTest
  @CsvSource({
    "python, torchrun, --rdzv_endpoint=ADDR:PORT, bare",
    "hf, torchrun, --rdzv_endpoint=ADDR:PORT, bare",
    "axolotl, axolotl, --rdzv_endpoint=ADDR:PORT, bare",
    "accelerate, accelerate, --main_process_port PORT, bare",
    "python, torchrun, --rdzv_endpoint=ADDR:PORT, apptainer",
    "hf, torchrun, --rdzv_endpoint=ADDR:PORT, apptainer",
    "axolotl, axolotl, --rdzv_endpoint=ADDR:PORT, apptainer",
    "accelerate, accelerate, --main_process_port PORT, apptainer",
    "python, torchrun, --rdzv_endpoint=ADDR:PORT, pyxis",
    "hf, torchrun, --rdzv_endpoint=ADDR:PORT, pyxis",
    "axolotl, axolotl, --rdzv_endpoint=ADDR:PORT, pyxis",
    "accelerate, accelerate, --main_process_port PORT, pyxis",
  })
  @Tag("slurm")
  void eachRunnersLauncherIsStartedOnceOnEachNodeAndKnowsItsPlace(
      String backend, String launcher, String meeting, String container) throws IOException {
    person.slurmProfile("accelerator: cpu\n");
    Path bin = Files.createDirectories(workspace.resolve("bin"));
    executable(
        bin.resolve(launcher),
        """
        #!/bin/bash
        if [[ $SLURM_NODEID == 0 ]]; then
          mkdir -p "$WANDB_DIR/wandb" "$NEXA_CHECKPOINTS"
          ln -s run-20251101_143200-ab12cd34 "$WANDB_DIR/wandb/latest-run"
          echo "View run at http://mlflow:5000/#/experiments/3/runs/0123456789abcdef0123456789abcdef"
          echo "wandb: View run at https://wandb.example/acme/nexa/runs/ab12cd34"
          echo "wandb: View run at https://ada:secret@wandb.example/runs/ab12cd34"
        fi
        { echo "ADDR=$MASTER_ADDR PORT=$MASTER_PORT first=$NEXA_IS_FIRST threads=$OMP_NUM_THREADS"; echo "$*"; } \
          >"$SEEN/$SLURM_NODEID"
        """);
    executable(
        bin.resolve("apptainer"),
        """
        #!/bin/bash
        [[ "$1 $2 $3" == "exec --bind $NEXA_RUN_DIR,$NEXA_SCRATCH,$NEXA_DURABLE,$NEXA_SHARED,/data:/data" ]] || exit 71
        [[ $4 == /images/train ]] || exit 72
        touch "$SEEN/$SLURM_NODEID.contained"
        exec "${@:5}"
        """);
    // The real srun, which has no pyxis here.
    executable(
        bin.resolve("srun"),
        """
        #!/bin/bash
        for word; do
          case $word in
            --container-image=/images/train) touch "$SEEN"/{0..3}.contained ;;
            --container-mounts=*,/data:/data | --container-workdir="$NEXA_RUN_DIR") ;;
            --container*) exit 73 ;;
            *) words+=("$word") ;;
          esac
        done
        exec /usr/bin/srun "${words[@]}"
        """);
    Path seen = Files.createDirectories(workspace.resolve("seen"));
    boolean contained = !container.equals("bare");
    String software =
        "software: {container: /images/train, container_runtime: %s, mounts: [/data]}\n"
            .formatted(container);
    Path config =
        Files.writeString(
            workspace.resolve("runner.yaml"),
            """
            stage: train
            backend: %s
            model_name: some/model-7b
            dataset_path: ${durable}/data.parquet
            env: {PATH: "%s:/usr/bin:/bin", SEEN: "%s", MLFLOW_TRACKING_URI: "http://mlflow:5000"}
            resources: {nodes: 4, gpus_per_node: 2, cpus_per_task: 4, memory: 1G, time: 2m}
            """
                    .formatted(backend, bin, seen)
                + (contained ? software : "")
                + (backend.equals("python") ? "entrypoint: {module: nexa_train.launcher}\n" : ""));

    JsonObject run = person.submitAndWait(config.toString());

    assertThat(person.manifest(run).text("status")).as(person.logs(run)).isEqualTo("completed");
    for (int node = 0; node < 4; node++) {
      List<String> lines = Files.readAllLines(seen.resolve("" + node));
      Matcher place =
          Pattern.compile("ADDR=(\\S+) PORT=(\\d+) first=(\\d) threads=2").matcher(lines.get(0));
      assertThat(place.matches()).as(lines.get(0)).isTrue();
      assertThat(place.group(3)).isEqualTo(node == 0 ? "1" : "0");
      String where = meeting.replace("ADDR", place.group(1)).replace("PORT", place.group(2));
      assertThat(lines.get(1)).contains(where);
      assertThat(lines.get(1))
          .contains(launcher.equals("accelerate") ? "--machine_rank " + node : "--nnodes=4");
      assertThat(lines.get(1))
          .contains(
              backend.equals("python")
                  ? "-m nexa_train.launcher --config"
                  : "durable/checkpoints/" + run.text("run_id"));
    }
    assertThat(person.manifest(run).text("checkpoint"))
        .isEqualTo(workspace + "/durable/checkpoints/" + run.text("run_id"));
    assertThat(person.manifest(run).text("wandb_run_id")).isEqualTo("ab12cd34");
    assertThat(person.manifest(run).text("mlflow_run_id"))
        .isEqualTo("0123456789abcdef0123456789abcdef");
    assertThat(person.manifest(run).object("metrics").text("wandb_url"))
        .isEqualTo("https://wandb.example/acme/nexa/runs/ab12cd34");
    assertThat(person.manifest(run).object("metrics").text("mlflow_url"))
        .isEqualTo("http://mlflow:5000/#/experiments/3/runs/0123456789abcdef0123456789abcdef");
    assertThat(seen.toFile().list()).hasSize(contained ? 8 : 4);
  }

  private static void assertRowsAddUp(JsonObject metrics) {
    assertThat(metrics.number("rows_in")).isEqualTo(FEW);
    assertThat(metrics.number("rows_rejected")).isPositive();
    assertThat(metrics.number("rows_in"))
        .isEqualTo(metrics.number("rows_out") + metrics.number("rows_rejected"));
  }

  private static Map<String, String> digests(Path folder) throws IOException {
    Map<String, String> digests = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        digests.put(folder.relativize(file).toString(), Sha256.of(Files.readAllBytes(file)));
      }
    }
    return digests;
  }
}
