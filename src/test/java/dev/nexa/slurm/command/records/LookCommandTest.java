package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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

  /** A job of a run is named after it, and its cause is known there. */
  @Test
  void theCauseOfOneOfOurOwnJobsIsAsked() throws IOException {
    Files.writeString(Path.of(dump), DUMP.replace("|train-1|", "|train_20261101_080000.3zaj44|"));

    assertThat(terminal.type("look", "--from", dump, "--since", "2026-11-01").out())
        .contains("nexa-slurm why 1  # names the line that failed; type it in that workspace");
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

            without a result, or not used (a job may be in several lines)
            JOBS                                            JOBS  GPU HOURS  CPU HOURS        COST
            used less than half of the GPUs                    1       38.4        0.0  144.00 USD
            ended with an error                                2       12.0       24.0   67.92 USD
            used less than half of the memory                  1        0.0        0.0    0.59 USD
            used less than half of the CPUs, without GPUs      1        0.0       14.4    0.58 USD
            ran out of memory                                  1        0.0        4.0    0.24 USD
            asked for more than four times the time needed     1        0.0        0.0    0.00 USD

            half of the jobs with GPUs waited at most 30 seconds, nine in ten at most 1 hour; the longest wait was 1 hour
            half of the jobs without GPUs waited at most 20 seconds, nine in ten at most 20 seconds; the longest wait was 20 seconds

            USER  JOBS  GPU HOURS  CPU HOURS        COST
            bob      2       48.0      208.0  196.64 USD
            ada      3       12.0       28.0   68.16 USD

            changes that would save most
            1. serve of bob: used less than half of the GPUs: 1 job, 38.4 GPU-hours, 144.00 USD; job 5
               nexa-slurm submit SCRIPT --wait  # `nexa-slurm monitor show latest` then shows when its GPUs do nothing
            2. train-# of ada: ended with an error: 2 jobs, 12.0 GPU-hours, 67.92 USD; job 1
               nexa-slurm submit SCRIPT --wait  # `nexa-slurm why latest` then names the line that failed
            3. prep of bob: used less than half of the memory: 1 job, 0.59 USD; job 4
               nexa-slurm submit SCRIPT --mem 13G  # a quarter more than any job of this name used on a node

            prices: examples of 2025-11-01, not your cluster's; put yours into configs/prices/default.yaml
            """);
    assertThat(screen.err())
        .isEqualTo(
            "note: the price book has no price for GPUs of the type gpu: they count as a100, unless you"
                + " type --gpu-type TYPE\n");
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

    assertThat(screen.err()).contains("no job ended in that time");
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

  /** A job of the same name that needs what it asks for is not advised to ask for less. */
  @Test
  void noJobIsAdvisedToAskForLessThanOneOfItsNameNeeds() {
    String head =
        "JobID|JobName|User|State|Submit|Start|End|ElapsedRaw|TimelimitRaw|AllocTRES|NTasks|MaxRSS|NodeList\n";
    String row =
        "%d|t_%<d|ada|%s|2026-11-01T08:00:00|2026-11-01T08:00:00|2026-11-02T08:00:00|%d|1440|cpu=4,mem=%s,node=%d|||n[1-%5$d]\n"
            + "%1$d.batch|batch||%2$s|2026-11-01T08:00:00|2026-11-01T08:00:00|2026-11-02T08:00:00|%3$d|||1|%6$s|\n";
    String one = row.formatted(1, "COMPLETED", 600, "64G", 1, "1G");

    assertThat(changes(head + one)).contains("--mem 2G", "--time 0-00:16:00");
    for (String state : List.of("OUT_OF_MEMORY", "TIMEOUT", "COMPLETED")) {
      String other = row.formatted(2, state, 86_400, "64G", 1, "60G");
      assertThat(changes(head + one + other)).as(state).doesNotContain("--mem", "--time 0");
    }
    // Four nodes with 64 GiB each: what it used is told of each node.
    assertThat(changes(head + row.formatted(1, "COMPLETED", 86_400, "256G", 4, "40G")))
        .contains("--mem 13G");
  }

  private String changes(String text) {
    terminal.file("some.txt", text);
    String file = terminal.workspace.resolve("some.txt").toString();
    return terminal.type("look", "--from", file).out().replaceFirst("(?s).*changes that", "");
  }

  /** A name can hold a whole row, but not the text that stands between our cells. */
  @Test
  void aJobsNameIsNotARow() {
    terminal.withSlurm();
    terminal.program(
        "sacct",
        "for one in \"$@\"; do case $one in --delimiter=*) d=${one#*=};; esac; done;"
            + " f=$(printf '\\037'); n=\"x${f}y\n9${f}9${f}c${f}evil${f}root${f}a${f}COMPLETED\";"
            + " echo \"JobID${d}JobName${d}User${d}State${d}End${d}ElapsedRaw${d}AllocTRES\";"
            + " printf \"7${d}$n${d}ada${d}FAILED${d}1762000000${d}60${d}cpu=1\\n\"");

    JsonObject look =
        terminal
            .type(
                "look", "--json", "--user", "ada", "--since", "2025-11-01", "--until", "2025-11-02")
            .json();

    assertThat(look.object("total").number("jobs")).isEqualTo(1);
    assertThat(look.objects("users")).isEmpty();
  }

  @Test
  void whatIsNotKnownIsSaidAndWhatWouldBeWrongIsRefused() {
    terminal.file("less.txt", DUMP.replace("|AllocTRES", "|Other"));
    String less = terminal.workspace.resolve("less.txt").toString();
    assertThat(terminal.type("look", "--from", less).err())
        .contains("has no column AllocTRES", "sacct -D -P --noconvert --format=");
    terminal.file("odd.txt", DUMP.replace("1|train-1|ada|FAILED|", "1|train-1|ada|NEWSTATE|"));
    String odd = terminal.workspace.resolve("odd.txt").toString();
    assertThat(terminal.type("look", "--from", odd).err()).contains("1 attempt is left out");
    terminal.file("huge.txt", DUMP.replace("h100=4", "h100=999999999999999999"));
    String huge = terminal.workspace.resolve("huge.txt").toString();
    assertThat(terminal.type("look", "--from", huge).err()).contains("2 attempts are left out");
  }

  @Test
  void aPageReplacesNothingButAPage() throws IOException {
    assertThat(terminal.type("look", "--from", dump, "--html", dump).err())
        .contains("a page is written to a file of its own");
    assertThat(terminal.type("look", "--from", dump, "--html", folder.toString()).err())
        .contains("is no regular file");
    assertThat(Files.readString(Path.of(dump))).isEqualTo(DUMP);
  }
}
