package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** templates/lib/checkpoints.sh: what is copied to durable storage, when, and what comes back. */
@Tag("long")
@Execution(ExecutionMode.CONCURRENT)
class CheckpointCopiesTest {
  private static final Path SCRIPT = Path.of("templates/lib/checkpoints.sh").toAbsolutePath();

  @TempDir Path folder;

  /** A node of the job, with a scratch disk of its own unless two are given the same one. */
  private final class Node {
    final Path scratch;
    private final Map<String, String> environment = new HashMap<>(System.getenv());

    Node(String name, String disk, int restart, int nodes, int rank) {
      scratch = folder.resolve(disk).resolve("checkpoints");
      environment.put("NEXA_CHECKPOINTS", scratch.toString());
      environment.put("NEXA_FINAL", folder.resolve("durable").toString());
      environment.put("NEXA_METRICS", folder.resolve("metrics.json").toString());
      environment.put("NEXA_QUIET_SECONDS", "3600");
      environment.put("NEXA_RESTART", "" + restart);
      environment.put("SLURM_JOB_ID", "7");
      environment.put("SLURM_NNODES", "" + nodes);
      environment.put("SLURM_NODEID", "" + rank);
      environment.put("SLURMD_NODENAME", name);
    }

    Node(String name, int restart) {
      this(name, name, restart, 1, 0);
    }

    /** Where every copy fails. */
    Node full() throws IOException {
      Path bin = Files.createDirectories(folder.resolve("bin"));
      Path cp = Files.writeString(bin.resolve("cp"), "#!/bin/sh\nexit 1\n");
      assertThat(cp.toFile().setExecutable(true)).isTrue();
      environment.put("PATH", bin + ":" + environment.get("PATH"));
      return this;
    }

    Node quietFor(int seconds) {
      environment.put("NEXA_QUIET_SECONDS", "" + seconds);
      return this;
    }

    /** Runs the script and returns its status and what it printed. */
    String call(String... arguments) throws IOException, InterruptedException {
      Process process = start(arguments);
      assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
      return process.exitValue() + " " + Files.readString(log());
    }

    Process start(String... arguments) throws IOException {
      ProcessBuilder builder = new ProcessBuilder("bash", SCRIPT.toString());
      builder.command().addAll(List.of(arguments));
      builder.environment().clear();
      builder.environment().putAll(environment);
      return builder.redirectErrorStream(true).redirectOutput(log().toFile()).start();
    }

    private Path log() {
      return folder.resolve("log." + environment.get("SLURMD_NODENAME"));
    }

    Node begun() throws IOException, InterruptedException {
      assertThat(call("ready")).startsWith("0 ");
      assertThat(call("begin")).startsWith("0 ");
      return this;
    }

    /** Writes a checkpoint as Hugging Face's Trainer does: its state comes last. */
    void trainerSaves(int step, String weights) throws IOException {
      Path made = Files.createDirectories(scratch.resolve("checkpoint-" + step));
      Files.writeString(made.resolve("weights"), weights);
      Files.writeString(made.resolve("trainer_state.json"), state(step, "null"));
    }

    void ends(int status) throws IOException, InterruptedException {
      assertThat(call("stage", "" + status)).startsWith("0 ");
      assertThat(call("publish", "" + status)).startsWith("0 ");
    }
  }

  private static String state(int step, String best) {
    return "{\n  \"best_model_checkpoint\": " + best + ",\n  \"global_step\": " + step + "\n}";
  }

  @Test
  void anotherNodeGoesOnFromTheNewestCompleteCheckpoint() throws Exception {
    Node first = new Node("a", 0).begun();
    first.trainerSaves(5, "five");
    first.trainerSaves(10, "ten");
    Files.createDirectories(first.scratch.resolve("checkpoint-15"));
    Files.writeString(first.scratch.resolve("checkpoint-15/weights"), "half");
    Files.writeString(first.scratch.resolve("checkpoint-15/trainer_state.json"), "{\"global_st");
    first.ends(137);

    Node second = new Node("b", 1).begun();

    assertThat(below(second.scratch))
        .containsExactly("checkpoint-10/trainer_state.json", "checkpoint-10/weights");
  }

