package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** templates/lib/monitor.sh and sampler.sh beside stand-ins for the GPUs' programs. */
@Execution(ExecutionMode.CONCURRENT)
class SamplerTest {
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  @TempDir Path folder;
  private @Nullable Process job;

  @AfterEach
  void end() {
    job().destroyForcibly();
  }

  private Process job() {
    return Objects.requireNonNull(job);
  }

  @Test
  void namedFieldsOfEachGpuAreKeptAndNotSupportedIsEmpty() throws Exception {
    start("well", "nvidia-smi");
    await(lines -> count(lines, "n,") >= 2 && count(lines, "g,") >= 4);
    assertThat(finish()).isZero();

    List<String> lines = lines();
    assertThat(lines.get(0))
        .startsWith("h,1,number=0,nodes=1,interval=1,gpus=2,source=nvidia-smi,");
    assertThat(lines).contains("d,0,GPU-00000000-0000-0000-0000-000000000000,81559");
    assertThat(lines).anyMatch(line -> line.matches("g,\\d+\\.\\d\\d,0,97,,40536,612.50,61"));
    assertThat(lines).anyMatch(line -> line.matches("g,\\d+\\.\\d\\d,1,3,,600,,"));
    assertThat(lines.get(lines.size() - 1)).matches("e,\\d+\\.\\d\\d,end,0");
  }

