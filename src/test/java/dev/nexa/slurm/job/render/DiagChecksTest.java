package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.StandIn;
import dev.nexa.slurm.records.diagnostics.NodeCheck;
import dev.nexa.slurm.records.diagnostics.NodeCheck.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * templates/lib/diag.sh on one node, with an nvidia-smi, dmesg and dcgmi that say what broken ones
 * say.
 */
@Tag("long")
class DiagChecksTest {
  /** What hangs here has a second. */
  private static String hang(String rows) {
    return rows.replaceAll("(?m)^(row (gpus|disk|inodes|mounts) .*) \\d+$", "$1 1");
  }

  @TempDir Path folder;
  private final Map<String, String> environment = new HashMap<>();

  @BeforeEach
  void aWellNode() throws IOException {
    Path tools = folder.resolve("tools");
    for (String tier : List.of("scratch", "durable", "shared")) {
      Files.createDirectory(folder.resolve(tier));
      environment.put("NEXA_" + tier.toUpperCase(Locale.ROOT), folder.resolve(tier).toString());
    }
    environment.put("PATH", tools + ":/usr/bin:/bin");
    environment.put("SLURMD_NODENAME", "g7");
    environment.put("NEXA_ATTEMPT", folder.resolve("attempt").toString());
    environment.put("GPU", folder.resolve("gpu").toString());
    Files.createDirectory(folder.resolve("gpu"));
    StandIn.bash(
        tools.resolve("nvidia-smi"),
        """
        case $1 in
        --query-gpu=*) fields=${1#*=} ;;
        --query-remapped-rows=*) cat "$GPU/${1##*.}" 2>/dev/null || printf 'No\\nNo\\n'; exit ;;
        nvlink) cat "$GPU/nvlink" 2>/dev/null || printf '\\t Link 0: 26.562 GB/s\\n'; exit ;;
        esac
        [[ ! -e $GPU/hang ]] || sleep 60
        [[ ! -e $GPU/broken ]] || { echo 'Unable to determine the device handle'; exit 15; }
        for ((i = 0; i < $(cat "$GPU/count" 2>/dev/null || echo 2); i++)); do
          line=
          IFS=, read -ra names <<<"$fields"
          for name in "${names[@]}"; do
            case $name in
            index) value=$i ;; driver_version) value=550.54.15 ;; pcie.link.width.*) value=16 ;;
            clocks*) value='Not Active' ;; temperature.gpu) value=41 ;; memory.used) value=4 ;;
            ecc.*) value=0 ;; *) value=GPU-$i ;;
            esac
            [[ $i != 1 || ! -e $GPU/$name ]] || value=$(cat "$GPU/$name")
            line+="${line:+, }$value"
          done
          echo "$line"
        done
        """);
    StandIn.bash(tools.resolve("dmesg"), "cat \"$GPU/dmesg\" 2>/dev/null || true");
    StandIn.bash(tools.resolve("python3"), "echo 'no torch'; exit 1");
  }

  @Test
  void aWellNodeHasNoFinding() throws IOException {
    Map<String, NodeCheck> checks = node("full", "2");

    assertThat(checks.values())
        .noneMatch(check -> check.result().compareTo(Result.WARNING) >= 0)
        .allMatch(check -> check.node().equals("g7"));
    assertThat(checks)
        .containsKeys("scratch", "durable", "shared", "mounts", "disk", "inodes", "shm")
        .containsKeys("xid", "gpus", "driver", "ecc_uncorrected", "nvlink", "pcie", "temperature")
        .containsKeys("cpu", "memory_copy", "scratch_write")
        .doesNotContainKeys("dcgm", "container", "interface");
    assertThat(checks.get("gpus")).returns("2", NodeCheck::value).returns("==2", NodeCheck::limit);
    assertThat(checks.get("torch").result()).isEqualTo(Result.UNKNOWN);
  }