  @Test
  void aFinishedTaskLeavesItsFinalFilesTheBestAndTheLast() throws Exception {
    Node node = new Node("a", 0).begun();
    node.trainerSaves(5, "five");
    node.trainerSaves(10, "ten");
    node.trainerSaves(15, "fifteen");
    Files.writeString(
        node.scratch.resolve("checkpoint-15/trainer_state.json"),
        state(15, "\"" + node.scratch + "/checkpoint-5\""));
    Files.writeString(node.scratch.resolve("model.safetensors.index.json"), "{}");
    Files.writeString(folder.resolve("metrics.json"), "{\"loss\": 0.5}");

    node.ends(0);

    assertThat(below(folder.resolve("durable")))
        .containsExactly(
            "checkpoint-15/trainer_state.json",
            "checkpoint-15/weights",
            "checkpoint-5/trainer_state.json",
            "checkpoint-5/weights",
            "final/model.safetensors.index.json");
    assertThat(folder.resolve("metrics.json"))
        .hasContent("{\"checkpoint\":\"" + folder.resolve("durable/final") + "\",\"loss\": 0.5}");
  }

  @Test
  void filesThatTheCommandCallsFinalKeepTheirNames() throws Exception {
    Node node = new Node("a", 0).begun();
    node.trainerSaves(5, "five");
    Files.writeString(node.scratch.resolve("final.pt"), "weights");
    Files.writeString(node.scratch.resolve("vocabulary.txt"), "words");
    Files.writeString(
        folder.resolve("metrics.json"), "{\"checkpoint\": \"" + node.scratch + "/final.pt\"}");

    node.ends(0);

    assertThat(below(folder.resolve("durable")))
        .containsExactly(
            "checkpoint-5/trainer_state.json",
            "checkpoint-5/weights",
            "final.pt",
            "vocabulary.txt");
    assertThat(folder.resolve("metrics.json"))
        .hasContent("{\"checkpoint\": \"" + folder.resolve("durable/final.pt") + "\"}");
  }

  @Test
  void theCheckpointThatTheMetricsNameStays() throws Exception {
    Node node = new Node("a", 0).begun();
    node.trainerSaves(5, "five");
    node.trainerSaves(10, "ten");
    Files.writeString(
        folder.resolve("metrics.json"), "{\"checkpoint\": \"" + node.scratch + "/checkpoint-5\"}");

    node.ends(0);

    assertThat(folder.resolve("metrics.json"))
        .hasContent("{\"checkpoint\": \"" + folder.resolve("durable/checkpoint-5") + "\"}");
    assertThat(folder.resolve("durable/checkpoint-5/weights")).hasContent("five");
    // Without other files, the newest checkpoint is what the training made.
    assertThat(folder.resolve("durable/final/weights")).hasContent("ten");
  }

  @Test
  void hiddenFilesBelongToACheckpoint() throws Exception {
    Node node = new Node("a", 0).begun();
    Files.writeString(node.scratch.resolve("__0_0.distcp"), "shard");
    Files.writeString(node.scratch.resolve(".metadata"), "of torch");
    node.quietFor(0).ends(137);
    Node again = new Node("b", 1).begun();
    assertThat(below(again.scratch)).containsExactly(".metadata", "__0_0.distcp");

    again.ends(0);

    assertThat(below(folder.resolve("durable")))
        .containsExactly("final/.metadata", "final/__0_0.distcp");
  }

  @Test
  void aLinkCalledFinalBecomesTheCheckpointThatItPointsTo() throws Exception {
    for (boolean absolute : List.of(false, true)) {
      Node node = new Node("a", absolute ? 1 : 0).begun();
      for (int step : List.of(5, 7, 9)) {
        node.trainerSaves(step, "" + step);
      }
      Path to = node.scratch.resolve("checkpoint-5");
      Files.createSymbolicLink(node.scratch.resolve("final"), absolute ? to : to.getFileName());
      Files.createSymbolicLink(node.scratch.resolve("latest"), Path.of("checkpoint-9"));

      node.ends(0);

      Path durable = folder.resolve("durable");
      assertThat(durable.resolve("final/weights")).hasContent("5");
      assertThat(durable.resolve("final")).matches(path -> !Files.isSymbolicLink(path));
      assertThat(Files.readSymbolicLink(durable.resolve("latest")))
          .isEqualTo(Path.of("checkpoint-9"));
      assertThat(durable.resolve("latest/weights")).hasContent("9");
    }
  }

  @Test
  void aNewestCheckpointThatIsHalfIsNotReplacedByAnOlderOne() throws Exception {
    Node node = new Node("a", 0).begun();
    node.trainerSaves(5, "five");
    node.trainerSaves(9, "nine");
    Files.writeString(node.scratch.resolve("checkpoint-9/x.pt"), "PK\003\004 half");

    assertThat(node.call("stage", "0"))
        .startsWith("1 ")
        .contains("checkpoint-9 is not complete: ", "checkpoint-9/x.pt is too short");
    assertThat(folder.resolve("durable/final")).doesNotExist();
    // What is complete is kept for the next attempt.
    assertThat(node.call("publish", "1")).startsWith("0 ");
    assertThat(folder.resolve("durable/.nexa-resume/checkpoint-5/weights")).hasContent("five");
  }

