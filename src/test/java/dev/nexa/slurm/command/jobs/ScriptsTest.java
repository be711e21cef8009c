package dev.nexa.slurm.command.jobs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.base.files.DurableFiles;
import dev.nexa.slurm.base.json.JsonObject;
import dev.nexa.slurm.command.Person;
import dev.nexa.slurm.command.Terminal;
import dev.nexa.slurm.command.Terminal.Screen;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.Model.OptionSpec;

/** A script in place of a config, and the options that people know from sbatch. */
class ScriptsTest {
  private static final String RUN =
      "stage: train\nbackend: shell\nrun: echo\nresources: {time: 1h}\n";

  @TempDir Path folder;

  private Terminal terminal;
  private Path saved;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder).withSlurm().file("run.yaml", RUN);
    terminal
        .file("train.py", "print()\n")
        .file("job.sh", "#SBATCH --time=5\n#SBATCH --output=x.log\necho \"$@\"\n");
    saved = terminal.workspace.resolve("saved.yaml");
  }

  @Test
  void anOptionIsTheSameAsSetOfItsKey() {
    Screen options =
        type(
            "estimate run.yaml --json --nodes 2 --gpus h100:4 --cpus 8 --mem 64G --time 2h"
                + " --partition gpu --account nlp --name sft");
    Screen set =
        type(
            "estimate run.yaml --json --set resources.nodes=2 --set resources.gpus_per_node=4"
                + " --set resources.gpu_type=h100 --set resources.cpus_per_task=8"
                + " --set resources.memory=64G --set resources.time=2h"
                + " --set resources.partition=gpu --set resources.account=nlp --set name=sft");

    assertThat(options.exit()).as(options.err()).isZero();
    assertThat(options.out()).isEqualTo(set.out());
    assertThat(type("render run.yaml --time 90m --partition gpu").out())
        .contains("#SBATCH --time=0-01:30:00", "#SBATCH --partition=gpu");
  }

  @Test
  void aSubmittedRunHasTheOptionsInItsPlan() {
    String run = type("submit run.yaml --time 2h --cpus 3 --json").json().text("run_id");

    assertThat(DurableFiles.read(terminal.workspace.resolve("runs/" + run + "/plan.json")))
        .contains("\"cpus_per_task\": 3")
        .contains("\"time_limit\": \"0-02:00:00\"");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          --nodes 2 --set resources.nodes=3 | --nodes 2 and --set resources.nodes=3 both set resources.nodes
          --gpus a100:2 --set resources.gpu_type=h100 | --gpus a100:2 and --set resources.gpu_type=h100 both set resources.gpu_type
          --save x.yaml | --save x.yaml: run.yaml is a config already
          -- --lr 3 | '--lr': only a script takes arguments, and run.yaml is a config
          hours     | 'hours' is no option; only options and one config or script stand before --
          """)
  void optionsThatContradictEachOtherAreRefused(String options, String message) {
    Screen screen = type("estimate run.yaml " + options);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).startsWith("nexa-slurm: " + message + " [options-conflict]\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          train.py -t 2 hours                | 'hours' is no option; only options | Did you mean --time 2h?
          -t 2 Hours train.py                | 'Hours' is no option; only options | Did you mean --time 2h?
          train.py --mem 32 GB               | 'GB' is no option; only options | Did you mean --mem 32G?
          train.py --gpus 2 h100             | 'h100' is no option; only options | Did you mean --gpus h100:2?
          train.py lr=3 --gpus 1 -- x        | 'lr=3' is no option; only options | If it is an argument of the script: nexa-slurm estimate train.py --gpus 1 -- lr=3 x
          train.py --gpus 2:h100             | --gpus 2:h100: expected N or TYPE:N for each node, such as 2 or h100:2 | type --gpus h100:2
          train.py --gpus h100               | --gpus h100: expected N or TYPE:N | type --gpus h100:1, if the cluster has GPUs of the type h100
          train.py --gpus h100x4             | --gpus h100x4: expected N or TYPE:N | type --gpus h100:4, if
          train.py --gpus h100=4             | --gpus h100=4: expected N or TYPE:N | type --gpus h100:4, if
          train.py --gpus 4xh100             | --gpus 4xh100: expected N or TYPE:N | type --gpus h100:4, if
          train.py --gpus 4h100              | --gpus 4h100: expected N or TYPE:N | type --gpus h100:4, if
          train.py --gpus gpu:h100:4         | --gpus gpu:h100:4: expected N or TYPE:N | type --gpus h100:4, if
          train.py --gpus gpu:4              | --gpus gpu:4: expected N or TYPE:N | type --gpus 4
          train.py --gpus rtx6000x2          | --gpus rtx6000x2: expected N or TYPE:N | type --gpus rtx6000:2, if
          train.py --set resources.nodes 2   | '2' is no option; only options | Did you mean --set resources.nodes=2?
          train.py --set resources.nodes = 2 | '=' is no option; only options | Did you mean --set resources.nodes=2?
          run.yaml run.yaml                  | 'run.yaml' is a second config; expected one | type one command for each config
          train.py run.yaml                  | 'run.yaml' is no option; only options | If it is an argument of the script: nexa-slurm estimate train.py -- run.yaml
          train.py run.yaml job.sh -- x      | 'run.yaml' is no option; only options | If it is an argument of the script: nexa-slurm estimate train.py -- run.yaml job.sh x
          run.yaml -- --steps 3              | '--steps': only a script takes arguments | --set 'entrypoint.args=[--steps,3]'
          train.py --tag x                   | Unknown option: '--tag' | --tag: type --set 'tags=[project:NAME]'
          train.py --json=1                  | --json takes no value; leave out '=1' | --help
          python train.py                    | 'python' is neither a config nor a script    | Leave out python: nexa-slurm estimate train.py
          -- python3.11 train.py --lr 3      | 'python3.11' is neither a config nor a script | Leave out python3.11: nexa-slurm estimate train.py -- --lr 3
          --name bash python train.py --lr 3 | 'python' is neither a config nor a script    | Leave out python: nexa-slurm estimate --name bash train.py -- --lr 3
          torchrun --nproc 4 --rdzv x train.py | 'torchrun' is neither a config nor a script | Leave out torchrun: nexa-slurm estimate --gpus 4 train.py
          torchrun --nproc-per-node=4 --nnodes 2 train.py | 'torchrun' is neither a config | Leave out torchrun: nexa-slurm estimate --gpus 4 --nodes 2 train.py
          accelerate launch --num_processes 4 train.py | 'accelerate' is neither a config  | Leave out accelerate: nexa-slurm estimate --gpus 4 train.py
          srun -n 4 --gpus=2 python train.py | 'srun' is neither a config nor a script      | Leave out srun: nexa-slurm estimate --gpus 2 train.py
          bash job.sh a                      | 'bash' is neither a config nor a script      | Leave out bash: nexa-slurm estimate job.sh -- a
          python -m my.module                | 'python' is neither a config nor a script    | entrypoint: {module: my.module}
          python -c 1                        | 'python' is neither a config nor a script    | Write the command into a script
          crlf.sh                            | crlf.sh has the line ends of Windows         | sed -i 's/\\r$//' crlf.sh
          notes.ipynb                        | notes.ipynb is neither a config (.yaml) nor a script (.py or .sh) | jupyter nbconvert --to script notes.ipynb
          """)
  void whatIsNoConfigAndNoScriptIsAnsweredWithTheCommandToType(
      String typed, String message, String advice) {
    terminal.file("crlf.sh", "echo a\r\necho b\r\n").file("notes.ipynb", "{}");

    Screen screen = type("estimate " + typed);

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err()).startsWith("nexa-slurm: " + message).contains("→ ").contains(advice);
  }

  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"my train.py", "my run.yaml", "my old run.yaml"})
  void aNameWithBlanksIsGivenItsQuotes(String name) throws Exception {
    Path file = Files.writeString(folder.resolve(name), RUN);

    assertThat(type("estimate " + file + " --json").err())
        .isEqualTo(
            "nexa-slurm: the name of a file with a blank needs quotes: '"
                + file
                + "' [options-conflict]\n  → nexa-slurm estimate '"
                + file
                + "'\n");
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          serve | 2:10: backend: 'shell' starts no server; only vllm does: `submit` it
          train | 1:8: stage: is no server; write stage: serve and backend: vllm, or `submit` it
          """)
  void whatIsNoServerIsToldWhichKeySaysSo(String stage, String problem) {
    terminal.file("server.yaml", RUN.replace("train", stage));

    assertThat(type("serve server.yaml --dry-run").err())
        .isEqualTo(
            "nexa-slurm: "
                + terminal.workspace
                + "/server.yaml:"
                + problem
                + " [config-conflict]\n");
  }

  @Test
  void aScriptNeedsNoEndingOfOurs() {
    terminal.file("job.slurm", "#!/bin/bash\n#SBATCH --comment=c --qos=high\necho\n");
    terminal.file("tool", "#!/usr/bin/env python3\nprint()\n");

    Screen shell = type("render job.slurm");

    assertThat(shell.exit()).as(shell.err()).isZero();
    assertThat(shell.out()).contains("run.sh");
    assertThat(shell.err())
        .contains(
            "from the #SBATCH lines of job.slurm: --set resources.qos=high --set resources.sbatch_options=--comment=c\n",
            "--save job.yaml");
    assertThat(type("render tool").out()).contains("python3 \"$NEXA_RUN_DIR\"/runner/tool");
  }

  @Test
  void theHelpShowsThemTogether() {
    for (String command : new String[] {"submit", "estimate", "render"}) {
      String help = type(command + " --help").out();

      assertThat(help.substring(help.indexOf("The same as --set of a key:")))
          .contains("--nodes=N", "--gpus=[TYPE:]N", "not of the whole job", "--mem=SIZE");
    }
    assertThat(type("serve --help").out()).doesNotContain("--nodes");
  }

  @Test
  void whatSaveCannotHoldStandsInTheCommandThatRunsItAgain() {
    String line = "estimate --save " + saved + " train.py --time 2h --set software.venv=/my/venv";

    Screen first = type(line);
    Screen again = type(line);
    Screen other = type(line.replace("2h", "3h"));

    String command = "nexa-slurm submit " + saved + " --set software.venv=/my/venv";
    assertThat(first.exit()).as(first.err()).isZero();
    assertThat(first.err())
        .contains(
            "wrote "
                + saved
                + ", which does not hold --set software.venv=/my/venv: "
                + command
                + " runs it again\n");
    assertThat(again.exit()).as(again.err()).isZero();
    assertThat(again.err()).contains("found " + saved, command);
    assertThat(other.exit()).isEqualTo(2);
    assertThat(other.err()).contains("exists already");
  }

  @Test
  void aScriptIsPlannedAsTheConfigThatSaveWrites() {
    String options =
        " train.py --json --nodes 2 --gpus h100:4 --mem 64G --time 2h --set lr=1e-4 -- --epochs 3 x=1";

    Screen script = type("estimate" + options);
    Screen kept = type("estimate --save " + saved + options);
    Screen again = type("estimate " + saved + " --json");

    assertThat(script.exit()).as(script.err()).isZero();
    assertThat(script.err())
        .isEqualTo(
            "note: to keep this as a config, add --save train.yaml\n"
                + "note: the stage is train, by the script's name; --set stage=NAME changes it\n"
                + "note: the program does not get lr, because entrypoint.config is false: write them"
                + " into entrypoint.args, or write config: true, which gives it --config FILE\n");
    assertThat(kept.err())
        .contains("\nwrote " + saved + ": nexa-slurm submit " + saved + " runs it again\n");
    assertThat(kept.json().text("config_digest"))
        .isEqualTo(script.json().text("config_digest"))
        .isEqualTo(again.json().text("config_digest"));
    assertThat(DurableFiles.read(saved))
        .isEqualTo(
            """
            # A run of train.py, made by nexa-slurm. All keys: nexa-slurm explain config
            stage: train  # the run's id begins with it
            name: train  # reports show it
            backend: python  # torchrun starts one process for each GPU, python starts one
            entrypoint:
              script: train.py  # the run keeps a copy
              config: false  # true: the program gets --config FILE with lr, epochs, ...
              args: ["--epochs","3","x=1"]
            workdir: CURRENT  # the script starts here
            env:
              PYTHONPATH: HERE  # it can import the modules of this folder
            resources:  # of each task; CPUs, GPUs and memory are on each node
              nodes: 2
              gpus_per_node: 4
              gpu_type: h100
              memory: 64G
              time: 2h  # Slurm ends the job then
            lr: 1e-4
            """
                .replace("CURRENT", "" + Path.of("").toAbsolutePath())
                .replace("HERE", terminal.workspace.toString()));
  }

  @Test
  void saveKeepsWhatALineCanSayAndNamesTheRest() {
    Screen screen =
        type(
            "estimate train.py --time 1h --set resources.gpus_per_node=2"
                + " --set resources.gpu_type=h100 --set env.A=b:c"
                + " --set tags=[a,b] --set stage=eval --set entrypoint.args.0=x --save "
                + saved);

    assertThat(screen.err())
        .contains(
            "wrote "
                + saved
                + ", which does not hold --set entrypoint.args.0=x: nexa-slurm submit "
                + saved);
    assertThat(DurableFiles.read(saved))
        .contains("\nstage: eval ", "\n  A: b:c\n", "\n  gpus_per_node: 2\n", "\ntags: [a,b]\n")
        .doesNotContain("launcher: python");
  }

  @Test
  void aScriptStartsInTheCurrentFolderAndFindsTheModulesBesideIt() {
    terminal.file("beside/helper.py", "WORD = 'imported'\n");
    terminal.file("beside/own.py", "import helper, os; print(helper.WORD, os.getcwd())\n");
    Person person = new Person(terminal.workspace);
    String script = terminal.workspace.resolve("beside/own.py").toString();

    person.says("submit", script, "--local", "--wait", "--mem", "100M");

    // sbatch starts a script in the folder where one types, wherever the script lies.
    assertThat(person.says("logs")).contains("imported " + Path.of("").toAbsolutePath());
  }

  @Test
  void theScriptIsStartedByTorchrunOrByPython() {
    assertThat(type("render train.py --gpus h100:4").out()).contains("torchrun");
    assertThat(type("render train.py").out()).doesNotContain("torchrun").contains("train.py");
    assertThat(type("render train.py --gpus h100:1").out()).doesNotContain("torchrun");
    assertThat(type("render train.py --gpus h100:1 --set resources.nodes=2").out())
        .contains("torchrun");
  }

  @Test
  void aShellScriptRunsOnceWithItsArguments() {
    Screen script = type("render job.sh --files --", "it's", "b c");
    Screen kept =
        type("render --save " + saved + " job.sh --set env.X=1 --files --", "it's", "b c");

    assertThat(script.exit()).as(script.err()).isZero();
    assertThat(script.err())
        .isEqualTo(
            "note: from the #SBATCH lines of job.sh: --time 5\n"
                + "note: to keep this as a config, add --save job.yaml\n"
                + "note: the stage is run; --set stage=NAME changes it\n");
    assertThat(script.out()).contains("ln -sfT -- \"$NEXA_LOG\" x.log || exit\n");
    assertThat(script.out()).contains("exec bash \"$NEXA_RUN_DIR/runner/job.sh\" 'it'\\''s' 'b c'");
    assertThat(kept.err()).doesNotContain("does not hold");
    assertThat(kept.out().replaceFirst(".*X=1\n", "")).isEqualTo(script.out());
    assertThat(DurableFiles.read(saved))
        .contains("backend: shell", "files: [job.sh]", "  time: 5  # Slurm ends the job then\n")
        .contains("env:  # variables that the script gets\n  X: 1\n");
  }

  /** What sbatch does with each of them is what the kernel does. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(
      strings = {
        "#!/bin/bash",
        "#!/bin/bash -e",
        "#!/bin/bash -eu",
        "#! /bin/sh -e",
        "#!/bin/bash -l",
        "#!/usr/bin/env -S bash -e -o pipefail",
        "#!/usr/bin/env zsh",
        "#!/usr/bin/perl -w"
      })
  void theKernelStartsAScriptByItsFirstLine(String first) throws Exception {
    terminal.file("own.sh", first + "\n#SBATCH --time=5\ntrue\n");

    Screen script = type("submit own.sh -- a");
    assertThat(script.exit()).as(script.err()).isZero();
    Path runner = terminal.workspace.resolve("runs/latest/runner");
    assertThat(DurableFiles.read(runner.resolve("run.sh")))
        .isEqualTo(
            "export SLURM_JOB_NAME=own.sh\nunset SLURM_CPUS_PER_TASK SLURM_TRES_PER_TASK\n"
                + "exec \"$NEXA_RUN_DIR/runner/own.sh\" a\n");
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(runner.resolve("own.sh"))))
        .isEqualTo("r-x------");
    assertThat(
            PosixFilePermissions.toString(Files.getPosixFilePermissions(runner.resolve("run.sh"))))
        .isEqualTo("r--------");
  }

  @Test
  void aPythonOfItsOwnStartsAScriptThatIsOneProcess() {
    terminal.file("own.py", "#!/opt/venv/bin/python -O\nprint()\n");
    terminal.file("usual.py", "#!/usr/bin/env python3\nprint()\n");

    assertThat(type("render own.py --files").out())
        .contains("exec \"$NEXA_RUN_DIR/runner/own.py\"");
    assertThat(type("render usual.py").out()).contains("python3 \"$NEXA_RUN_DIR\"/runner/usual.py");
    assertThat(type("render own.py --gpus h100:4"))
        .returns(2, Screen::exit)
        .extracting(Screen::err)
        .asString()
        .contains("own.py:1: the first line names /opt/venv/bin/python -O, but torchrun starts")
        .contains("write #!/usr/bin/env python3 in this line")
        .contains("--set software.venv=DIR");
    assertThat(type("render own.py --gpus h100:4 --set software.venv=/opt/venv").out())
        .contains("torchrun");
  }

  @Test
  void oneProcessIsTheOnlyRank() {
    assertThat(type("render train.py --gpus h100:1").out())
        .contains("export RANK=0 LOCAL_RANK=0 WORLD_SIZE=1", "MASTER_ADDR=127.0.0.1");
    assertThat(type("render train.py").out()).contains("RANK=0", "export MASTER_PORT=");
    assertThat(type("render train.py --gpus h100:4").out()).doesNotContain("RANK=0");
    assertThat(type("render job.sh").out()).doesNotContain("RANK=0");
    assertThat(
            type("render train.py --gpus h100:1 --nodes 2 --set entrypoint.launcher=python").out())
        .contains("export RANK=$SLURM_NODEID LOCAL_RANK=0 WORLD_SIZE=2");
  }

  /** Tools that find a task's number in the environment do all parts without one. */
  @Test
  void aRunWithoutAnArrayIsNone() {
    String array = "#SBATCH --array=";
    assertThat(type("render run.yaml").out()).doesNotContain(array);
    assertThat(type("render run.yaml --set array.shards=1").out()).contains(array + "0-0");
    assertThat(type("render run.yaml --set array.shards=3").out()).contains(array + "0-2");
  }

  @Test
  void withoutATimeLimitItIsAnHourAndTheNoteSaysSo() {
    assertThat(type("render train.py"))
        .returns(
            "note: no --time was typed: the time limit is 1h\n"
                + "note: to keep this as a config, add --save train.yaml\n"
                + "note: the stage is train, by the script's name; --set stage=NAME changes it\n",
            Screen::err)
        .extracting(Screen::out)
        .asString()
        .contains("#SBATCH --time=0-01:00:00");
    assertThat(type("render train.py --save " + saved).exit()).isZero();
    assertThat(DurableFiles.read(saved)).contains("  time: 1h", "this is nexa-slurm's choice");
  }

  @Test
  void aScriptIsSubmitted() {
    Screen screen = type("submit train.py --time 30m");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .startsWith("train_")
        .contains(" USD: 1 task, 1 node with 1 CPU and 4 GiB, 30 minutes\n", "job 4711");
    assertThat(terminal.workspace.resolve("runs/latest/runner/train.py")).exists();
  }

  @Test
  void whatCannotBeSavedIsRefused() throws Exception {
    Files.writeString(saved, "mine");
    assertThat(type("estimate train.py --save " + saved).err())
        .contains("--save: " + saved + " exists already");
    assertThat(DurableFiles.read(saved)).isEqualTo("mine");
    assertThat(type("estimate train.py --save " + folder + "/elsewhere/a.yaml").err())
        .contains("a config lies in its script's folder or above");
    assertThat(type("estimate gone.py").err()).contains("no such file: gone.py");
  }

  @Test
  void aWrongValueNamesWhatWasTyped() {
    assertThat(type("estimate train.py --nodes two").err())
        .contains(
            "nexa-slurm: --nodes two: resources.nodes: expected a whole number from 1 to 100000, or a"
                + " range such as 2-4, got 'two' [config-invalid-value]");
    assertThat(type("estimate run.yaml --mem 16").err())
        .contains("nexa-slurm: --mem 16: resources.memory: a memory size needs a unit: write 16G");
    assertThat(type("estimate run.yaml --time 1.5h --mem 1.5G").err())
        .contains(
            "--time 1.5h: resources.time: expected a time limit such as 12h or 90m, got '1.5h': write 90m")
        .contains(
            "resources.memory: expected a memory size such as 64G or 512M, got '1.5G': write 1536M");
    assertThat(type("estimate run.yaml --time 1.5 --mem 1.5").err())
        .contains("got '1.5': write 90m for 1.5 hours", "got '1.5': write 1536M for 1.5 GiB");
  }

  @Test
  void aPlaceIsNeverALineOfAConfigThatNobodyWrote() {
    terminal.file(
        "old.sh", "#!/bin/bash\n#SBATCH --time=forever\n#SBATCH --gres=gpu:h100:99\nsrun x\n");

    assertThat(type("estimate old.sh").err())
        .contains("old.sh:2: resources.time: expected a time limit")
        .contains("old.sh:3: resources.gpus_per_node: expected a whole number from 0 to 64");
    assertThat(type("estimate old.sh --time 1h --gpus 0 --mem x").err())
        .contains("nexa-slurm: --mem x: resources.memory:");
    assertThat(type("estimate train.py --backend hf").err())
        .contains("/train.py: entrypoint: is for python and accelerate; hf does not start it")
        .contains("nexa-slurm: the config of ");
  }

  @Test
  void gresWinsOverGpusPerNodeAndANoteSaysSo() {
    terminal.file("old.sh", "#!/bin/bash\n#SBATCH --gres=gpu:1 --gpus-per-node=2\nsrun x\n");

    assertThat(type("submit --dry-run old.sh --time 5m").err())
        .contains(
            "--gpus 1\n", "not used: --gpus-per-node=2 (sbatch goes by --gres=gpu:1 instead)");
  }

  @Test
  void gpusThatCannotBeTakenAreAnErrorAndNotANote() {
    terminal.file("old.sh", "#!/bin/bash\n#SBATCH --gres=gpu:a100:2,gpu:v100:1\nsrun x\n");

    Screen screen = type("estimate old.sh");

    assertThat(screen.exit()).isEqualTo(2);
    assertThat(screen.err())
        .contains("nexa-slurm: old.sh:2: #SBATCH ", "expected a number of GPUs");
    assertThat(type("estimate old.sh --gpus 1").exit()).isZero();
  }

  @ParameterizedTest
  @CsvSource({
    "-G 2, 2",
    "-N2 -G h100:8, 8",
    "--gpus-per-task=1 -n3, 3",
    "--gpus-per-node=4 --gpus=8, 8",
    "-n 6 --ntasks-per-gpu=2, 3",
    "-G 4 --ntasks-per-gpu=2 --cpus-per-gpu=3, 4",
    "-N 1-3 --gpus-per-node=2, 6"
  })
  void eachWayToCountGpusIsPriced(String line, long gpus) {
    terminal.file("old.sh", "#!/bin/bash\n#SBATCH -t 5 " + line + "\nsrun x\n");

    Screen screen = type("estimate old.sh --json");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.json().object("limits").number("gpus")).isEqualTo(gpus);
    assertThat(type("estimate old.sh --gpus 1").exit()).isZero();
  }

  @Test
  void whatOnlySlurmUnderstandsIsNotedOnThisMachineAlone() {
    terminal.file(
        "old.sh",
        "#!/bin/bash\n#SBATCH -t 5 --hint=nomultithread --nice --mem-per-cpu=1G -c 2\ntrue\n");

    Screen screen = type("estimate old.sh --local");

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out()).contains("2 CPUs and 2 GiB");
    assertThat(screen.err())
        .contains("only Slurm takes notice of resources.hint, resources.sbatch_options");
    terminal.file("old.sh", "#!/bin/bash\n#SBATCH -t 5 --ntasks-per-node=4\nsrun true\n");
    assertThat(type("estimate old.sh --local").err())
        .contains(
            "old.sh:2: resources.ntasks_per_node: is for srun, and this machine alone has none");
  }

  /** One line for each key of a config that a line of sbatch can set. */
  @Test
  void whatHasAKeyIsTakenAndPriced() throws Exception {
    terminal.file(
        "configs/clusters/sized.yaml",
        """
        scheduler: slurm
        gpu_type: h100
        storage: {scratch: /tmp/s, durable: /tmp/d, shared: /tmp/h}
        partitions:
          gpu: {gpus_per_node: 8, cpus_per_node: 16, memory_per_node: 62G}
        """);
    terminal.file(
        "all.sh",
        """
        #!/bin/bash
        #SBATCH -t 5 --exclusive -C "[v100*1&a100*1]" --qos=01 --reservation=r -L fluent:2
        #SBATCH -w n[1-2] --requeue -D sub/folder --mail-type=END --mail-user=ada@example.org
        #SBATCH --job-name="my job" -A 2080
        true
        """);

    Screen screen = type("render all.sh --cluster sized");
    Screen kept = type("render all.sh --cluster sized --save " + saved);

    assertThat(screen.exit()).as(screen.err()).isZero();
    assertThat(screen.out())
        .contains(
            "#SBATCH --exclusive\n",
            "#SBATCH --constraint=\"[v100*1&a100*1]\"\n",
            "#SBATCH --qos=01\n",
            "#SBATCH --account=2080\n",
            "#SBATCH --reservation=r\n",
            "#SBATCH --licenses=fluent:2\n",
            "#SBATCH --nodelist=\"n[1-2]\"\n",
            "#SBATCH --nodes=2\n",
            "#SBATCH --requeue\n",
            "#SBATCH --mail-type=END\n",
            Path.of("").toAbsolutePath() + "/sub/folder");
    assertThat(screen.err())
        .contains(
            "--set resources.exclusive=true",
            "--set requeues=1 --set 'retry_on=[node]'",
            "--name my_job");
    assertThat(kept.out()).isEqualTo(screen.out());
    assertThat(type("render " + saved).out()).isEqualTo(screen.out());
    assertThat(type("render all.sh --cluster sized --set resources.exclusive=false").out())
        .doesNotContain("#SBATCH --exclusive");
    assertThat(type("estimate all.sh --cluster sized").out())
        .contains("up to 2 attempts", "pays for them: 16 h100 and 32 CPUs");
    assertThat(type("render train.py --account six@v100").out())
        .contains("#SBATCH --account=six@v100\n");
  }

  @Test
  void whatHasNoKeyIsRefusedTogetherUnlessItIsTyped() {
    terminal.file(
        "old.sh",
        """
        #!/bin/bash
        #SBATCH -t 5 --core-spec=2
        #SBATCH --signal=B:TERM@60 -d afterok:12
        #SBATCH --export=ALL,A
        true
        """);
    terminal.file("new.sh", "#!/bin/bash\n#SBATCH -t 5 -d afterok:12 --mem-per-cpu=2G\ntrue\n");

    assertThat(type("submit old.sh"))
        .returns(2, Screen::exit)
        .extracting(Screen::err)
        .asString()
        .startsWith("nexa-slurm: old.sh:2: #SBATCH --core-spec=2: nexa-slurm does not take")
        .contains(
            "; 3 more below [option-invalid]",
            "→ --core-spec=2 (line 2): Slurm then gives whole nodes: write #SBATCH --exclusive instead\n",
            "→ --signal=B:TERM@60 (line 3): type --set warn_before_end=TIME --set requeues=1",
            "→ -d afterok:12 (line 3): type --dependency TYPE:RUN\n",
            "→ --export=ALL,A (line 4): type --set env.NAME=VALUE");
    assertThat(terminal.workspace.resolve("runs")).doesNotExist();
    assertThat(type("submit new.sh --mem 2G").err()).contains("#SBATCH -d afterok:12");
    assertThat(type("estimate new.sh --mem 2G"))
        .returns(0, Screen::exit)
        .extracting(Screen::err)
        .asString()
        .contains("not used: -d afterok:12 (type --dependency TYPE:RUN)")
        .doesNotContain("memory_per_cpu");
  }

  @ParameterizedTest
  @CsvSource({
    "train, train",
    "test_hf_train, train",
    "run-sft-7b, train",
    "evaluate_trained, eval",
    "eval_train_loss, eval",
    "test_model, eval",
    "bench, eval",
    "strain, run",
    "distill, run"
  })
  void theStageFollowsFromTheNameAndIsTold(String name, String stage) {
    terminal.file(name + ".py", "print()\n");

    assertThat(type("render " + name + ".py").err())
        .contains(
            "note: the stage is "
                + stage
                + (stage.equals("run") ? "" : ", by the script's name")
                + "; --set stage=NAME");
    assertThat(type("render " + name + ".py --set stage=other").err())
        .doesNotContain("the stage is");
  }

  /** Options of submit that change the script or the price: words that show it. */
  private static final Map<String, String> CHANGES =
      Map.ofEntries(
          Map.entry(
              "--set", "--gpus 2 --set resources.qos=high --set entrypoint.launcher_args.0=-x"),
          Map.entry("--cluster", "--cluster other"),
          Map.entry("--local", "--local"),
          Map.entry("--nodes", "--nodes 2"),
          Map.entry("--gpus", "--gpus h100:2"),
          Map.entry("--cpus", "--cpus 3"),
          Map.entry("--mem", "--mem 3G"),
          Map.entry("--time", "--time 7m"),
          Map.entry("--partition", "--partition big"),
          Map.entry("--account", "--account nlp"),
          Map.entry("--backend", "--backend python"),
          Map.entry("--name", "--name other"),
          Map.entry("--dependency", "--dependency afterok:OPEN"),
          Map.entry("--from", "--from make=DONE --set env.A=${stages.make.output}"),
          Map.entry(
              "--same-node", "--same-node --from make=DONE --set env.A=${stages.make.output}"));

  /** Options of submit that change neither. */
  private static final Set<String> OTHERS =
      Set.of(
          "--dry-run",
          "--files",
          "--as-sbatch",
          "--wrap",
          "--approval",
          "--wait",
          "--json",
          "--verbose",
          "--save",
          "--help",
          "--version",
          "--workspace",
          "--debug");

  @Test
  void whatSaveWritesAndTellsRunsTheSameAtTheSamePrice() {
    terminal.file("other.py", "print()\n");
    terminal.file(
        "configs/clusters/other.yaml",
        """
        scheduler: slurm
        gpu_type: h100
        price_book: dear
        storage: {scratch: /tmp/s, durable: /tmp/d, shared: /tmp/h}
        """);
    terminal.file(
        "configs/prices/dear.yaml",
        """
        currency: USD
        as_of: 2026-11-01
        gpu_hour: {h100: {price: 900, source: mine}}
        cpu_hour: {price: 100, source: mine}
        memory_gib_hour: {price: 1, source: mine}
        """);
    JsonObject first = type("submit run.yaml --json").json();
    String name = first.objects("jobs").get(0).text("name");
    terminal.program("sacct", Terminal.accountingRow(4711, 0, "COMPLETED", name));
    assertThat(type("reconcile").exit()).isZero();
    terminal.file("runs/" + first.text("run_id") + "/done/0", "");
    terminal.program("sbatch", "echo 4713");
    JsonObject second = type("submit run.yaml --json").json();
    String other = second.objects("jobs").get(0).text("name");
    terminal.program("squeue", Terminal.queueRow(4713, 0, "PENDING", "None", other));
    List<String> options =
        new SubmitCommand().spec().options().stream().map(OptionSpec::longestName).toList();
    int number = 0;
    for (String option : options) {
      if (OTHERS.contains(option)) {
        continue;
      }
      assertThat(CHANGES).as("a new option: what does --save do with it?").containsKey(option);
      String words =
          CHANGES
              .get(option)
              .replace("DONE", first.text("run_id"))
              .replace("OPEN", second.text("run_id"));
      String file = terminal.workspace.resolve("saved" + number++ + ".yaml").toString();
      Screen script = type("submit --dry-run other.py " + words);
      Screen kept = type("submit --dry-run other.py " + words + " --save " + file);
      Matcher again = Pattern.compile(": nexa-slurm (.*) runs it again").matcher(kept.err());

      assertThat(script.exit()).as(option + script.err()).isZero();
      assertThat(again.find()).as(option + kept.err()).isTrue();
      Screen typed = type(again.group(1).replace("'", "") + " --dry-run");
      assertThat(typed.exit()).as(option + typed.err()).isZero();
      assertThat(typed.out()).as(option).isEqualTo(script.out());
      assertThat(kept.out()).as(option).isEqualTo(script.out());
    }
    assertThat(type("submit --dry-run other.py").out())
        .isNotEqualTo(type("submit --dry-run other.py --cluster other").out());
  }

  @Test
  void whatSaveWritesRunsTheSameInAnotherShell() {
    terminal.file(
        "configs/clusters/mine.yaml", DurableFiles.read(Path.of("configs/clusters/cpu.yaml")));

    Screen kept =
        terminal
            .with("NEXA_CLUSTER", "mine")
            .type(
                "render", "train.py", "--save", "" + saved, "--workspace", "" + terminal.workspace);

    assertThat(kept.exit()).as(kept.err()).isZero();
    assertThat(kept.err())
        .contains("nexa-slurm --workspace " + terminal.workspace + " submit " + saved);
    assertThat(DurableFiles.read(saved)).contains("\ncluster: mine ");
  }

  @Test
  void anArrayOfAScriptIsTakenOrRefused() {
    terminal.file("array.sh", "#!/bin/bash\n#SBATCH -t 5 --array=0-15%4\ntrue\n");
    terminal.file("gaps.sh", "#!/bin/bash\n#SBATCH -t 5\n#SBATCH --array=1-9:2%3\ntrue\n");
    terminal.file("wrong.sh", "#!/bin/bash\n#SBATCH -t 5\n#SBATCH --array=9-1\ntrue\n");

    Screen taken = type("render array.sh");
    Screen saved = type("render array.sh --save " + terminal.workspace.resolve("array.yaml"));

    assertThat(taken.err()).contains("from the #SBATCH lines of array.sh: --time 5 --array 0-15%4");
    assertThat(taken.out()).contains("#SBATCH --array=0-15%4");
    assertThat(saved.out()).contains("#SBATCH --array=0-15%4", "NEXA_TASKS=16");
    assertThat(type("render array.sh --set array.shards=3").out()).contains("#SBATCH --array=0-2");
    assertThat(type("render gaps.sh").err()).contains("--array 1-9:2%3");
    assertThat(type("render gaps.sh").out())
        .contains("#SBATCH --array=0-4%3", "list=1-9:2 ", "SLURM_ARRAY_TASK_STEP=2");
    Screen kept = type("render gaps.sh --save " + terminal.workspace.resolve("gaps.yaml"));
    assertThat(kept.out()).contains("list=1-9:2 ");
    assertThat(type("render gaps.sh --set array.shards=5").out()).doesNotContain("list=");
    assertThat(type("render array.sh --set array.indices=7,1").out()).contains("list=1,7 ");
    assertThat(type("render wrong.sh"))
        .returns(2, Screen::exit)
        .extracting(Screen::err)
        .asString()
        .contains("wrong.sh:3: #SBATCH --array=9-1: sbatch takes indices such as")
        .contains("→ add --set array.indices=1-10", "→ or add --set array.shards=N");
    assertThat(type("render wrong.sh --set array.indices=1-9").exit()).isZero();
  }

  @Test
  void slurmsPartitionsAreCheckedWhereTheProfileListsNone() {
    terminal.program(
        "scontrol",
        "echo 'PartitionName=gpu Default=YES MaxNodes=4 MaxTime=2-00:00:00'\n"
            + "echo 'PartitionName=cpu Default=NO MaxNodes=UNLIMITED MaxTime=UNLIMITED'");

    for (String command : new String[] {"estimate", "submit", "submit --dry-run"}) {
      assertThat(type(command + " run.yaml --partition gpuu"))
          .returns(2, Screen::exit)
          .extracting(Screen::err)
          .asString()
          .contains("Slurm has no partition 'gpuu' (did you mean 'gpu'?); it has gpu, cpu");
      assertThat(type(command + " run.yaml --time 4d"))
          .returns(2, Screen::exit)
          .extracting(Screen::err)
          .asString()
          .contains(
              "resources.time: you ask for a time limit of 4 days; partition 'gpu' has a time limit"
                  + " of 2 days (MaxTime)");
      assertThat(type(command + " run.yaml --partition gpu --nodes 5"))
          .returns(2, Screen::exit)
          .extracting(Screen::err)
          .asString()
          .contains("you ask for 5 nodes; partition 'gpu' has 4 nodes for a job at most");
      assertThat(terminal.workspace.resolve("runs")).doesNotExist();
    }
    assertThat(type("estimate run.yaml --partition cpu --time 4d").exit()).isZero();
    terminal.program("scontrol", "exit 1");
    assertThat(type("estimate run.yaml --partition gpuu").exit()).isZero();
  }

  @Test
  void theSbatchLinesOfAScriptAreReadAndTypedOptionsWin() {
    terminal.file(
        "old.sh",
        """
        #!/bin/bash
        #SBATCH -N 2
        #SBATCH --gres=gpu:h100:4   # all of them
        #SBATCH --mem=64000
        #SBATCH -c8
        #SBATCH --time 1-12
        #SBATCH --job-name="sft"
        #SBATCH --ntasks-per-node=1 --ntasks=2
        #SBATCH --gpus=h100:8
        #SBATCH --error=e.log
        # a comment
        srun python train.py
        #SBATCH --nodes=9
        """);

    Screen header = type("estimate old.sh --json --time 2h --set resources.memory=128G");
    Screen typed =
        type(
            "estimate old.sh --json --nodes 2 --cpus 8 --time 2h --name sft"
                + " --set resources.memory=128G --set resources.ntasks_per_node=1 --set resources.ntasks=2");

    assertThat(header.err())
        .startsWith(
            "note: from the #SBATCH lines of old.sh: --nodes 2 --gpus h100:4 --cpus 8 --name sft"
                + " --set resources.ntasks_per_node=1 --set resources.ntasks=2\n"
                + "note: to keep this as a config, add --save old.yaml\n");
    assertThat(header.json().text("config_digest")).isEqualTo(typed.json().text("config_digest"));
    assertThat(type("render old.sh").out())
        .contains("#SBATCH --mem=64000M", "#SBATCH --time=1-12:00:00", "#SBATCH --nodes=2");
  }

  @Test
  void aTokenAmongTheArgumentsIsRefusedAndNotSaved() {
    String token = "hf_" + "aBcDeFgHiJkLmNoPqRsTuVwXyZaBcDeFgH";

    for (String save : new String[] {"", " --save " + saved}) {
      Screen screen = type("estimate train.py" + save + " -- --token " + token);

      assertThat(screen.exit()).isEqualTo(2);
      assertThat(screen.err()).contains("[config-holds-secret]").doesNotContain(token);
    }
    assertThat(saved).doesNotExist();
  }

  private Screen type(String words, String... more) {
    String[] first = words.split(" +", -1);
    String[] all = java.util.Arrays.copyOf(first, first.length + more.length);
    System.arraycopy(more, 0, all, first.length, more.length);
    return terminal.type(all);
  }
}
