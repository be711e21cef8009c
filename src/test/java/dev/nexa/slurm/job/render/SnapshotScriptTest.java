package dev.nexa.slurm.job.render;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.Sha256;
import dev.nexa.slurm.base.process.StandIn;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** templates/lib/snapshot.sh, beside a process that maps stand-ins for libraries. */
@Tag("long")
class SnapshotScriptTest {
  private static final Path SCRIPT = Path.of("templates/lib/snapshot.sh").toAbsolutePath();

  /** Maps each argument, says so, and stays. */
  private static final String MAPS =
      "import mmap, sys, time\n"
          + "files = [open(f, 'rb') for f in sys.argv[1:]]\n"
          + "kept = [mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) for f in files]\n"
          + "print('mapped', flush=True)\ntime.sleep(600)\n";

  private static final String CONFIG =
      "Configuration data as of %s\\nBOOT_TIME = %s\\nClusterName = nexa\\nHASH_VAL = Match\\n"
          + "NEXT_JOB_ID = %s\\nSLURM_VERSION = 22.05.8\\n\\nSlurmctld(primary) at n0 is UP";

  @TempDir Path folder;
  private Path packages;
  private final List<Process> started = new ArrayList<>();
  private final Map<String, String> more = new HashMap<>();

  @BeforeEach
  void aNode() throws IOException {
    Files.createDirectories(folder.resolve("bin"));
    packages = Files.createDirectories(folder.resolve("venv/lib/python3.11/site-packages"));
    more.put("VIRTUAL_ENV", folder.resolve("venv").toString());
    // At the lowest priority it waits for minutes on a busy machine.
    StandIn.bash(folder.resolve("bin/renice"), "exit 0");
    StandIn.bash(folder.resolve("bin/scontrol"), "printf '" + CONFIG.formatted(1, 1, 1) + "'");
    StandIn.bash(
        folder.resolve("bin/nvidia-smi"),
        "printf '570.86.15, NVIDIA H100 80GB HBM3, GPU-aa, 1650\\n"
            + "570.86.15, NVIDIA H100 80GB HBM3, GPU-bb, [N/A]\\n'");
  }

  @AfterEach
  void end() {
    started.forEach(Process::destroyForcibly);
  }

  private Path library(String name, String content) throws IOException {
    return Files.writeString(Files.createDirectories(folder.resolve("lib")).resolve(name), content);
  }

  private void installed(String... names) throws IOException {
    for (String name : names) {
      Files.createDirectories(packages.resolve(name));
    }
  }

  private Path attempt(String run) {
    return folder.resolve("runs/" + run + "/submissions/k/results/0.0");
  }

  private Process start(String run, List<String> argv) throws IOException {
    Files.createDirectories(attempt(run).getParent());
    ProcessBuilder builder = new ProcessBuilder(argv);
    Map<String, String> variables = builder.environment();
    variables.put("PATH", folder.resolve("bin") + ":" + System.getenv("PATH"));
    variables.put("NEXA_RUN_DIR", folder.resolve("runs/" + run).toString());
    variables.put("NEXA_RUN_ID", run);
    variables.put("NEXA_SUBMISSION", folder.resolve("runs/" + run + "/submissions/k").toString());
    variables.put("NEXA_ATTEMPT", attempt(run).toString());
    variables.put("NEXA_JOB", "4711");
    variables.put("SLURMD_NODENAME", "n3");
    variables.putAll(more);
    Process process = builder.start();
    started.add(process);
    return process;
  }

  /** Starts a command that has mapped the files once this returns. */
  private void command(String run, Path... files) throws IOException {
    List<String> argv = new ArrayList<>(List.of("python3", "-c", MAPS));
    List.of(files).forEach(file -> argv.add(file.toString()));
    assertThat(start(run, argv).inputReader(UTF_8).readLine()).isEqualTo("mapped");
  }

  private Map<String, String> snapshot(String run, String... words) throws Exception {
    List<String> argv = new ArrayList<>(List.of("bash", SCRIPT.toString()));
    argv.addAll(
        words.length == 0
            ? List.of("", "", folder.resolve("secret.env").toString(), "0")
            : List.of(words));
    Process process = start(run, argv);
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(new String(process.getErrorStream().readAllBytes(), UTF_8)).isEmpty();
    return read(run);
  }

  private Map<String, String> read(String run) throws IOException {
    Map<String, String> facts = new HashMap<>();
    lines(Path.of(attempt(run) + ".snapshot.tsv"), facts);
    if (facts.containsKey("run.shared")) {
      lines(folder.resolve("runs/snapshots/" + facts.get("run.shared") + ".tsv"), facts);
    }
    return facts;
  }