  @Test
  void aHalfFileIsNotFinal() throws Exception {
    Node node = new Node("a", 0).begun();
    Files.write(node.scratch.resolve("model.safetensors"), new byte[] {40, 0, 0, 0, 0, 0, 0, 0});

    assertThat(node.call("stage", "0"))
        .startsWith("1 ")
        .contains(node.scratch + "/model.safetensors is too short");
  }

  @Test
  void whatCouldNotBeCopiedIsNotDeleted() throws Exception {
    Node first = new Node("a", 0).begun();
    first.trainerSaves(9, "nine");
    Node again = new Node("a", 1);
    assertThat(again.call("ready")).startsWith("0 ");
    assertThat(again.full().call("begin")).startsWith("1 ").contains("could not be copied");
    assertThat(again.scratch.resolve("checkpoint-9/weights")).hasContent("nine");
  }

  @Test
  void finalFilesThatStayedOnScratchAreKeptFromTheNextAttempt() throws Exception {
    Node first = new Node("a", 0).begun();
    Files.writeString(first.scratch.resolve("final.pt"), "weights");
    Files.createFile(first.scratch.resolveSibling("checkpoints.stranded"));

    new Node("a", 1).begun();

    assertThat(first.scratch.resolveSibling("checkpoints.of_earlier.7.1/final.pt"))
        .hasContent("weights");
    assertThat(first.scratch).isEmptyDirectory();
  }

  @Test
  void theNumbersOfStepsAndEpochsAreNotCompared() throws Exception {
    Node node = new Node("a", 0).begun();
    long seconds = 1_700_000_000;
    for (String name : List.of("step_1000", "epoch_1", "epoch_2")) {
      Path made = Files.createDirectories(node.scratch.resolve(name));
      Files.writeString(made.resolve("weights"), name);
      Files.createFile(made.resolve(".complete"));
      Files.setLastModifiedTime(made, FileTime.from(++seconds, TimeUnit.SECONDS));
    }

    node.ends(0);

    assertThat(folder.resolve("durable/final/weights")).hasContent("epoch_2");
    assertThat(below(folder.resolve("durable")))
        .contains("epoch_2/weights", "step_1000/weights")
        .doesNotContain("epoch_1/weights");
  }

  @Test
  void aLogBesideCheckpointsIsNoModel() throws Exception {
    Node node = new Node("a", 0).begun();
    node.trainerSaves(5, "five");
    node.trainerSaves(9, "nine");
    Files.writeString(node.scratch.resolve("train.log"), "hello");

    node.ends(0);

    assertThat(below(folder.resolve("durable")))
        .containsExactly(
            "checkpoint-9/trainer_state.json",
            "checkpoint-9/weights",
            "final/trainer_state.json",
            "final/weights",
            "train.log");
  }

  @Test
  void aTaskWithoutCheckpointsLeavesNoFolder() throws Exception {
    Node node = new Node("a", 0).begun();

    node.ends(0);

    assertThat(folder.resolve("durable")).doesNotExist();
  }

  @Test
  void filesThatAKilledCommandLeftBehindCountOnlyIfNothingSpeaksAgainstThem() throws Exception {
    Node node = new Node("a", 0).begun();
    // Nothing says that they are complete, and they are fresh.
    Files.writeString(node.scratch.resolve("step_5.pt"), "PK\003\004 but no directory at the end");
    Files.writeString(node.scratch.resolve("last.bin"), "fresh");
    node.ends(137);
    assertThat(below(folder.resolve("durable"))).isEmpty();

    Node later = new Node("a", 1).quietFor(0).begun();
    Files.writeString(later.scratch.resolve("step_5.pt"), "PK\003\004 but no directory at the end");
    Files.write(later.scratch.resolve("step_3.safetensors"), new byte[] {40, 0, 0, 0, 0, 0, 0, 0});
    Files.writeString(later.scratch.resolve("last.bin"), "quiet");
    later.ends(137);
    assertThat(below(folder.resolve("durable"))).containsExactly(".nexa-resume/last.bin");
  }

