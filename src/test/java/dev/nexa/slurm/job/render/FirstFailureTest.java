package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.SuiteSize;
import dev.nexa.slurm.base.json.Json;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** templates/lib/first_failure.sh on logs as torchrun, srun, PyTorch and NCCL write them. */
@Tag("long")
class FirstFailureTest {
  private static final String CONNECTION =
      "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [10.0.0.2]:268";

  /** What ranks print before they end by themselves, and the class of that. */
  private static final Map<String, String> CAUSES =
      Map.of(
          "RuntimeError: CUDA error: an illegal memory access was encountered",
          "cuda",
          "RuntimeError: CUDA error: uncorrectable ECC error encountered",
          "cuda",
          "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
          "oom",
          "RuntimeError: CUDA error: device-side assert triggered",
          "program",
          "[E ProcessGroupNCCL.cpp:475] [Rank 3] Watchdog caught collective operation timeout:"
              + " WorkNCCL(SeqNum=7, OpType=ALLREDUCE) ran for 1800312 milliseconds",
          "nccl",
          "torch.distributed.DistBackendError: NCCL error in: ../ProcessGroupNCCL.cpp:1275, unhandled system error",
          "nccl",
          "KeyError: 'labels'",
          "exit");

  @TempDir Path folder;
  private final List<String> log = new ArrayList<>();

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "137 | '' | signal | 137 | 9",
        "139 | '' | signal | 139 | 11",
        "75 | '' | exit | 75 | 0",
        "1 | KeyError: 'labels' | exit | 1 | 0",
        "1 | RuntimeError: CUDA error: unspecified launch failure | cuda | 1 | 0",
        "1 | torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB | oom | 1 | 0",
        "134 | Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7) | nccl | 134 | 6",
        "134 | double free or corruption | signal | 134 | 6",
        "137 | slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. | oom | 137 | 9",
        "1 | MemoryError | oom | 1 | 0",
        "255 | ssh failed | exit | 255 | 0",
      })
  void aCommandWithoutRanksIsKnownByItsStatusAndWhatItPrinted(
      int status, String printed, String type, int code, int signal) throws IOException {
    log.add("an earlier attempt: RuntimeError: CUDA error: invalid argument");
    long from = String.join("\n", log).length() + 1L;
    log.add(printed);

    JsonObject failure = failure(status, from);

    assertThat(failure.text("class")).isEqualTo(type);
    assertThat(failure.number("exit_code")).isEqualTo(code);
    assertThat(failure.number("signal")).isEqualTo(signal);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "srun: error: n2: task 1: Killed | 137 | n2",
        "srun: error: n3: task 2: Segmentation fault (core dumped) | 139 | n3",
        "srun: error: n2: task 1: Exited with exit code 75 | 75 | n2",
      })
  void ofSrunsTasksTheFirstCounts(String line, int code, String node) throws IOException {
    log.add("srun: error: n1: task 0: Terminated");
    log.add(line);
    log.add("srun: error: n4: task 3: Exited with exit code 9");

    JsonObject failure = failure(143, 0);

    assertThat(failure.number("exit_code")).isEqualTo(code);
    assertThat(failure.text("node")).isEqualTo(node);
  }

  /** Whichever rank of whichever node, and in whatever order the nodes tell of it. */
  @Test
  void theRankThatFailedFirstIsFoundAmongThoseThatFollowed() throws IOException {
    Random random = new Random(20251101);
    TreeSet<String> seen = new TreeSet<>();
    int trials = SuiteSize.of("failures.trials", 24, 60);
    for (int trial = 0; trial < trials; trial++) {
      Path ranks = Files.createDirectories(folder.resolve("ranks" + trial));
      int nodes = 1 + random.nextInt(4);
      int perNode = 1 + random.nextInt(4);
      int victim = random.nextInt(nodes * perNode);
      int attempt = 1 + random.nextInt(3);
      List<String> causes = new ArrayList<>(new TreeSet<>(CAUSES.keySet()));
      boolean bySignal = random.nextBoolean();
      int signal = bySignal ? List.of(9, 11, 7).get(random.nextInt(3)) : 0;
      String cause = causes.get(random.nextInt(causes.size()));
      int code = bySignal ? -signal : 1 + random.nextInt(120);
      List<String> told = new ArrayList<>();
      for (int node = 0; node < nodes; node++) {
        boolean its = victim / perNode == node;
        int failed = its ? victim % perNode : random.nextInt(perNode);
        for (int local = 0; local < perNode; local++) {
          int rank = node * perNode + local;
          boolean dies = rank == victim;
          String printed =
              header(1, rank, local, node)
                  + "KeyError: 'of an earlier attempt'\n"
                  + (attempt > 1 ? header(attempt, rank, local, node) : "")
                  + "step 1\n    if \"CUDA error\" in str(error):\n"
                  + (dies && bySignal ? "" : (dies ? cause : CONNECTION) + "\n");
          Files.writeString(ranks.resolve("rank_" + rank + ".log"), printed);
        }
        told.add(
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: %d) local_rank: %d (pid: %d) of binary: x"
                .formatted(its ? code : 1, failed, pid(node, failed)));
      }
      Collections.shuffle(told, random);
      log.clear();
      log.addAll(told);
      log.add("srun: error: n1: task 0: Exited with exit code 1");

      JsonObject failure = failure(1, 0, ranks, attempt);

      String what = trial + ": " + failure + " " + told;
      assertThat(failure.number("rank")).as(what).isEqualTo(victim);
      assertThat(failure.text("node")).as(what).isEqualTo("n" + victim / perNode);
      assertThat(failure.number("signal")).as(what).isEqualTo(signal);
      assertThat(failure.number("exit_code")).as(what).isEqualTo(bySignal ? 128 + signal : code);
      assertThat(failure.text("class")).as(what).isEqualTo(bySignal ? "signal" : CAUSES.get(cause));
      seen.add(failure.text("class"));
    }
    assertThat(seen).contains("signal", "cuda", "nccl");
  }

  @Test
  void whatARankPrintedIsWrittenAsJsonWhateverItIs() throws IOException {
    log.add("ValueError: \"a\\b\" \u0001\u001b[31m é \uD83D\uDE00\t\\");

    assertThat(failure(1, 0).text("text")).contains("ValueError: \"a\\b\" ").contains("é");
  }

  @Test
  void everyRowOfTheTableHasFourFieldsAndAPatternThatGrepTakes() throws IOException {
    for (String line : Files.readAllLines(Path.of("templates/lib/failures.tsv"))) {
      if (!line.startsWith("#")) {
        String[] fields = line.split("\t", -1);
        assertThat(fields).as(line).hasSize(4);
        assertThat(fields[0]).isIn("oom", "program", "cuda", "nccl", "peer");
        CommandResult grep = run(List.of("grep", "-E", "-e", fields[1], "/dev/null"));
        assertThat(grep.exit()).as(line + grep.err()).isEqualTo(1);
      }
    }
  }

  private static String header(int attempt, int rank, int local, int node) {
    return "nexa-slurm: attempt %d, rank %d (local %d) on n%d (pid %d)\n"
        .formatted(attempt, rank, local, node, pid(node, local));
  }

  /** Nodes may use the same numbers, for ranks of other places. */
  private static int pid(int node, int local) {
    return 4000 + 7 * local + 7 * node;
  }

  private JsonObject failure(int status, long from) throws IOException {
    return failure(status, from, folder.resolve("none"), 1);
  }

  private JsonObject failure(int status, long from, Path ranks, int attempt) throws IOException {
    Path file = Files.writeString(folder.resolve("7_0.out"), String.join("\n", log) + "\n");
    CommandResult result =
        run(
            List.of(
                "bash",
                "templates/lib/first_failure.sh",
                "" + status,
                file.toString(),
                "" + from,
                ranks.toString(),
                "" + attempt));
    assertThat(result.exit()).as(result.err()).isZero();
    List<String> lines = result.out().lines().toList();
    assertThat(lines).as(result.err()).hasSize(2);
    JsonObject failure = Json.parseObject(lines.get(1));
    assertThat(lines.get(0)).isEqualTo(failure.text("class") + " " + failure.number("exit_code"));
    return failure;
  }

  private static CommandResult run(List<String> argv) throws IOException {
    return new CommandRunner()
        .run(
            new Command(
                argv, System.getenv(), Path.of("").toAbsolutePath(), Duration.ofSeconds(30)));
  }
}
