package dev.nexa.slurm.command.workspace;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.command.Terminal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The script, in a real bash. */
@Tag("long")
class CompletionCommandTest {
  @TempDir Path folder;

  private Terminal terminal;

  @BeforeEach
  void sitDown() {
    terminal = new Terminal(folder);
    terminal.program("sinfo", "printf 'gpu\\ncpu\\n'");
    terminal.program("sacctmgr", "printf 'nlp\\nvision\\n'");
    terminal
        .file("configs/train/science.yaml", "")
        .file("train/own.py", "")
        .file("train/notes.txt", "")
        .file("configs/clusters/gpu4.yaml", "")
        .file("runs/manifests/train_20251101_143200.json", "{}")
        .file("runs/manifests/cost_train_20251101_143200.json", "{}")
        .file("runs/manifests/eval_20251101_143201.json", "{}")
        .file("completion.bash", terminal.type("generate-completion").out());
  }

  /** The words as bash gives them to the function: `=` and `:` are words of their own. */
  @ParameterizedTest(name = "{0}")
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          sub                                | submit
          runs sh                            | show
          he                                 | help
          help sub                           | submit
          submit --wa                        | --wait
          submit configs/train/sci           | configs/train/science.yaml
          submit configs/train/              | configs/train/science.yaml
          estimate configs/t                 | configs/train
          serve st                           | stop
          serve configs/train/sci            | configs/train/science.yaml
          pipeline run configs/train/sci     | configs/train/science.yaml
          render --set a = b configs/train/s | configs/train/science.yaml
          status train                       | train_20251101_143200
          status train_20251101_143200 ev    | eval_20251101_143201
          logs la                            | latest
          logs -f --tail 5 ev                | eval_20251101_143201
          runs show tr                       | train_20251101_143200
          cancel tr                          | train_20251101_143200
          submit --cluster g                 | gpu4
          submit --cluster = g               | gpu4
          submit --cluster lo                | local
          submit --from tr                   | train_20251101_143200
          submit --from data = tr            | train_20251101_143200
          submit --dependency afterok        | afterok:
          submit --dependency afterok : tr   | train_20251101_143200
          costs --format ma                  | markdown
          costs --format = js                | json
          costs --by acc                     | account
          costs --where reserv               | reservation
          explain option-unk                 | option-unknown
          submit train/                       | train/own.py
          estimate -t 1h train/o              | train/own.py
          serve train/                        | ''
          submit --backend acc               | accelerate
          submit --partition g               | gpu
          submit -p c                        | cpu
          submit --account nl                | nlp
          submit --set re                    | ''
          submit --nothing                   | ''
          """)
  void bashCompletes(String typed, String expected) throws Exception {
    assertThat(completed(terminal.workspace, typed)).isEqualTo(expected);
  }

  /** zsh itself leaves out the words that begin otherwise. */
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "sub, submit",
    "submit --wa, --wait",
    "submit -p g, gpu",
    "submit --backend acc, accelerate",
    "submit train/, train/own.py",
    "runs sh, show",
    "logs tr, train_20251101_143200"
  })
  void zshCompletes(String typed, String expected) throws Exception {
    List<String> words = new ArrayList<>(List.of("zsh", "-f", "-c"));
    words.add(
        "autoload -U compinit; compinit -D -u; source \"$1\"; shift; COMP_WORDS=(\"$@\")"
            + " words=(\"$@\"); COMP_CWORD=$(($# - 1)) CURRENT=$#; compgen -F _nexa_slurm");
    words.add("zsh");
    words.add(terminal.workspace.resolve("completion.bash").toString());
    words.add("nexa-slurm");
    words.addAll(List.of(typed.split(" +", -1)));

    assertThat(run(terminal.workspace, words).split("\n", -1)).contains(expected);
  }

  /** From a folder below the workspace, whose runs are the workspace's. */
  @Test
  void runsAreFoundFromBelowTheWorkspace() throws Exception {
    assertThat(completed(terminal.workspace.resolve("configs/train"), "logs tr"))
        .isEqualTo("train_20251101_143200");
    assertThat(completed(folder, "logs --workspace " + terminal.workspace + " tr"))
        .isEqualTo("train_20251101_143200");
    assertThat(completed(folder, "logs tr")).isEmpty();
  }

  @Test
  void everyCommandIsCompleted() throws Exception {
    assertThat(completed(folder, "runs ''").split("\n", -1))
        .contains("list", "show", "import", "analyze");
    assertThat(terminal.type("generate-completion").out()).hasSizeLessThan(30_000);
  }

  @Test
  void theScriptIsWellFormed() throws Exception {
    Process check =
        new ProcessBuilder("shellcheck", terminal.workspace.resolve("completion.bash").toString())
            .redirectErrorStream(true)
            .start();

    assertThat(new String(check.getInputStream().readAllBytes(), UTF_8)).isEmpty();
  }

  private String completed(Path where, String typed) throws Exception {
    Files.createDirectories(where);
    List<String> words = new ArrayList<>(List.of("bash", "--norc", "-c"));
    words.add(
        "source \"$1\"; shift; COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)); COMP_LINE=\"$*\";"
            + " _nexa_slurm; printf '%s\\n' \"${COMPREPLY[@]}\"");
    words.add("bash");
    words.add(terminal.workspace.resolve("completion.bash").toString());
    words.add("nexa-slurm");
    Arrays.stream(typed.split(" +", -1)).map(word -> word.replace("''", "")).forEach(words::add);
    return run(where, words);
  }

  private String run(Path where, List<String> words) throws Exception {
    ProcessBuilder builder = new ProcessBuilder(words).directory(where.toFile());
    builder.environment().merge("PATH", terminal.bin.toString(), (old, bin) -> bin + ":" + old);
    builder.environment().remove("NEXA_WORKSPACE");
    Process bash = builder.redirectErrorStream(true).start();
    return new String(bash.getInputStream().readAllBytes(), UTF_8).strip();
  }
}