  @Test
  void safetensorsOfTheRightLengthAreComplete() throws Exception {
    Node node = new Node("a", 0).quietFor(0).begun();
    byte[] head =
        "{\"w\":{\"dtype\":\"U8\",\"shape\":[3],\"data_offsets\":[0,3]}}"
            .getBytes(java.nio.charset.StandardCharsets.UTF_8);
    byte[] whole = new byte[8 + head.length + 3];
    whole[0] = (byte) head.length;
    System.arraycopy(head, 0, whole, 8, head.length);
    Files.write(node.scratch.resolve("step_1.safetensors"), whole);
    Files.write(
        node.scratch.resolve("step_2.safetensors"),
        java.util.Arrays.copyOf(whole, whole.length - 1));

    node.ends(1);

    assertThat(below(folder.resolve("durable"))).containsExactly(".nexa-resume/step_1.safetensors");
  }

  @Test
  void aProgramOfTheUsersOwnCanSayThatAFolderIsComplete() throws Exception {
    Node node = new Node("a", 0).begun();
    for (String name : List.of("step_5", "step_10")) {
      Files.createDirectories(node.scratch.resolve(name));
      Files.writeString(node.scratch.resolve(name + "/model.txt"), "weights");
    }
    Files.createFile(node.scratch.resolve("step_5/.complete"));

    node.ends(1);

    assertThat(below(folder.resolve("durable")))
        .containsExactly(".nexa-resume/step_5/.complete", ".nexa-resume/step_5/model.txt");
  }

  @Test
  void onlyTheNewestTwoCopiesAndTheBestStayDuringTheRun() throws Exception {
    Node node = new Node("a", 0).begun();
    for (int step = 1; step <= 4; step++) {
      node.trainerSaves(step, "" + step);
      Files.writeString(
          node.scratch.resolve("checkpoint-" + step + "/trainer_state.json"),
          state(step, "\"/x/checkpoint-1\""));
      node.call("stage", "1");
      node.call("publish", "1");
      node.call("ready");
      Files.createFile(folder.resolve("durable/.nexa-resume/.parts.7.0/copier.a"));
    }

    assertThat(folder.resolve("durable/.nexa-resume"))
        .isDirectoryContaining(path -> path.endsWith("checkpoint-1"))
        .isDirectoryContaining(path -> path.endsWith("checkpoint-3"))
        .isDirectoryContaining(path -> path.endsWith("checkpoint-4"))
        .isDirectoryNotContaining(path -> path.endsWith("checkpoint-2"));
  }

  @Test
  void aNewerCheckpointThatAKilledAttemptLeftOnThisNodeIsNotLost() throws Exception {
    Node killed = new Node("a", 0).begun();
    killed.trainerSaves(5, "five");
    killed.ends(137);
    killed.trainerSaves(10, "ten");

    Node again = new Node("a", 1).begun();

    assertThat(again.scratch.resolve("checkpoint-10/weights")).hasContent("ten");
  }

  @Test
  void anOlderCheckpointOnThisNodeDoesNotReplaceTheCopies() throws Exception {
    Node killed = new Node("a", 0).begun();
    killed.trainerSaves(5, "of an attempt that came to nothing");
    Node other = new Node("b", 1).begun();
    other.trainerSaves(10, "ten");
    other.ends(137);

    Node again = new Node("a", 2).begun();

    assertThat(below(again.scratch))
        .containsExactly("checkpoint-10/trainer_state.json", "checkpoint-10/weights");
  }

  @Test
  void nodesThatShareTheirScratchCopyOnce() throws Exception {
    Node first = new Node("a", "shared", 0, 2, 0);
    Node second = new Node("b", "shared", 0, 2, 1);
    first.call("ready");
    Process other = second.start("begin");
    assertThat(first.call("begin")).startsWith("0 ");
    assertThat(other.waitFor(60, TimeUnit.SECONDS)).isTrue();
    first.trainerSaves(5, "five");

    String printed =
        first.call("stage", "1") + second.call("stage", "1") + first.call("publish", "1");

    assertThat(printed).containsOnlyOnce("checkpoint-5 copied");
    assertThat(below(folder.resolve("durable")))
        .containsExactly(
            ".nexa-resume/checkpoint-5/trainer_state.json", ".nexa-resume/checkpoint-5/weights");
  }

