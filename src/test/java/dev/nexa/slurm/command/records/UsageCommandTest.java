package dev.nexa.slurm.command.records;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsageCommandTest {
  private static final String DUMP =
      "JobID|JobIDRaw|JobName|User|State|ElapsedRaw|AllocCPUS|AllocTRES|Start|End\n"
          + "12_1|13|a|ada|COMPLETED|3600|4|cpu=4,gres/gpu:a100=2,gres/gpu=2,mem=1G"
          + "|2026-07-01T10:00:00|2026-07-01T11:00:00\n"
          + "12_[2-9%4]|12|a|ada|PENDING|0|0||Unknown|Unknown\n"
          + "20+0|20|b|bob|COMPLETED|60|1|cpu=1|2026-06-01T10:00:00|2026-06-01T10:01:00\n"
          + "20+1|21|b|bob|COMPLETED|60|2|cpu=2|2026-06-01T10:00:00|2026-06-01T10:01:00\n"
          + "nonsense\n";

  @TempDir Path folder;

  private Terminal terminal;
  private String dump;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).file("dump.txt", DUMP);
    dump = terminal.workspace.resolve("dump.txt").toString();
  }

  /** A sacct of its own, which has one field fewer than we want and keeps its arguments. */
  private void sacct(String answer) {
    terminal.withSlurm();
    terminal.program(
        "sacct",
        "if [ \"$1\" = --helpformat ]; then echo 'JobID JobIDRaw State  Elapsed'; echo 'ElapsedRaw'; exit; fi\n"
            + "case \"$*\" in *MaxRSS*) echo 'sacct: fatal: Invalid field requested: \"MaxRSS\"' >&2; exit 1;; esac\n"
            + ("printf '%s\\n' \"$@\" >" + folder.resolve("bin/sacct.argv") + "\n")
            // The text between two cells is another one in each call.
            + "for one in \"$@\"; do case $one in --delimiter=*) d=${one#*=};; esac; done\n"
            + answer);
  }

  @Test
  void aDumpIsShownAsATableAndAsJson() {
    Screen table = terminal.type("usage", "--from", dump);

    assertThat(table.exit()).isZero();
    assertThat(table.out()).contains("12_[2-9]  ada   PENDING").contains("4 jobs");
    assertThat(table.err()).contains("line 6").contains("nonsense");

    JsonObject json = terminal.type("usage", "--from", dump, "--json").json();
    assertThat(json.number("schema_version")).isEqualTo(1);
    assertThat(json.objects("jobs")).hasSize(4);
    assertThat(json.objects("jobs").get(0).number("gpu_seconds")).isEqualTo(7200);
    assertThat(json.objects("problems").get(0).number("line")).isEqualTo(6);
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          ''                                                     ; could be read: it is empty
          '{\"meta\":{},\"data\":[]}'                            ; the document has no list \"jobs\"
          '{\"jobs\":[{\"id\":1}]}'                              ; a job without a job_id
          'JobID,Customer,Amount|7,acme,10'                      ; the header is not sacct's: of JobID, Customer, Amount
          'JobID,State|a,b|c,d'                                  ; not a row
          """)
  void whatIsNoDumpIsRefused(String text, String said) {
    terminal.file("other.txt", text.replace('|', '\n'));

    Screen screen =
        terminal.type("usage", "--from", terminal.workspace.resolve("other.txt").toString());

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains(said).contains("sacct");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = ';',
      textBlock =
          """
          'JobID,State'
          '{\"jobs\":[]}'
          'JobID,State,Foo'
          """)
  void noJobIsNoFailure(String text) {
    terminal.file("other.txt", text);

    assertThat(
            terminal
                .type("usage", "--from", terminal.workspace.resolve("other.txt").toString())
                .exit())
        .isZero();
  }

  @Test
  void aChoiceThatTheFileCantMakeIsTold() {
    terminal.file("other.txt", "JobID,State\n7,COMPLETED\n");
    String other = terminal.workspace.resolve("other.txt").toString();

    Screen user = terminal.type("usage", "--from", other, "--user", "ada");
    assertThat(user.exit()).isEqualTo(2);
    assertThat(user.err()).contains("names the job's user", "column User");

    Screen since = terminal.type("usage", "--from", other, "--since", "7d");
    assertThat(since.exit()).isZero();
    assertThat(since.err()).contains("--since: no row of", "column End");
  }

  @Test
  void whatTheSinceMeantIsTold() {
    String since = "usage --timezone Europe/Berlin --since 2026-06-15 --from " + dump;

    assertThat(terminal.type(since.split(" ", -1)).out())
        .contains("active since 2026-06-15T00:00:00+02:00 (Europe/Berlin)");
    JsonObject json = terminal.type((since + " --json").split(" ", -1)).json();
    assertThat(json.text("timezone")).isEqualTo("Europe/Berlin");
    assertThat(json.text("since")).isEqualTo("2026-06-14T22:00:00Z");
  }

  /** sacct … | nexa-slurm usage --from /dev/stdin: what can't be sought through. */
  @Test
  void aPipeIsReadLikeAFile() throws Exception {
    Path pipe = folder.resolve("pipe");
    new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor();
    Process writer = new ProcessBuilder("sh", "-c", "cat '" + dump + "' >'" + pipe + "'").start();

    assertThat(terminal.type("usage", "--from", pipe.toString()).out()).contains("4 jobs");
    assertThat(writer.waitFor()).isZero();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "12, 2",
    "13, 1",
    "12_1, 1",
    "12_5, 1",
    "20, 2",
    "20+1, 1",
    "21, 1",
    "--user ada, 2",
    "12 --user bob, 0",
    "--since 2026-06-15, 2",
    "--since 2026-06-01T10:00:30Z, 4",
  })
  void jobsAreChosen(String arguments, int jobs) {
    Screen screen =
        terminal.type(
            ("usage --json --timezone UTC --from " + dump + " " + arguments).split(" ", -1));

    assertThat(screen.json().objects("jobs")).hasSize(jobs);
  }

  @Test
  void timesAreOfTheZoneThatIsNamed() {
    JsonObject job =
        terminal
            .type("usage", "--json", "--from", dump, "--timezone", "Europe/Berlin", "12_1")
            .json()
            .objects("jobs")
            .get(0);

    assertThat(job.objects("attempts").get(0).text("start")).isEqualTo("2026-07-01T08:00:00Z");
  }

  @Test
  void aJobThatIsNotThereIsNamed() {
    Screen screen = terminal.type("usage", "--from", dump, "12_1", "99");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).contains("12_1");
    assertThat(screen.err()).contains("there is no job 99").contains("squeue --jobs=99");
  }

  @Test
  void sacctIsAskedForTheFieldsItHas() {
    sacct("echo \"JobID${d}JobIDRaw${d}State${d}ElapsedRaw\"; echo \"7_1${d}8${d}FAILED${d}60\"");

    Screen screen = terminal.type("usage", "7", "--since", "2026-01-01T00:00:00Z", "--json");

    assertThat(screen.err()).isEmpty();
    assertThat(screen.exit()).isZero();
    assertThat(screen.json().objects("jobs").get(0).number("array_task")).isEqualTo(1);
    assertThat(terminal.argv("sacct").get(3)).matches("--delimiter=\u001f[0-9a-f]{8,}");
    assertThat(terminal.argv("sacct"))
        .containsExactly(
            "--parsable2",
            "--duplicates",
            "--noconvert",
            terminal.argv("sacct").get(3),
            "--format=JobID,JobIDRaw,State,ElapsedRaw",
            "--starttime=2026-01-01T00:00:00",
            "--jobs=7",
            "--allusers");
  }

  @Test
  void aUsersJobsAreAskedForByName() {
    sacct("echo \"JobID${d}JobIDRaw${d}State${d}ElapsedRaw\"");

    Screen screen = terminal.type("usage", "--user", "ada");

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).contains("0 jobs");
    assertThat(screen.err()).contains("accounting has no job that the options select");
    assertThat(terminal.argv("sacct")).contains("--user=ada").doesNotContain("--allusers");
    assertThat(terminal.argv("sacct")).anyMatch(argument -> argument.startsWith("--starttime="));
  }

  @Test
  void withoutAccountingItSaysWhatToType() {
    sacct("echo 'Slurm accounting storage is disabled' >&2; exit 1");

    Screen screen = terminal.type("usage", "7");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.err())
        .contains("keeps no accounting")
        .contains("scontrol show job")
        .contains("runs show");
  }

  @Test
  void withoutSlurmItSaysWhatToType() {
    Screen screen = terminal.type("usage", "7");

    assertThat(screen.exit()).isEqualTo(4);
    assertThat(screen.err()).contains("usage --from FILE");
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          usage                                   | usage JOBID
          usage --since 7d                        | --user $USER
          usage latest                            | expected a job id such as 123
          usage 12_[1-4]                          | expected a job id
          usage 12 --since soon                   | --since: expected a time such as 7d
          usage 12 --since 2999-01-01             | --since: 2999-01-01 is in the future
          usage 12 --delimiter ;                  | --delimiter says what the file of --from is like
          usage 12 --fields JobID                 | --fields says what the file of --from is like
          usage --from no-such-file               | cannot read
          usage --from x --timezone Mars          | --timezone: expected a zone
          usage --from x --fields State,User      | JobID among the columns
          """)
  void aWrongCommandLineIsToldWithWhatIsWrong(String command, String said) {
    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains(said);
  }
}