  @Test
  void aNodeWithoutGpusIsAskedForNone() throws IOException {
    assertThat(node("full", "0")).doesNotContainKeys("xid", "gpus", "torch").containsKey("cpu");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "count  | 1 | gpus: 1 GPUs (==2)",
        "broken |   | gpus: nvidia-smi: Unable to determine the device handle",
        "hang   |   | gpus: no answer in 1 s",
      })
  void fewerGpusThanSlurmGives(String file, String text, String words) throws IOException {
    Files.writeString(folder.resolve("gpu").resolve(file), text == null ? "" : text);

    NodeCheck gpus =
        node("quick", "2", file.equals("hang") ? DiagChecksTest::hang : same -> same).get("gpus");

    assertThat(gpus.result()).isEqualTo(Result.CRITICAL);
    assertThat(gpus.words()).isEqualTo(words);
  }

  @Test
  void eachFaultIsNamed() throws IOException {
    Map<String, String> faults =
        Map.of(
            "ecc.errors.uncorrected.volatile.total", "3",
            "ecc.errors.corrected.volatile.total", "50000001",
            "failure", "Yes",
            "pending", "Yes",
            "nvlink", "Link 0: 26.562 GB/s\nLink 1: <inactive>",
            "pcie.link.width.current", "8",
            "clocks_throttle_reasons.hw_slowdown", "Active",
            "temperature.gpu", "91",
            "memory.used", "70000",
            "dmesg", "[1] NVRM: Xid (PCI:0000:3b:00): 79, pid=1, GPU has fallen off");
    for (Map.Entry<String, String> fault : faults.entrySet()) {
      Files.writeString(folder.resolve("gpu").resolve(fault.getKey()), fault.getValue() + "\n");
    }

    assertThat(node("quick", "2").values())
        .filteredOn(check -> check.result().compareTo(Result.WARNING) >= 0)
        .extracting(check -> check.result().text() + " " + check.words())
        .containsExactlyInAnyOrder(
            "critical ecc_uncorrected: 1 GPUs (==0) GPU 1: 3",
            "warning ecc_corrected: 50000001 errors (<=50000000) GPU 1",
            "critical rows_failed: 1 GPUs (==0)",
            "warning rows_pending: 1 GPUs (==0)",
            "critical nvlink: 1 links (==0) inactive",
            "warning pcie: 1 GPUs (==0) GPU 1: x8 of x16",
            "warning slowed: 1 GPUs (==0) GPU 1: Active",
            "warning temperature: 91 C (<=87) GPU 1",
            "warning gpu_memory: 70000 MiB (<=1024) GPU 1",
            "critical xid: 1 errors (==0) Xid 79: the GPU cannot be reached; the node needs a restart, or the GPU a new seat");
  }

  /** Cards without ECC say so; Xid 13 is a program's fault. */
  @Test
  void whatIsNoFault() throws IOException {
    Files.writeString(folder.resolve("gpu/ecc.errors.uncorrected.volatile.total"), "[N/A]\n");
    Files.writeString(folder.resolve("gpu/dmesg"), "NVRM: Xid (PCI:0000:3b:00): 13, pid=1\n");

    assertThat(node("quick", "2").values())
        .noneMatch(check -> check.result().compareTo(Result.WARNING) >= 0);
  }

  @Test
  void behindADriverThatHangsNothingElseWaits() throws IOException {
    Files.createFile(folder.resolve("gpu/hang"));
    Files.writeString(folder.resolve("gpu/dmesg"), "NVRM: Xid (PCI:0000:3b:00): 119, pid=1\n");

    assertThat(node("full", "2", DiagChecksTest::hang))
        .containsKeys("xid", "gpus", "cpu")
        .doesNotContainKeys("driver", "gpu_copy")
        .extractingByKey("xid")
        .returns(Result.CRITICAL, NodeCheck::result);
  }

  @Test
  void aTierThatIsNotThereOrHangs() throws IOException {
    Files.delete(folder.resolve("durable"));
    StandIn.bash(folder.resolve("tools/df"), "sleep 60");

    Map<String, NodeCheck> checks = node("quick", "0", DiagChecksTest::hang);

    assertThat(checks.get("durable").words())
        .isEqualTo("durable: there is no folder " + folder.resolve("durable"));
    assertThat(checks.get("disk")).returns(Result.WARNING, NodeCheck::result);
    assertThat(checks.get("disk").words()).isEqualTo("disk: no answer in 1 s");
    assertThat(checks.get("mounts").result()).isEqualTo(Result.CRITICAL);
    assertThat(checks.get("shared").result()).isEqualTo(Result.OK);
    assertThat(folder.resolve("shared")).isEmptyDirectory();
  }

  @ParameterizedTest
  @ValueSource(strings = {"550.90.1", "551"})
  void anOldDriver(String oldest) throws IOException {
    environment.put("NEXA_DIAG_DRIVER", oldest);

    assertThat(node("quick", "2").get("driver").words())
        .isEqualTo("driver: the driver is 550.54.15, " + oldest + " needed");
  }

  /**
   * dcgmi 3 has "results" in each test, dcgmi 4 a "test_summary" too; neither's exit status counts.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"DCGM GPU Diagnostic\": {\"test_categories\": [{\"tests\": [{\"name\": \"Denylist\", \"results\": [{\"status\": \"Pass\"}]}]}]}} | ok | 0",
        "{\"DCGM GPU Diagnostic\": {\"tests\": [{\"results\": [{\"status\": \"Pass\"}]}, {\"results\": [{\"status\": \"Fail\"}]}]}} | critical | 1",
        "{\"DCGM Diagnostic\": {\"tests\": [{\"name\": \"software\", \"test_summary\": {\"status\": \"Pass\"}}]}} | ok | 0",
        "{\"DCGM Diagnostic\": {\"tests\": [{\"name\": \"memory\", \"test_summary\": {\"status\": \"Fail\"}}]}} | critical | 1",
        "Error: unable to connect to host engine | unknown | -",
        "{\"DCGM Diagnostic\": {\"tests\": [{\"name\": \"memory\", \"test_summary\": {\"status\": \"Skip\"}}]}} | unknown | -",
      })
  void bothFormsOfDcgmi(String answer, String result, String value) throws IOException {
    StandIn.bash(folder.resolve("tools/dcgmi"), "echo '" + answer + "'; exit 226");

    NodeCheck dcgm = node("full", "2").get("dcgm");

    assertThat(dcgm.result().text()).isEqualTo(result);
    assertThat(dcgm.value()).isEqualTo(value);
  }

  /** A site changes a limit, or adds a check, in its own copy. */
  @Test
  void aSitesOwnRow() throws Exception {
    Map<String, NodeCheck> checks =
        node(
            "quick",
            "0",
            text ->
                text.replace("'<=' 95 % warning 100\ndisk", "'<=' 0 % critical 10\ndisk")
                    + "row site any quick '==' yes - warning 5\nsite() { say no '' 'the reason'; }\n"
                    + "row word any quick '<=' 5 - critical 5\nword() { echo 'abc: failed'; }\n"
                    + "row tabs any quick '==' 1 - critical 5\ntabs() { printf '9\\t\\033[1m9|\\t|a\\tb\\n'; }\n"
                    + "row left any quick '>=' 1 - critical 5\nleft() { sleep 100 & echo $!; }\n"
                    + "row flood any quick '==' 1 - critical 20\nflood() { yes; }\n"
                    + "row odd any quick '==' yes - critical 5\nodd() { exit 77; }\n");

    assertThat(checks.get("disk").result()).isEqualTo(Result.CRITICAL);
    assertThat(checks.get("site").words()).isEqualTo("site: no (==yes) the reason");
    assertThat(checks.get("word"))
        .returns(Result.UNKNOWN, NodeCheck::result)
        .returns("no number: abc: failed", NodeCheck::text);
    assertThat(checks.get("tabs"))
        .returns(Result.CRITICAL, NodeCheck::result)
        .returns("9??[1m9", NodeCheck::value)
        .returns("==?", NodeCheck::limit)
        .returns("a?b", NodeCheck::text);
    assertThat(checks.get("left").result()).isEqualTo(Result.OK);
    Optional<ProcessHandle> left = ProcessHandle.of(Long.parseLong(checks.get("left").value()));
    if (left.isPresent()) {
      left.get().onExit().get(5, TimeUnit.MINUTES);
    }
    assertThat(checks.get("flood")).returns(Result.UNKNOWN, NodeCheck::result);
    assertThat(checks.get("flood").text()).startsWith("the check ended with 153: y y");
    assertThat(checks.get("answer").result()).isEqualTo(Result.OK);
    assertThat(checks.get("odd")).returns(Result.UNKNOWN, NodeCheck::result);
  }

  /** The job makes a missing folder, so only the other nodes show that a mount is missing. */
  @ParameterizedTest
  @CsvSource({
    "nfs disk:nfs disk, ok:ok",
    "nfs disk:disk disk:nfs disk, ok:critical:ok",
    "nfs:disk, warning:warning",
    "disk:disk:nfs, ok:ok:warning",
    "nfs:lustre:nfs, ok:warning:ok",
    "nfs:lustre:disk, warning:warning:warning",
  })
  void theNodesOfAJobHaveTheSameMounts(String mounts, String results) throws IOException {
    String[] found = mounts.split(":", -1);
    StringBuilder lines = new StringBuilder();
    StringBuilder names = new StringBuilder();
    for (int node = 1; node <= found.length; node++) {
      names.append(" n").append(node);
      lines
          .append("n%d\tmounts\tok\t%s\t==-\t-\t0\t\n".formatted(node, found[node - 1]))
          .append("n%d\tanswer\tok\t-\t-\t-\t0\t\n".formatted(node));
    }
    Files.writeString(folder.resolve("lines"), lines);
    StandIn.bash(folder.resolve("tools/srun"), "cat '" + folder.resolve("lines") + "'");
    StandIn.bash(
        folder.resolve("tools/scontrol"),
        "[[ $1 != show ]] || printf '%s\\n'" + names + "\nexit 0");
    environment.put("SLURM_JOB_NODELIST", "n[1-%d]".formatted(found.length));

    files(text -> text);
    CommandResult answer = run("job", "quick", "0");

    assertThat(answer.exit()).as(answer.err()).isEqualTo(results.contains("critical") ? 1 : 0);
    assertThat(
            NodeCheck.read(Files.readString(folder.resolve("attempt.diag.tsv"))).stream()
                .filter(check -> check.check().equals("mounts"))
                .map(check -> check.result().text())
                .collect(Collectors.joining(":")))
        .isEqualTo(results);
  }

  private Map<String, NodeCheck> node(String level, String gpus) throws IOException {
    return node(level, gpus, text -> text);
  }

  private Map<String, NodeCheck> node(String level, String gpus, UnaryOperator<String> site)
      throws IOException {
    files(site);
    CommandResult result = run("node", level, gpus);
    assertThat(result.err()).isEmpty();
    assertThat(result.exit()).isZero();
    List<NodeCheck> read = NodeCheck.read(result.out());
    assertThat(read).hasSize((int) result.out().lines().count());
    Map<String, NodeCheck> checks = new TreeMap<>();
    for (NodeCheck check : read) {
      assertThat(Optional.ofNullable(checks.put(check.check(), check))).isEmpty();
    }
    return checks;
  }

  private void files(UnaryOperator<String> site) throws IOException {
    Path lib = Files.createDirectories(folder.resolve("lib"));
    for (String name : Renderer.DIAG_FILES) {
      String text = Files.readString(Path.of("templates/lib", name));
      if (name.equals("diag_checks.sh")) {
        // On a busy machine a well check takes long.
        text =
            site.apply(
                text.replaceAll("(?m)^(row .*) \\d+$", "$1 100")
                    .replace("256M", "1M")
                    .replace("count=64", "count=1"));
      }
      Files.writeString(lib.resolve(name), text);
    }
  }

  private CommandResult run(String mode, String level, String gpus) throws IOException {
    return new CommandRunner()
        .run(
            new Command(
                List.of("bash", folder.resolve("lib/diag.sh").toString(), mode, level, gpus),
                environment,
                folder,
                Duration.ofMinutes(2)));
  }
}
