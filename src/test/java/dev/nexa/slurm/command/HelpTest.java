package dev.nexa.slurm.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal.Screen;
import dev.nexa.slurm.command.shared.CommandGroup;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class HelpTest {
  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder);
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandShowsAnExampleOfItself(String command) {
    Screen help = terminal.type((command + " --help").split(" ", -1));

    assertThat(help.exit()).isZero();
    assertThat(help.err()).isEmpty();
    assertThat(help.out()).startsWith("Usage: nexa-slurm " + command).contains("Example");
    assertThat(help.out()).doesNotContain("%%");
    String examples = help.out().substring(help.out().indexOf("Example"));
    assertThat(examples).contains("nexa-slurm " + command);
  }

  /** The sentence is written by hand: a new subcommand must not be forgotten there. */
  @Test
  void aGroupWithoutASubcommandNamesAllOfThem() {
    Map<String, CommandLine> groups = new LinkedHashMap<>();
    groups("", Commands.commandLine(new String[0], Map.of(), Path.of(""), null), groups);

    assertThat(groups).containsKeys("data", "sync", "costs import").hasSizeGreaterThan(10);
    groups.forEach(
        (name, group) -> {
          Screen screen = terminal.type(name.split(" ", -1));

          assertThat(screen.exit()).as(name).isEqualTo(2);
          assertThat(screen.err()).as(name).contains(group.getSubcommands().keySet());
        });
  }

  private static void groups(String path, CommandLine command, Map<String, CommandLine> groups) {
    command
        .getSubcommands()
        .forEach(
            (name, sub) -> {
              String here = (path + " " + name).strip();
              if (sub.getCommand() instanceof CommandGroup) {
                groups.put(here, sub);
              }
              groups(here, sub, groups);
            });
  }

  static List<String> commands() {
    CommandLine root = Commands.commandLine(new String[0], Map.of(), Path.of(""), null);
    List<String> names = new ArrayList<>();
    collect("", root, names);
    assertThat(names).contains("submit", "costs import csv", "sync push").hasSizeGreaterThan(60);
    return names;
  }

  private static void collect(String path, CommandLine command, List<String> names) {
    command
        .getSubcommands()
        .forEach(
            (name, sub) -> {
              String here = (path + " " + name).strip();
              if (!sub.getCommandSpec().usageMessage().hidden()) {
                names.add(here);
              }
              collect(here, sub, names);
            });
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource({"--fail-over, estimate, 20%", "--max-delete, sync push, 5%"})
  void theExampleOfAMissingValueCanBeTyped(String option, String command, String value) {
    Screen screen = terminal.type((command + " " + option).split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("for example: nexa-slurm " + command)
        .contains(option + " " + value + "\n");
  }

  @Test
  void theHelpOfAllListsTheCommandsAndTheExitCodes() {
    Screen help = terminal.type("--help");

    assertThat(help.exit()).isZero();
    assertThat(help.out())
        .contains(
            "submit",
            "estimate",
            "render",
            "status",
            "logs",
            "cancel",
            "reconcile",
            "runs",
            "costs",
            "init")
        .contains("generate-completion")
        .contains(
            "0 done",
            "1 a defect",
            "2 the command line",
            "3 needs an approval",
            "4 the scheduler",
            "5 --wait",
            "130 Ctrl-C")
        .contains("nexa-slurm submit configs/data/quickstart.yaml --local --wait");
  }

  @Test
  void theVersionNamesACommit() {
    Screen version = terminal.type("--version");

    assertThat(version.exit()).isZero();
    assertThat(version.out()).matches("nexa-slurm \\d+\\.\\d+\\.\\d+\\S* \\(commit \\S+\\)\\R");
  }

  @Test
  void completionIsAScriptThatKnowsTheCommands() {
    Screen completion = terminal.type("generate-completion");

    assertThat(completion.exit()).isZero();
    assertThat(completion.out())
        .startsWith("#!/usr/bin/env bash")
        .contains("reconcile", "--workspace");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          sumbit x.yaml          | Did you mean | submit
          reconcil               | Did you mean | reconcile
          submit x.yaml --dryrun | Did you mean | --dry-run
          cots --month last      | Did you mean | costs
          costs report           | shows what finished runs cost | nexa-slurm costs
          costs forecast         | has a forecast for each budget | nexa-slurm costs budget
          costs user=ada         | single quotes | --where 'project=nlp user=ada'
          costs --csv            | --csv: type | --format csv
          costs --account lab    | --account: type | --where account=lab
          costs -o x.csv         | -o: type | --format csv > FILE
          costs --by run --by user | Write all names into one | --by project,user
          submit x.yaml --wiat   | Did you mean | --wait
          status --jsno          | Did you mean | --json
          runs list --limt=3     | Did you mean | --limit
          runs shwo latest       | Did you mean | runs show
          cancle latest          | Did you mean | cancel
          recon                  | Did you mean | reconcile
          """)
  void aSlipOfTheFingersIsAnswered(String command, String question, String meant) {
    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).contains(question).contains(meant).contains("--help");
  }

  @Test
  void helpIsACommandToo() {
    assertThat(terminal.type("help")).isEqualTo(terminal.type("--help"));
    assertThat(terminal.type("help", "submit")).isEqualTo(terminal.type("submit", "--help"));
    assertThat(terminal.type("help", "runs", "list"))
        .isEqualTo(terminal.type("runs", "list", "--help"));
    assertThat(terminal.type("help", "submit").exit()).isZero();
    assertThat(terminal.type("help", "sumbit").err()).contains("Did you mean: nexa-slurm submit");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ls     | → nexa-slurm status
          ps     | → nexa-slurm status
          list   | → nexa-slurm runs list
          queue  | → nexa-slurm status
          rm     | → To end a run: nexa-slurm cancel train_20251101_143200
          kill   | → To end a run: nexa-slurm cancel train_20251101_143200
          stop   | → To end a run: nexa-slurm cancel train_20251101_143200
          run    | → To start a run: nexa-slurm submit CONFIG
          sbatch | → To start a run: nexa-slurm submit CONFIG
          can    | → nexa-slurm --help
          """)
  void aHabitOfAnotherProgramIsAnsweredWithoutADangerousGuess(String word, String advice) {
    Screen screen = terminal.type(word, "train_20251101_143200");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .startsWith("nexa-slurm: There is no command 'nexa-slurm " + word + "'")
        .contains(advice)
        .doesNotContainIgnoringCase("did you mean");
  }

  /**
   * First words that kubectl, git, docker, SkyPilot and Slurm know, with what is typed after them.
   */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          get pods             | nexa-slurm status  # shows the unfinished runs; nexa-slurm runs list  # lists all runs
          apply -f run.yaml    | To start a run: nexa-slurm submit run.yaml
          compose up           | To start a run: nexa-slurm submit CONFIG
          sbatch -N 2 job.sh   | To start a run: nexa-slurm submit job.sh
          launch -c a task.yml | To start a run: nexa-slurm submit task.yml
          down a               | To end a run: nexa-slurm cancel RUN
          log --oneline        | nexa-slurm runs list  # lists all runs; nexa-slurm logs latest  # prints the newest run's output
          inspect a            | nexa-slurm runs show latest  # shows the newest run; To show another run: nexa-slurm runs show RUN
          exec -it a bash      | To open a shell in a running job: nexa-slurm shell RUN; To start a run: nexa-slurm submit CONFIG
          salloc -N 1          | To open a shell in a running job: nexa-slurm shell RUN; To start a run: nexa-slurm submit CONFIG
          pause a              | To stop a run so that it can go on later: nexa-slurm interrupt RUN
          validate run.yaml    | To check a config and its cost: nexa-slurm estimate run.yaml; To see the job's script: nexa-slurm render run.yaml
          push origin          | To copy a folder to S3: nexa-slurm sync push DIR s3://BUCKET/PREFIX; To copy it back: nexa-slurm sync pull s3://BUCKET/PREFIX DIR
          build .              | nexa-slurm explain software.container  # how a run uses an image
          config view          | nexa-slurm init  # writes a cluster profile and example configs; nexa-slurm explain config  # lists the keys of a run's config
          sinfo -N             | To see the nodes: sinfo; To compare the partitions: nexa-slurm estimate CONFIG --compare; nexa-slurm prices show  # shows the prices
          seff 7               | To see what a run used: nexa-slurm monitor show 7
          scontrol show job 7  | It is Slurm's own command: scontrol show job 7
          cost-report          | nexa-slurm costs  # shows what finished runs cost; To see a price before a run: nexa-slurm estimate CONFIG
          version              | nexa-slurm --version
          """)
  void aFirstWordOfAnotherProgramIsAnsweredWithOurCommands(String typed, String advice) {
    Screen screen = terminal.type(typed.split(" ", -1));

    assertThat(screen.err())
        .isEqualTo(
            "nexa-slurm: There is no command 'nexa-slurm "
                + typed.split(" ", -1)[0]
                + "' [option-unknown]\n  → "
                + advice.replace("; ", "\n  → ")
                + "\n  → nexa-slurm --help\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          -v status      | -v       | --stacktrace shows more of an error; nexa-slurm -V prints the version
          --debug status | --debug  | --stacktrace shows more of an error; nexa-slurm -V prints the version
          -C /tmp status | -C       | type --workspace /tmp
          -q status      | -q       | the options of nexa-slurm are --licenses, --help, --version, --workspace, --stacktrace
          """)
  void anOptionBeforeTheCommandIsAnsweredWithThoseThatAreThere(
      String typed, String option, String advice) {
    assertThat(terminal.type(typed.split(" ", -1)).err())
        .isEqualTo(
            "nexa-slurm: Unknown option: '"
                + option
                + "' [option-unknown]\n  → "
                + advice
                + "\n  → nexa-slurm --help\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          scancel 7_3      | To end a run: nexa-slurm cancel 7_3
          sbatch train.sh  | To start a run: nexa-slurm submit train.sh
          kill -9 7        | To end a run: nexa-slurm cancel RUN
          run tests        | To start a run: nexa-slurm submit CONFIG
          """)
  void theRunOrTheScriptThatWasTypedIsInTheAnswer(String command, String advice) {
    assertThat(terminal.type(command.split(" ", -1)).err().lines()).contains("  → " + advice);
  }

  @Test
  void anUnknownOptionIsNamedWithoutItsValue() {
    assertThat(terminal.type("submit", "x.yaml", "--colour", "2").err())
        .startsWith("nexa-slurm: Unknown option: '--colour' [option-unknown]");
    assertThat(terminal.type("submit", "x.yaml", "--colour", "2", "--shape", "3").err())
        .startsWith("nexa-slurm: Unknown options: '--colour', '--shape' [option-unknown]");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          logs --wiat               | -f goes on until the run has ended
          status --wait             | nexa-slurm status --watch
          why --wait                | To wait for the end of a run: nexa-slurm logs -f RUN
          cancel --wiat             | To wait for the end of a run: nexa-slurm logs -f RUN
          logs --lines 5            | --tail N prints the last N lines
          status -u ada             | -u: status shows all unfinished runs; nexa-slurm runs list --where user=ada
          submit x.py --image a     | --image: type --set software.container=a
          submit x.py -n 4          | -n: leave it out, because the launcher starts one process for each GPU
          submit x.py -G 4          | -G: type --gpus N, the GPUs on each node; sbatch's -G counts
          estimate x.py --gres gpu:1 | --gres: type --gpus [TYPE:]N
          render x.py --job-nam a   | --job-name: type --name a
          submit x.yaml --colour red | the nearest options are
          submit x.py --cpus 3 --epochs 3 --lr=1 --time 1h | an option of the script comes after --: nexa-slurm submit x.py --cpus 3 --time 1h -- --epochs 3 --lr=1
          submit --epochs 3 x.py -- a | an option of the script comes after --: nexa-slurm submit x.py -- --epochs 3 a
          submit -f job.yaml        | -f: type the config without an option: nexa-slurm submit job.yaml
          submit x.yaml --qos=high  | --qos: type --set resources.qos=high
          submit x.yaml --export A=B | --export: type --set env.NAME=VALUE for each variable
          status -u                 | -u: status shows all unfinished runs; nexa-slurm runs list --where user=NAME
          """)
  void anUnknownOptionIsAnsweredWithWhatDoesThatHere(String command, String advice) {
    Screen screen = terminal.type(command.split(" +", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).startsWith("nexa-slurm: Unknown option").contains("→ " + advice);
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          init myproject|                  nexa-slurm init --workspace myproject  # makes a workspace there
          cron install */10_*_*_*_*|       nexa-slurm cron install --every 10m
          cron install 5_*/2_*_*_*|        nexa-slurm cron install --every 2h
          cron install 30_2_*_*_*|         nexa-slurm cron install --every 24h
          cron install 10m|                nexa-slurm cron install --every 10m
          submit job.yaml lr=0.01 --local| To change a key of job.yaml: nexa-slurm submit job.yaml --set lr=0.01 --local
          submit job.yaml ++a.b=1|         To change a key of job.yaml: nexa-slurm submit job.yaml --set a.b=1
          submit job.yaml twice|           Write it into job.yaml; only a script takes arguments
          serve org/Model-8B|              nexa-slurm serve configs/serve/science.yaml --set model_name=org/Model-8B  # serves it by the example's config
          --workspace CONFIGS status|      nexa-slurm --workspace FOLDER status
          """)
  void theAnswerIsTheWholeCommand(String command, String advice) {
    terminal.file("configs/policy.yaml", "approval_over: {amount: 1, currency: USD}\n");
    terminal.file("job.yaml", "stage: data\nbackend: shell\nrun: echo\nresources: {time: 1m}\n");
    String folder = terminal.workspace.toAbsolutePath().normalize().toString();
    List<String> words =
        Stream.of(command.replace("CONFIGS", folder + "/configs").split(" ", -1))
            .map(word -> word.replace('_', ' '))
            .toList();

    Screen screen = terminal.type(words.toArray(String[]::new));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err().lines()).contains("  → " + advice.replace("FOLDER", folder));
  }

  @Test
  void theShortOptionsOfSbatchAreKnown() {
    terminal.file("x.sh", "true\n");

    assertThat(
            terminal
                .type(
                    "render", "x.sh", "-N2", "-c", "4", "-t", "2h", "-p", "gpu", "-J", "sft", "-A",
                    "nlp")
                .out())
        .contains("#SBATCH --nodes=2", "#SBATCH --cpus-per-task=4", "#SBATCH --time=0-02:00:00")
        .contains("#SBATCH --partition=gpu", "#SBATCH --account=nlp");
    assertThat(terminal.type("submit").err())
        .contains("→ for example: nexa-slurm submit configs/train/science.yaml");
  }

  @ParameterizedTest(name = "[{0}]")
  @CsvSource(
      delimiter = '|',
      nullValues = "",
      textBlock =
          """
          --workspace            | --workspace
          runs                   | runs list
          submit                 | CONFIG
          cancel                 | RUN
          submit a.yaml b.yaml   | b.yaml
          logs --task x          | --task
          reconcile --watch soon | --watch
          cron                   | cron install
          runs list --limit x    | --limit
          """)
  void aWrongCommandLineIsToldWithWhatIsWrong(String command, String said) {
    Screen screen = terminal.type(command.split(" ", -1));

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.out()).isEmpty();
    assertThat(screen.err()).startsWith("nexa-slurm: ").contains(said);
  }

  @Test
  void aSecondWorkspaceInAWorkspaceIsMadeOnlyWhereItIsNamed() {
    terminal.file("configs/policy.yaml", "").file("sub/a.txt", "");
    Path sub = terminal.workspace.resolve("sub");

    assertThat(terminal.at(sub).type("init", "--cluster", "a").err())
        .isEqualTo(
            "nexa-slurm: "
                + sub
                + " is in the workspace "
                + terminal.workspace
                + "; a second one does not see its runs and budgets [options-conflict]\n"
                + "  → to write what that workspace lacks, add: --workspace "
                + terminal.workspace
                + "\n"
                + "  → to make a second one here, add: --workspace .\n");
    assertThat(sub.resolve("configs")).doesNotExist();
    assertThat(terminal.type("init", "--workspace", sub.toString()).exit()).isZero();
    assertThat(terminal.type("init").exit()).isZero();
  }

  @Test
  void withoutACommandOneIsAskedFor() {
    Screen screen = terminal.type();

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).contains("a command is needed").contains("nexa-slurm --help");
  }
}