  private static void lines(Path file, Map<String, String> facts) throws IOException {
    List<String> lines = Files.readAllLines(file);
    assertThat(lines).isSorted();
    lines.stream().map(line -> line.split("\t", 2)).forEach(fact -> facts.put(fact[0], fact[1]));
  }

  /** Waits until all that is known without a process is written. */
  private void awaitNode(String run) throws Exception {
    Path own = Path.of(attempt(run) + ".snapshot.tsv");
    for (int i = 0; i < 6000; i++) {
      if (Files.exists(own) && Files.readString(own).contains("gpus")) {
        return;
      }
      Thread.sleep(50);
    }
  }

  private List<String> shared() throws IOException {
    try (var files = Files.list(folder.resolve("runs/snapshots"))) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  @Test
  void whatIsMappedIsNamedAndADisagreementWithThePackages() throws Exception {
    installed(
        "nvidia_nccl_cu12-2.20.5.dist-info", "Foo.Bar-1.2.dist-info", "old-3-py3.11.egg-info");
    Files.writeString(
        Files.createDirectories(packages.resolve("torch")).resolve("version.py"),
        "from typing import Optional\n__version__ = '2.4.0+cu121'\ncuda: Optional[str] = '12.1'\nhip: Optional[str] = None\n");
    more.put("RANK", "0");
    command(
        "train_20251101_143200",
        library("libnccl.so.2", "x\nNCCL version 2.21.5+cuda12.4\n"),
        library("libcudart-9335f6a2.so.12.1.105", "x"),
        library("libcudnn.so.9", "x"),
        library("libc10.so", "x"));

    Map<String, String> facts = snapshot("train_20251101_143200");

    assertThat(facts)
        .containsEntry("mapped.libnccl.version", "2.21.5")
        .containsEntry("mapped.libnccl.path", folder.resolve("lib/libnccl.so.2").toString())
        .containsEntry("mapped.libnccl.sha256", Sha256.of("x\nNCCL version 2.21.5+cuda12.4\n"))
        .containsEntry("mapped.libcudart.version", "12.1.105")
        .containsEntry("mapped.libcudnn.version", "9")
        .containsEntry("disagrees.nccl", "mapped 2.21.5, the package list says 2.20.5")
        .containsEntry("torch.version", "2.4.0+cu121")
        .containsEntry("torch.cuda", "12.1")
        .containsEntry("package.foo-bar", "1.2")
        .containsEntry("package.old", "3")
        .containsEntry("nvidia.driver", "570.86.15")
        .containsEntry("gpus", "2 x NVIDIA H100 80GB HBM3")
        .containsEntry("run.gpus", "GPU-aa (1650); GPU-bb")
        .containsEntry("slurm.version", "22.05.8")
        .containsEntry("slurm.cluster", "nexa")
        .containsEntry("run.job", "4711")
        .containsKeys("kernel", "os", "glibc", "cpus", "memory", "python.version", "python.path")
        .doesNotContainKeys("torch.hip", "mapped.libc10.path");
  }

  @Test
  void noSecretIsTakenAndWhatNamesTheRunIsItsOwn() throws Exception {
    more.putAll(
        Map.of(
            "VLLM_API_KEY", "hush1",
            "NCCL_MY_TOKEN", "hush2",
            "UCX_LOG", "http://user:hush3@host",
            "OMPI_COMMAND", "hush4",
            "OTHER", "hush5",
            "NCCL_DEBUG", "INFO\twith\na line",
            "TORCH_DUMP", "/scratch/train_20251101_143200/x",
            "FI_NODE", "n3",
            "OMP_PATH", "/lib/python3.11",
            "CUDA_VISIBLE_DEVICES", "GPU-aa"));
    more.putAll(
        Map.of(
            "UCX_PWD", "hush6",
            "NCCL_PW", "hush7",
            "FI_X", "password=hush8",
            "UCX_Y", "ada:hush9@host",
            "UCX_Z", "Authorization: Bearer hush10",
            "FI_J", "eyJhush11hush11.x.y",
            "NCCL_G", "glpat-hush12hush12",
            "FI_K", "{\"api_key\": \"hush13\"}",
            "UCX_W", "http://ada:hu/hush14@host",
            "UCX_FROM_FILE", "hush15"));
    Files.writeString(folder.resolve("secret.env"), "# mine\nexport UCX_FROM_FILE=hush15\n");
    command("train_20251101_143200");

    Map<String, String> facts = snapshot("train_20251101_143200");

    assertThat(facts.toString()).doesNotContain("hush");
    assertThat(facts)
        .containsEntry("env.UCX_LOG", "left out: it looks like a secret")
        .containsEntry("env.NCCL_DEBUG", "INFO?with?a line")
        .containsEntry("env.OMP_PATH", "/lib/python3.11")
        .containsEntry("run.env.TORCH_DUMP", "/scratch/train_20251101_143200/x")
        .containsEntry("run.env.FI_NODE", "n3")
        .containsEntry("run.env.CUDA_VISIBLE_DEVICES", "GPU-aa");
  }

  /** Slurm's configuration has lines that change from call to call. */
  @Test
  void equalRunsShareOneFile() throws Exception {
    for (int run = 1; run <= 3; run++) {
      StandIn.bash(
          folder.resolve("bin/scontrol"),
          "printf '" + CONFIG.formatted("day " + run, run, run) + "'");
      command("train_20251101_14320" + run, library("libnccl.so.2", "NCCL version 2.21.5"));
      snapshot("train_20251101_14320" + run);
    }

    assertThat(shared()).hasSize(1);
    assertThat(read("train_20251101_143201").get("run.shared") + ".tsv")
        .isEqualTo(shared().get(0))
        .isEqualTo(read("train_20251101_143203").get("run.shared") + ".tsv");
  }

  @Test
  void anotherMembersFileWithThatNameDoesNotCount() throws Exception {
    command("train_20251101_143201");
    Path file =
        folder.resolve(
            "runs/snapshots/" + snapshot("train_20251101_143201").get("run.shared") + ".tsv");
    Files.writeString(file, "kernel\tplanted\n", StandardOpenOption.APPEND);
    command("train_20251101_143202");

    assertThat(snapshot("train_20251101_143202"))
        .doesNotContainKey("run.shared")
        .containsKeys("kernel", "run.job");
    assertThat(Files.readString(file)).endsWith("planted\n");
  }

  @Test
  void aFullDiskLeavesNoHalfFile() throws Exception {
    command("train_20251101_143201");
    String script = "ulimit -f 0; trap '' XFSZ; exec bash \"$@\"";
    Process full =
        start(
            "train_20251101_143201",
            List.of("bash", "-c", script, "bash", SCRIPT.toString(), "", "", "", "0"));

    assertThat(full.waitFor(5, TimeUnit.MINUTES)).isTrue();
    try (var files = Files.walk(folder.resolve("runs"))) {
      assertThat(files.filter(Files::isRegularFile)).isEmpty();
    }
  }

  @Test
  void withoutAProcessTheNodeIsKnownAndATermSharesIt() throws Exception {
    Path lock = Files.writeString(folder.resolve("uv.lock"), "x");
    Process script =
        start(
            "train_20251101_143201",
            List.of(
                "bash",
                SCRIPT.toString(),
                folder.toString(),
                "img@sha256:" + "a".repeat(64),
                "",
                "600"));
    awaitNode("train_20251101_143201");
    Thread.sleep(300);

    script.destroy();

    assertThat(script.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(read("train_20251101_143201"))
        .containsKeys("run.shared", "kernel", "gpus")
        .containsEntry("uv.lock", Sha256.of(lock))
        .containsEntry("container.digest", "sha256:" + "a".repeat(64))
        .doesNotContainKey("run.process");
  }

  @Test
  void itEndsWithItsJob() throws Exception {
    Process job =
        start(
            "train_20251101_143201",
            List.of(
                "bash",
                "-c",
                "bash \"$0\" '' '' '' 600 & echo $!; exec sleep 600",
                SCRIPT.toString()));
    long pid = Long.parseLong(job.inputReader(UTF_8).readLine());
    awaitNode("train_20251101_143201");
    job.destroyForcibly();

    var left = ProcessHandle.of(pid).map(ProcessHandle::onExit);
    if (left.isPresent()) {
      left.get().get(5, TimeUnit.MINUTES);
    }
  }

  @Test
  void thisMachineIsKnownWithoutARun() throws Exception {
    installed("foo-2.dist-info");
    Process here =
        start(
            "train_20251101_143201",
            List.of(
                "bash",
                "-c",
                Files.readString(SCRIPT),
                "x",
                "here",
                "/usr/bin/python3.11",
                packages.toString(),
                library("libnccl.so.2", "NCCL version 2.3.4").toString()));

    assertThat(here.inputReader(UTF_8).lines())
        .contains("package.foo\t2", "mapped.libnccl.version\t2.3.4", "nvidia.driver\t570.86.15");
    assertThat(folder.resolve("runs/snapshots")).doesNotExist();
  }
}
