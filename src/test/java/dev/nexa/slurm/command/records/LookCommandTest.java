package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LookCommandTest {
  /** Two days of two users: each way to lose something, once or twice. */
  private static final String DUMP =
      """
      JobID|JobName|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocCPUS|TotalCPU|ReqTRES|AllocTRES|TRESUsageInTot|NTasks
      1|train-1|ada|FAILED|2026-11-01T08:00:00|2026-11-01T09:00:00|2026-11-01T11:00:00|7200|240|8|04:00:00|gres/gpu=4|cpu=8,mem=64G,gres/gpu:h100=4||
      1.batch|batch||FAILED|2026-11-01T09:00:00|2026-11-01T09:00:00|2026-11-01T11:00:00|7200||8|04:00:00||cpu=8|cpu=04:00:00,mem=60G|1
      2|train-2|ada|FAILED|2026-11-01T11:00:00|2026-11-01T11:00:10|2026-11-01T12:00:10|3600|240|8|02:00:00|gres/gpu=4|cpu=8,mem=64G,gres/gpu:h100=4||
      3|eval|ada|OUT_OF_MEMORY|2026-11-01T12:00:00|2026-11-01T12:00:20|2026-11-01T13:00:20|3600|60|4|01:00:00||cpu=4,mem=16G||
      4|prep|bob|COMPLETED|2026-11-01T12:00:00|2026-11-01T12:00:20|2026-11-01T13:00:20|3600|1440|16|01:36:00||cpu=16,mem=128G||
      4.batch|batch||COMPLETED|2026-11-01T12:00:20|2026-11-01T12:00:20|2026-11-01T13:00:20|3600||16|01:36:00||cpu=16|cpu=01:36:00,mem=10G|1
      5|serve|bob|COMPLETED|2026-11-01T12:00:00|2026-11-01T12:00:30|2026-11-02T12:00:30|86400|1440|8|2-00:00:00|gres/gpu=2|cpu=8,mem=64G,gres/gpu=2||
      5.batch|batch||COMPLETED|2026-11-01T12:00:30|2026-11-01T12:00:30|2026-11-02T12:00:30|86400||8|2-00:00:00||cpu=8|cpu=2-00:00:00,mem=60G,gres/gpuutil=40|1
      6|waits|bob|PENDING|2026-11-02T12:00:00|Unknown|Unknown|0|60|1|00:00:00||||
      """;

  @TempDir Path folder;
  private Terminal terminal;
  private String dump;

  @BeforeEach
  void dump() {
    terminal = new Terminal(folder);
    terminal.file("sacct.txt", DUMP);
    dump = terminal.workspace.resolve("sacct.txt").toString();
  }

  @Test
  void theWholeTextOfAFile() {
    Screen screen = terminal.type("look", "--from", dump, "--timezone", "UTC");

    assertThat(screen.out())
        .isEqualTo(
            """
            jobs of all users, ended from 2026-11-01T11:00:00Z (UTC) to 2026-11-02T12:00:30Z (UTC)
            60.0 GPU-hours, 236.0 CPU-hours, 264.80 USD in 5 jobs; not ended: 1

            STATE          JOBS  GPU HOURS  CPU HOURS        COST
            COMPLETED         2       48.0      208.0  196.64 USD
            FAILED            2       12.0       24.0   67.92 USD
            OUT_OF_MEMORY     1        0.0        4.0    0.24 USD

            without a result, or not used
            JOBS THAT                                                 JOBS  GPU HOURS  CPU HOURS        COST
            used less than half of their GPUs                            1       38.4        0.0  144.00 USD
            ended with an error                                          2       12.0       24.0   67.92 USD
            used less than half of their memory                          1        0.0        0.0    0.59 USD
            used less than half of their CPUs, without GPUs              1        0.0       14.4    0.58 USD
            ran out of memory                                            1        0.0        4.0    0.24 USD
            asked for more than four times the time that they needed     1        0.0        0.0    0.00 USD

            jobs with GPUs waited: half of them at most 30 seconds, nine in ten at most 1 hour, the longest 1 hour
            jobs without GPUs waited: half of them at most 20 seconds, nine in ten at most 20 seconds, the longest 20 seconds

            USER  JOBS  GPU HOURS  CPU HOURS        COST
            bob      2       48.0      208.0  196.64 USD
            ada      3       12.0       28.0   68.16 USD

            changes that would save most
            1. serve of bob: 1 job used less than half of their GPUs: 38.4 GPU-hours, 144.00 USD (such as job 5)
               nexa-slurm submit SCRIPT --wait  # `nexa-slurm monitor show latest` then shows when its GPUs do nothing
            2. train-# of ada: 2 jobs ended with an error: 12.0 GPU-hours, 67.92 USD (such as job 1)
               nexa-slurm submit SCRIPT --wait  # `nexa-slurm why latest` then names the line that failed
            3. prep of bob: 1 job used less than half of their memory: 0.59 USD (such as job 4)
               nexa-slurm submit SCRIPT --mem 13G  # a quarter more than the largest of these jobs used

            prices: the price book default, as of 2025-11-01
            """);
    assertThat(screen.err())
        .isEqualTo(
            "note: GPUs of the type gpu count as a100: --gpu-type TYPE says what they are\n");
    assertThat(screen.exit()).isZero();
  }

  @Test
  void jsonHasTheSameFigures() {
    JsonObject look = terminal.type("look", "--from", dump, "--json", "--user", "ada").json();

    assertThat(look.object("total").number("jobs")).isEqualTo(3);
    assertThat(look.object("total").text("gpu_hours")).isEqualTo("12.0000");
    assertThat(look.objects("changes").get(0).text("name")).isEqualTo("train-#");
    assertThat(look.objects("users")).isEmpty();
  }

  @Test
  void nothingIsWrittenWithoutAWorkspace() throws IOException {
    Path empty = folder.resolve("empty");
    Screen screen = terminal.at(empty).type("look", "--from", dump);

    assertThat(screen.out()).contains("prices: examples of");

    try (Stream<Path> files = Files.list(empty)) {
      assertThat(files).isEmpty();
    }
  }

  @Test
  void aPageHasTheFiguresAndEscapesNames() throws IOException {
    terminal.file("odd.txt", DUMP.replace("train-", "<b>x</b>"));
    Path page = folder.resolve("look.html");
    String odd = terminal.workspace.resolve("odd.txt").toString();
    Screen screen = terminal.type("look", "--from", odd, "--html", page.toString());

    assertThat(screen.out()).contains("wrote " + page);
    assertThat(Files.readString(page).replaceAll("(?s)<style>.*</style>", ""))
        .contains("60.0", "236.0", "&lt;b&gt;x&lt;/b&gt;#", "script-src &#39;none&#39;")
        .doesNotContain("<b>x", "<script");
  }

  @Test
  void accountingIsAskedDayByDay() throws IOException {
    terminal.withSlurm();
    terminal.program("sacct", "echo \"$*\" >>" + folder.resolve("asked"));
    Screen screen =
        terminal.type(
            "look",
            "--since",
            "2026-11-01T00:00:00Z",
            "--until",
            "2026-11-03T12:00:00Z",
            "--user",
            "bob");

    assertThat(screen.err()).contains("no job of these has ended in that time");
    assertThat(Files.readString(folder.resolve("asked")))
        .containsSubsequence(
            "--starttime=2026-11-01T00:00:00 --endtime=2026-11-02T00:00:00 --user=bob",
            "--starttime=2026-11-02T00:00:00 --endtime=2026-11-03T00:00:00 --user=bob",
            "--starttime=2026-11-03T00:00:00 --endtime=2026-11-03T12:00:00 --user=bob");
  }

  @Test
  void wrongOptionsAreRefused() {
    assertThat(terminal.type("look", "--all", "--user", "bob").err()).contains("--all and --user");
    assertThat(terminal.type("look", "--from", dump, "--gpu-type", "h200").err())
        .contains("--gpu-type: the price book has no price of 'h200'", "h100, a100");
    assertThat(terminal.type("look").err()).contains("there is no Slurm here", "look --from FILE");
  }
}
