package dev.nexa.slurm.job.render;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.process.Command;
import dev.nexa.slurm.base.process.CommandResult;
import dev.nexa.slurm.base.process.CommandRunner;
import dev.nexa.slurm.base.process.StandIn;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** templates/lib/check_node.sh, with an nvidia-smi and a dmesg that say what broken ones say. */
class CheckNodeTest {
  private static final String WELL = "570.86.15, 0\n570.86.15, 0";
  private static final String NO_ROWS = "No, No\nNo, No";

  @TempDir Path folder;
  private final Map<String, String> environment = new HashMap<>();

  CheckNodeTest() {
    environment.put("CUDA_VISIBLE_DEVICES", "0,1");
  }

  @Test
  void aNodeThatHasAllThatWasPromisedIsWell() throws IOException {
    gpus(WELL, NO_ROWS, "");

    assertThat(check("1024", "2", "lo", "550.54")).isEqualTo("");
    assertThat(check("1024", "0")).isEqualTo("");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "570.86.15, 0\\n570.86.15, 3 | No, No | | a GPU has 3 uncorrected ECC errors",
        "570.86.15, [N/A]\\n570.86.15, [N/A] | No, No | | ''",
        "570.86.15, 0 | No, No | | nvidia-smi sees fewer than 2 GPUs: 570.86.15, 0",
        "535.9, 0\\n535.9, 0 | No, No | | its driver is 535.9, 550.54 needed",
        "570.86.15, 0\\n570.86.15, 0 | No, Yes | | a GPU's memory rows wait to be remapped, or could not be",
        "570.86.15, 0\\n570.86.15, 0 | [N/A], [N/A] | | ''",
        "570.86.15, 0\\n570.86.15, 0 | No, No | NVRM: Xid (PCI:0000:3b:00): 79, pid=1 |"
            + " the kernel told of a broken GPU (Xid 48, 79 or 95) within the hour",
        "570.86.15, 0\\n570.86.15, 0 | No, No | NVRM: Xid (PCI:0000:3b:00): 13, pid=1 | ''",
      })
  void aBrokenOneSaysWhatIsWrong(String gpus, String rows, String kernel, String reason)
      throws IOException {
    gpus(gpus.replace("\\n", "\n"), rows, kernel == null ? "" : kernel);

    assertThat(check("1024", "2", "", "550.54")).isEqualTo(reason);
  }

  @Test
  void fewerGpusThanPromised() throws IOException {
    environment.put("CUDA_VISIBLE_DEVICES", "3");

    assertThat(check("1024", "2")).isEqualTo("2 GPUs promised, CUDA_VISIBLE_DEVICES='3'");
  }

  @Test
  void aDriverThatFails() throws IOException {
    tool("nvidia-smi", "echo 'Unable to determine the device handle'; exit 15");
    tool("dmesg", "exit 1");

    assertThat(check("1024", "1")).isEqualTo("nvidia-smi: Unable to determine the device handle");
  }

  @Test
  void noSpaceOrNoInterface() throws IOException {
    assertThat(check("9000000000000000", "0")).endsWith("9000000000000000 needed");
    assertThat(check("1024", "0", "ib7")).isEqualTo("it has no network interface ib7");
    assertThat(check("1024", "0", "^docker,lo")).isEqualTo("");
  }

  private void gpus(String gpus, String rows, String kernel) throws IOException {
    tool(
        "nvidia-smi",
        "case $1 in --query-gpu=*) echo '%s';; *) echo '%s';; esac".formatted(gpus, rows));
    tool("dmesg", "echo '" + kernel + "'");
  }

  private void tool(String name, String does) throws IOException {
    StandIn.bash(folder.resolve(name), does);
  }

  /** What it says; its status goes with that. */
  private String check(String... arguments) throws IOException {
    List<String> argv =
        new ArrayList<>(List.of("bash", "templates/lib/check_node.sh", folder.toString()));
    argv.addAll(List.of(arguments));
    environment.put("PATH", folder + ":/usr/bin:/bin");
    CommandResult result =
        new CommandRunner()
            .run(
                new Command(
                    argv, environment, Path.of("").toAbsolutePath(), Duration.ofSeconds(30)));
    assertThat(result.exit()).as(result.out()).isEqualTo(result.out().isEmpty() ? 0 : 1);
    assertThat(result.err()).isEmpty();
    return result.out().strip();
  }
}