  /** A lost GPU has no Xid in the query: it is seen by counting. */
  @Test
  void aGpuThatIsGoneIsCounted() throws Exception {
    start("lost", "nvidia-smi");
    await(lines -> count(lines, "e,") >= 1);
    finish();

    assertThat(lines()).anyMatch(line -> line.matches("e,.*,fewer,1"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"empty", "garbage", "hang", "fails", "half"})
  void whateverTheProgramDoesTheNodeIsSampledAndTheCommandKeepsItsStatus(String how)
      throws Exception {
    start(how, "nvidia-smi");
    await(lines -> count(lines, "n,") >= 3);
    assertThat(finish()).isZero();

    assertThat(lines()).allMatch(line -> line.matches("[hdgne],[ -~]*"));
    assertThat(lines().get(lines().size() - 1)).contains(",end,");
  }

  @Test
  void dcgmiGivesTheActivityOfTheMultiprocessors() throws Exception {
    program(
        "dcgmi",
        """
        if [[ $1 == discovery ]]; then
          echo '| 4      | Name: NVIDIA H100 80GB HBM3                  |'
          echo '|        | Device UUID: GPU-00000000-0000-0000-0000-000000000000 |'
        else
          echo '#Entity   SMACT'
          while :; do echo 'GPU 4     0.317'; sleep 0.5; done
        fi
        """);
    start("well", "nvidia-smi");
    await(lines -> lines.stream().anyMatch(line -> line.contains(",97,31.70,")));
    finish();

    assertThat(lines().get(0)).contains("activity=dcgmi");
  }

  @Test
  void rocmSmiIsReadByTheNamesOfItsColumns() throws Exception {
    program(
        "rocm-smi",
        """
        echo 'WARNING: AMD GPU device(s) is/are in a low-power state'
        echo 'device,Temperature (Sensor edge) (C),Average Graphics Package Power (W),GPU use (%),VRAM Total Memory (B),VRAM Total Used Memory (B)'
        echo 'card0,45.0,90.0,88,68702699520,1073741824'
        """);
    start("", "none");
    // On a slow machine the first calls may take longer than the sampler waits for them.
    await(lines -> lines.stream().anyMatch(line -> line.matches("g,.*,0,88,,1024,90.0,45.0")));
    finish();

    assertThat(lines().get(0)).contains("source=rocm-smi");
  }

  /** The batch system may kill the shell alone: what it started must see it. */
  @Test
  void itDoesNotOutliveTheShellThatStartedIt() throws Exception {
    start("well", "nvidia-smi");
    await(lines -> count(lines, "g,") >= 2);
    List<ProcessHandle> below = job().descendants().toList();
    job().destroyForcibly().waitFor();

    Instant until = Instant.now().plus(PATIENCE);
    while (below.stream().filter(SamplerTest::samples).anyMatch(ProcessHandle::isAlive)) {
      assertThat(Instant.now()).isBefore(until);
      Thread.sleep(100);
    }
    assertThat(lines()).isNotEmpty();
  }

  /** What a sampler that was killed could not copy is on scratch. */
  @Test
  void theLastSamplesOfAKilledSamplerAreCopied() throws Exception {
    start("well", "nvidia-smi");
    await(lines -> count(lines, "g,") >= 2);
    Path scratch = folder.resolve("scratch/telemetry.0.node");
    await(lines -> lines(scratch).size() > lines().size());
    int written = lines(scratch).size();
    job().descendants().filter(SamplerTest::samples).forEach(ProcessHandle::destroyForcibly);
    finish();

    assertThat(lines().size()).isGreaterThanOrEqualTo(written);
    assertThat(scratch).doesNotExist();
    // The log of the task is the person's: bash does not say there that it was killed.
    assertThat(folder.resolve("out")).isEmptyFile();
  }

  private static boolean samples(ProcessHandle process) {
    return process.info().commandLine().orElse("").contains("sampler.sh");
  }

  private void program(String name, String text) throws IOException {
    Files.createDirectories(folder.resolve("bin"));
    Path file = Files.writeString(folder.resolve("bin").resolve(name), "#!/bin/bash\n" + text);
    assertThat(file.toFile().setExecutable(true)).isTrue();
  }

  private void start(String gpu, String source) throws IOException {
    Files.createDirectories(folder.resolve("scratch"));
    Files.createDirectories(folder.resolve("run/runner"));
    for (String script : List.of("monitor.sh", "sampler.sh")) {
      Files.copy(Path.of("templates/lib", script), folder.resolve("run/runner").resolve(script));
    }
    if (source.equals("nvidia-smi")) {
      program(source, Files.readString(Path.of("src/test/resources/fake-gpu/nvidia-smi")));
    }
    ProcessBuilder shell =
        new ProcessBuilder(
            "bash",
            "-c",
            "source run/runner/monitor.sh; nexa_monitor 1 2 1; read -r; nexa_end_monitor");
    shell.environment().put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
    shell.environment().put("FAKE_GPU", gpu);
    shell.environment().put("NEXA_RUN_DIR", folder.resolve("run").toString());
    shell.environment().put("NEXA_TASK_SCRATCH", folder.resolve("scratch").toString());
    shell.environment().put("NEXA_ATTEMPT", folder.resolve("0.0").toString());
    shell.environment().put("NEXA_RESTART", "0");
    shell.environment().put("SLURMD_NODENAME", "node");
    shell.environment().keySet().removeAll(List.of("CUDA_VISIBLE_DEVICES", "SLURM_NODEID"));
    shell.redirectOutput(folder.resolve("out").toFile()).redirectErrorStream(true);
    job = shell.directory(folder.toFile()).start();
  }

  /** Ends the command and returns the shell's status. */
  private int finish() throws Exception {
    job().getOutputStream().write('\n');
    job().getOutputStream().flush();
    assertThat(job().waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    return job().exitValue();
  }

  /** Waits for lines on scratch, where each sample is written at once. */
  private void await(Predicate<List<String>> seen) throws Exception {
    Instant until = Instant.now().plus(PATIENCE);
    while (!seen.test(lines(folder.resolve("scratch/telemetry.0.node")))) {
      assertThat(Instant.now()).as("%s", lines()).isBefore(until);
      Thread.sleep(50);
    }
  }

  private List<String> lines() {
    return lines(folder.resolve("0.0.telemetry.node.csv"));
  }

  private static List<String> lines(Path file) {
    try {
      return Files.exists(file) ? Files.readAllLines(file) : List.of();
    } catch (IOException half) {
      return List.of();
    }
  }

  private static long count(List<String> lines, String begin) {
    return lines.stream().filter(line -> line.startsWith(begin)).count();
  }
}
