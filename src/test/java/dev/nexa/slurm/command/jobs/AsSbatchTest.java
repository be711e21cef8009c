package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code submit --wrap} and {@code submit --as-sbatch}, on a Slurm that only seems to be there. */
class AsSbatchTest {
  @TempDir Path folder;

  private Terminal terminal;
  private String job;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm();
    terminal.file("job.sh", "#!/bin/sh\n#SBATCH -t 5 -c 2 --mem 100\necho \"$@\"\n");
    job = terminal.workspace.resolve("job.sh").toString();
  }

  private Screen sbatch(String... words) {
    List<String> all = new ArrayList<>(List.of("submit", "--as-sbatch"));
    all.addAll(List.of(words));
    return terminal.type(all.toArray(String[]::new));
  }

  private String script() {
    return DurableFiles.read(runs().resolve("job.sbatch"));
  }

  private String command() {
    return DurableFiles.read(runs().resolve("runner/run.sh"));
  }

  private Path runs() {
    return terminal.workspace.resolve("runs/latest");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          4711   | -Q            | ''
          4711   | --pars -Q     | ''
          4711   | --mem=1       | Submitted batch job 4711
          4711   | --parsable    | 4711
          4711;c | --pars        | 4711;c
          """)
  void stdoutIsWhatSbatchPrints(String answer, String option, String printed) {
    terminal.program("sbatch", "echo '" + answer + "'");

    Screen screen = sbatch((option + " " + job).split(" "));

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out().strip()).isEqualTo(printed);
    assertThat(screen.err()).doesNotContain("--save");
    assertThat(screen.err().contains("USD")).isEqualTo(!option.endsWith("-Q"));
  }

  @Test
  void theCommandLineWinsOverVariablesAndTheyOverTheScript() {
    terminal.with("SBATCH_TIMELIMIT", "6").with("SBATCH_MEM_PER_NODE", "200");
    terminal.with("SBATCH_USE_MIN_NODES", "").with("SBATCH_OVERCOMMIT", "no");
    terminal.with("SBATCH_REQ_SWITCH", "1").with("SBATCH_WAIT4SWITCH", "9");

    Screen screen = sbatch("-t7", job);

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(script())
        .contains(
            "#SBATCH --time=0-00:07:00",
            "#SBATCH --mem=200M",
            "#SBATCH --cpus-per-task=2",
            "#SBATCH --use-min-nodes\n",
            "#SBATCH --switches=1@9\n")
        .doesNotContain("overcommit");
    assertThat(screen.err())
        .contains("note: from SBATCH_MEM_PER_NODE: --mem 200M\n")
        .doesNotContain("SBATCH_TIMELIMIT");
    assertThat(terminal.type("submit", job, "--time", "8m").exit()).isZero();
    assertThat(script()).contains("#SBATCH --time=0-00:08:00", "#SBATCH --mem=200M");
  }

  @Test
  void aConfigDoesNotReadThem() {
    terminal.with("SBATCH_ACCOUNT", "other");
    terminal.file("run.yaml", "backend: shell\nrun: echo\nresources: {time: 1h}\n");

    assertThat(terminal.type("submit", "run.yaml", "--set", "stage=data").err())
        .contains("note: SBATCH_ACCOUNT is not used: a config says what the job gets");
    assertThat(script()).doesNotContain("#SBATCH --account");
  }

  @Test
  void optionsEndAtTheScript() {
    assertThat(
            sbatch("-N1", "-n", "1", "-t3", "--cpus-per-t=1", job, "-t9", "--parsable", "a b")
                .exit())
        .isZero();

    assertThat(script()).contains("#SBATCH --time=0-00:03:00");
    assertThat(command()).contains("job.sh\" -t9 --parsable 'a b'");
    assertThat(sbatch("--", job, "--", "x").exit()).isZero();
    assertThat(command()).contains("job.sh\" -- x");
  }

  @Test
  void theScriptMayComeOnStandardInput() {
    terminal.answering("#!/usr/bin/env python3\n#SBATCH -t 3\nprint()\n");

    assertThat(sbatch("--mem=50").out()).isEqualTo("Submitted batch job 4711\n");
    assertThat(script()).contains("#SBATCH --time=0-00:03:00", "#SBATCH --mem=50M");
    assertThat(command()).contains("exec \"$NEXA_RUN_DIR/runner/sbatch\"");
    assertThat(runs().resolve("runner/sbatch")).content().contains("print()");
  }

  @Test
  void wrapRunsACommandWithSh() {
    String asked = "echo 'a  b'\n  tr \"x\" | cat";

    assertThat(sbatch("-t1", "--wrap", asked).exit()).isZero();
    assertThat(command())
        .endsWith(
            "slurm-\"$SLURM_JOB_ID\".out || exit\nexec /bin/sh -c 'echo '\\''a  b'\\''\n  tr \"x\" | cat'\n");
    Screen ours = terminal.type("submit", "--wrap", asked, "-t", "1m", "--save", saved());
    assertThat(ours.exit()).as(ours.err()).isZero();
    assertThat(command())
        .isEqualTo(
            "export SLURM_JOB_NAME=wrap\nunset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK\nexec /bin/sh -c 'echo '\\''a  b'\\''\n  tr \"x\" | cat'\n");
    String before = script();
    assertThat(terminal.type("submit", saved()).exit()).isZero();
    assertThat(script()).isEqualTo(before);
    assertThat(terminal.type("submit", "--wrap", "true", "run.yaml").err())
        .contains("'run.yaml': --wrap takes no script");
    assertThat(terminal.type("submit").err()).contains("Missing required parameter: 'CONFIG'");
  }

  private String saved() {
    return terminal.workspace.resolve("saved.yaml").toString();
  }

  @Test
  void theFilesForTheOutputAreNamedAsSbatchDoes() {
    sbatch("-J", "a(b)", "-o", "/l/%x_%A_%a_%4j%%_%q", "-e", "e\\%j", "--open-mode=append", job);

    String log =
        "/l/'a(b)'_\"${NEXA_JOB%_*}\"_\"${SLURM_ARRAY_TASK_ID:-4294967294}\"_\"$(printf %04d \"$SLURM_JOB_ID\")\"%'_%q'";
    assertThat(command())
        .isEqualTo(
            "export SLURM_JOB_NAME='a(b)'\n"
                + "mkdir -p -- \"$NEXA_RANK_LOGS\" && ln -sfT -- \"$(realpath -ms -- 'e%j')\""
                + " \"$NEXA_RANK_LOGS/stderr.log\"\n"
                + "mkdir -p -- \"$(dirname -- "
                + log
                + ")\"\n[[ ! -f %s || -L %s ]] || cat -- %s\n".replace("%s", log)
                + "ln -sfT -- \"$NEXA_LOG\" "
                + log
                + " || exit\nexec \"$NEXA_RUN_DIR/runner/job.sh\" 2>>'e%j'\n");
    sbatch("-o", "/dev/null", job);
    assertThat(command()).endsWith("\nexec \"$NEXA_RUN_DIR/runner/job.sh\"\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --bogus job.sh             | sbatch: --bogus: sbatch has no such option
          missing.sh                 | no such file:
          --wrap true x              | 'x': --wrap takes no script
          --core-spec=2 JOB          | sbatch: --core-spec=2: nexa-slurm does not take this option
          --signal=B:TERM@9 JOB      | nexa-slurm's own shell gets this signal
          plain.sh                   | no such file
          """)
  void whatIsRefusedEndsWithOneAsAtSbatch(String words, String message) {
    Screen screen = sbatch(words.replace("JOB", job).split(" "));

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains(message);
    assertThat(terminal.argv("sbatch")).isEmpty();
    terminal.with("SLURM_EXIT_ERROR", "77");
    assertThat(sbatch(words.replace("JOB", job).split(" ")).exit()).isEqualTo(77);
  }

  @Test
  void slurmsRefusalEndsWithOne() {
    terminal.program("sbatch", "echo 'sbatch: error: invalid partition' >&2; exit 1");

    Screen screen = sbatch(job);

    assertThat(screen.exit()).isEqualTo(1);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains("invalid partition");
  }

  @Test
  void overTheLimitItEndsWithThreeAndSaysHowToGoOn() {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 0, currency: USD}\n");

    Screen screen = sbatch("-t2:00:00", job);

    assertThat(screen.exit()).isEqualTo(3);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains("[needs-approval]", "→ nothing was submitted");
  }

  @Test
  void testOnlySubmitsNothing() {
    Screen screen = sbatch("--test-only", job);

    assertThat(screen.exit()).isZero();
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains("# Nothing was submitted", "USD");
    assertThat(terminal.workspace.resolve("runs")).doesNotExist();
  }

  @Test
  void sbatchItselfSaysItsVersion() {
    terminal.program("sbatch", "echo \"fake $*\"");

    assertThat(Stream.of("--version", "-V", "--help").map(one -> sbatch(one).out()))
        .containsExactly("fake --version\n", "fake --version\n", "fake --help\n");
  }

  @Test
  void aJobMayWaitForOthers() {
    String key = terminal.type("submit", "--json", job).json().objects("jobs").get(0).text("name");
    terminal.program("squeue", Terminal.queueRow(4711, 0, "PENDING", "None", key));
    String argv = terminal.bin.resolve("sbatch.argv").toString();
    terminal.program("sbatch", "printf '%s\\n' \"$@\" >" + argv + "; echo 4713");

    assertThat(sbatch("-d", "afterok:4711", job).out()).isEqualTo("Submitted batch job 4713\n");
    assertThat(terminal.argv("sbatch")).contains("--dependency=afterok:4711");
  }

  @Test
  void optionsOfOursStandBeforeIt() {
    Screen screen = terminal.type("submit", "--set", "tags=[project:x]", "--as-sbatch", job);

    assertThat(screen.out()).isEqualTo("Submitted batch job 4711\n");
    assertThat(DurableFiles.read(runs().resolve("plan.json"))).contains("project:x");
    assertThat(terminal.type("submit", "--json", "--as-sbatch", job).exit()).isEqualTo(2);
  }
}