  @Test
  void partsOfSeveralDisksAreOneCheckpointOnceItsMarkIsThere() throws Exception {
    Node first = new Node("a", "disk-a", 0, 2, 0);
    Node second = new Node("b", "disk-b", 0, 2, 1);
    first.call("ready");
    first.call("begin");
    second.call("begin");
    Files.createDirectories(first.scratch.resolve("checkpoint-5"));
    Files.createDirectories(second.scratch.resolve("checkpoint-5"));
    Files.writeString(first.scratch.resolve("checkpoint-5/rank_0"), "0");
    Files.writeString(second.scratch.resolve("checkpoint-5/rank_1"), "1");
    first.quietFor(0).call("stage", "1");
    second.quietFor(0).call("stage", "1");
    assertThat(first.call("publish", "1")).isEqualTo("0 ");
    assertThat(below(folder.resolve("durable"))).isEmpty();

    first.call("ready");
    folder.resolve("disk-a/checkpoints.turn.7.0").toFile().delete();
    Files.createFile(folder.resolve("durable/.nexa-resume/.parts.7.0/copier.a"));
    Files.createFile(folder.resolve("durable/.nexa-resume/.parts.7.0/copier.b"));
    Files.writeString(first.scratch.resolve("checkpoint-5/.metadata"), "written last");
    first.call("stage", "1");
    second.call("stage", "1");
    first.call("publish", "1");

    assertThat(below(folder.resolve("durable")))
        .containsExactly(
            ".nexa-resume/checkpoint-5/.metadata",
            ".nexa-resume/checkpoint-5/rank_0",
            ".nexa-resume/checkpoint-5/rank_1");
  }

  @Test
  void theFinalFilesOfSeveralDisksComeTogether() throws Exception {
    Node first = new Node("a", "disk-a", 0, 2, 0);
    Node second = new Node("b", "disk-b", 0, 2, 1);
    first.call("ready");
    first.call("begin");
    second.call("begin");
    Files.createDirectories(first.scratch.resolve("final"));
    Files.createDirectories(second.scratch.resolve("final"));
    Files.writeString(first.scratch.resolve("final/shard-1"), "1");
    Files.writeString(second.scratch.resolve("final/shard-2"), "2");

    first.call("stage", "0");
    second.call("stage", "0");
    first.call("publish", "0");

    assertThat(below(folder.resolve("durable"))).containsExactly("final/shard-1", "final/shard-2");
  }

  /** Kills the copier, with all that it started, at any time: a copy that has its name is whole. */
  @Test
  void aKillNeverLeavesHalfACopy() throws Exception {
    Random random = new Random(20261123);
    int kills = SuiteSize.of("checkpoints.kills", 5, 200);
    for (int i = 1; i <= kills; i++) {
      Node node = new Node("n" + i, i).begun();
      node.trainerSaves(i, "x".repeat(200_000));
      for (int file = 0; file < 20; file++) {
        Files.writeString(
            node.scratch.resolve("checkpoint-" + i + "/part" + file), "y".repeat(9_000));
      }
      Process copying = node.start("stage", "1");
      Thread.sleep(random.nextInt(250));
      copying.descendants().forEach(ProcessHandle::destroyForcibly);
      copying.destroyForcibly().waitFor();

      Node next = new Node("m" + i, i).begun();
      try (Stream<Path> restored = Files.list(next.scratch)) {
        for (Path checkpoint : restored.toList()) {
          try (Stream<Path> parts = Files.list(checkpoint)) {
            assertThat(parts.count()).as("files of %s after kill %s", checkpoint, i).isEqualTo(22);
          }
          assertThat(checkpoint.resolve("weights")).hasSize(200_000);
        }
      }
    }
  }

  @Test
  void whatIsCopiedWhileTheCommandRunsIsThereBeforeItsEnd() throws Exception {
    Node node = new Node("a", 0).begun();
    Process watch = node.start("watch", "1");
    try {
      node.trainerSaves(5, "five");
      Path copy = folder.resolve("durable/.nexa-resume/checkpoint-5/weights");
      for (int i = 0; i < 200 && !Files.exists(copy); i++) {
        Thread.sleep(100);
      }
      assertThat(copy).hasContent("five");
      Files.createFile(folder.resolve("durable/.nexa-resume/.parts.7.0/stop"));
      assertThat(watch.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      watch.destroyForcibly();
    }
  }

  @Test
  void aDurableTierThatCannotBeWrittenIsNamed() throws Exception {
    Files.writeString(folder.resolve("durable"), "a file");

    assertThat(new Node("a", 0).call("ready"))
        .startsWith("1 ")
        .contains("durable/.nexa-resume could not be made ready");
  }

  /** Returns the files below a folder, in order. */
  private static List<String> below(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files
          .filter(Files::isRegularFile)
          .map(path -> folder.relativize(path).toString())
          .sorted()
          .toList();
    }
  }
}
