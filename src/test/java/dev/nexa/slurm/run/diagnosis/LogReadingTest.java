package dev.nexa.slurm.run.diagnosis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.nexa.slurm.job.config.ConfigReader;
import dev.nexa.slurm.job.config.site.FailurePatterns;
import dev.nexa.slurm.job.config.yaml.ConfigSource;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which line of a log is the cause, by the signatures that the jar carries. */
class LogReadingTest {
  private static final FailurePatterns SIGNATURES =
      new ConfigReader(new ConfigSource(Path.of("no-workspace")), Map.of()).signatures();

  private static LogReading read(String... logs) {
    return LogReading.of(
        Arrays.stream(logs)
            .map(log -> new LogPart(Path.of("log"), LogPart.lines(log, true)))
            .toList(),
        SIGNATURES);
  }

  private static String cause(String... logs) {
    return read(logs)
        .root()
        .map(root -> root.failure() + ":" + root.line().orElseThrow().line().number())
        .orElse("none");
  }

  @Test
  void theFirstLineThatShowsACauseCountsAndWhatFollowsIsNamed() {
    LogReading reading =
        read(
            """
            epoch 1 loss 2.31
            Traceback (most recent call last):
              File "train.py", line 7, in <module>
                out = model(x)
            torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 79 GiB
            [rank1]: torch.distributed.DistBackendError: NCCL error: remote process exited or there was a network error
            torch.distributed.elastic.multiprocessing.errors.ChildFailedError:
            srun: error: n1: task 0: Exited with exit code 1
            """);

    assertThat(reading.root().orElseThrow().failure()).isEqualTo("gpu-memory");
    assertThat(reading.root().orElseThrow().line().orElseThrow().line().number()).isEqualTo(5);
    assertThat(reading.followed()).hasSizeGreaterThanOrEqualTo(2);
  }

  /** The last line of the user's own code, not of the library that raised the exception. */
  @Test
  void anExceptionHasTheLineOfTheUsersCode() {
    String log =
        """
        [rank1]: Traceback (most recent call last):
        [rank1]:   File "/home/ada/nlp/train.py", line 7, in <module>
        [rank1]:     loss = step(batch)
        [rank1]:   File "/home/ada/nlp/model.py", line 31, in step
        [rank1]:     return self.head(x)
        [rank1]:   File "/usr/lib/python3/dist-packages/torch/nn/linear.py", line 114, in forward
        [rank1]:     return F.linear(input, self.weight)
        [rank1]: ValueError: odd shapes
        """;

    assertThat(read(log).root().orElseThrow().line().orElseThrow().code())
        .contains(new CodeLine("/home/ada/nlp/model.py", 31, "return self.head(x)"));
    assertThat(read("ValueError: odd shapes").root().orElseThrow().line().orElseThrow().code())
        .isEmpty();
  }

  @Test
  void anExceptionThatNoSignatureNamesIsTheLastLineOfItsTraceback() {
    assertThat(
            cause(
                """
                Traceback (most recent call last):
                  File "a.py", line 1, in <module>
                    f()
                KeyError: 'a'
                Traceback (most recent call last):
                  File "b.py", line 2, in <module>
                    g()
                TypeError: late
                """))
        .isEqualTo("python-error:4");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "[rank3]: ",
        "3: ",
        "(EngineCore_0 pid=17) ERROR 11-23 10:00:01 [core.py:700] ",
        "2026-11-23T10:00:01 n1 "
      })
  void aTracebackIsFoundBehindThePrefixOfALauncher(String prefix) {
    String log =
        List.of(
                "Traceback (most recent call last):",
                "  File \"a.py\", line 1, in <module>",
                "    raise Odd(1)",
                "mypackage.Odd: no signature knows this")
            .stream()
            .map(line -> prefix + line + "\n")
            .reduce("", String::concat);

    assertThat(cause(log)).isEqualTo("python-error:4");
  }

  @Test
  void whatTheProgramCaughtAndPrintedIsNotWhatItDiedOf() {
    assertThat(
            cause(
                """
                no cache yet: FileNotFoundError(2, 'No such file or directory')
                Traceback (most recent call last):
                  File "a.py", line 9, in <module>
                    raise RuntimeError("step 10 is odd")
                RuntimeError: step 10 is odd
                """))
        .isEqualTo("python-error:5");
    assertThat(
            cause(
                """
                n1: NCCL WARN NET/IB : Got completion with error 12, opcode 0
                Traceback (most recent call last):
                  File "a.py", line 9, in <module>
                    raise RuntimeError("step 10 is odd")
                RuntimeError: step 10 is odd
                """))
        .isEqualTo("network:1");
    assertThat(
            cause(
                """
                CUDA out of memory, halving the batch size to 8 and trying again
                step 10 loss 2.1
                Traceback (most recent call last):
                  File "a.py", line 9, in <module>
                    raise Odd("no gold answers")
                mypackage.Odd: no gold answers
                """))
        .isEqualTo("python-error:6");
  }

  @Test
  void ofChainedExceptionsTheFirstCounts() {
    assertThat(
            cause(
                """
                Traceback (most recent call last):
                  File "a.py", line 1, in <module>
                    import flash_attn
                ModuleNotFoundError: No module named 'flash_attn'

                During handling of the above exception, another exception occurred:

                Traceback (most recent call last):
                  File "a.py", line 3, in <module>
                    raise RuntimeError("cannot start")
                RuntimeError: cannot start
                """))
        .isEqualTo("missing-module:4");
  }

  /** The most dangerous mistake: the rank that waited is not the rank that failed. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "[rank2]:[E1123 10:00:00.1 ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=74, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600096 milliseconds before timing out.",
        "Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.",
        "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:",
        "srun: error: n1: task 0: Exited with exit code 1",
        "Killed",
        "terminate called after throwing an instance of 'c10::DistBackendError'"
      })
  void aLineThatOnlyFollowsIsNoCause(String line) {
    assertThat(cause("step 100 loss 1.0\n" + line + "\n")).isEqualTo("none");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INFO 11-23 10:00:00 retrying: CUDA out of memory is handled",
        "/usr/lib/python3/x.py:3: UserWarning: No module named 'flash_attn', using the slow path",
        "[rank0]:[W1123 10:00:00.1 ProcessGroupNCCL.cpp:115] Warning: process group has NOT been destroyed",
        "n1:12:12 [0] NCCL INFO Bootstrap : Using eth0:10.0.0.1<0>",
        "eval/error_rate 0.02 killed_tokens 0",
        "0 errors, 0 warnings",
        "epoch 3: CUDA memory allocated 20.0 GiB, out of 80.0 GiB",
        "except KeyError as error:",
      })
  void aLineOfAHealthyRunIsNoCause(String line) {
    assertThat(cause(line + "\n")).isEqualTo("none");
  }

  @Test
  void slurmsOwnWordsComeBeforeTheProgramsAndACancelComesLast() {
    assertThat(
            cause(
                """
                OSError: [Errno 16] Device or resource busy: '.nfs01'
                slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-23T10:00:00 ***
                slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some of the step tasks have been OOM Killed.
                """))
        .isEqualTo("host-memory:3");
    assertThat(
            cause(
                """
                slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-23T10:00:00 ***
                torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
                """))
        .isEqualTo("gpu-memory:2");
    assertThat(cause("slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-23T10:00:00 ***\n"))
        .isEqualTo("cancelled:1");
  }

  @ParameterizedTest
  @CsvSource({"0, missing-module:1", "100, time-limit:102", "-1, time-limit:3"})
  void aTimeLimitIsTheCauseIfTheProgramWentOnAfterItsError(int lines, String cause) {
    String between = lines < 0 ? "step 7 loss 1.2\n" : "working\n".repeat(lines);
    assertThat(
            cause(
                "ModuleNotFoundError: No module named 'x'\n"
                    + between
                    + "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-23T10:00:00 DUE TO TIME LIMIT ***\n"))
        .isEqualTo(cause);
  }

  @Test
  void theLogOfTheRankThatFailedFirstComesBeforeTheTasks() {
    assertThat(cause("ModuleNotFoundError: No module named 'x'\n", "CUDA out of memory\n"))
        .isEqualTo("missing-module:1");
    assertThat(cause("Connection closed by peer\n", "RuntimeError: CUDA out of memory\n"))
        .isEqualTo("gpu-memory:1");
  }

  @Test
  void coloursAndProgressBarsDoNotHideALine() {
    assertThat(
            cause(
                "  1%|  | 1/100\r  2%|  | 2/100\r\u001b[31mtorch.OutOfMemoryError: CUDA out of memory.\u001b[0m\n"))
        .isEqualTo("gpu-memory:1");
  }

  /** As on each job of two nodes once: a function was not exported. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "environment: line 3: nexa_forget_scratch: command not found",
        "/var/spool/slurmd/job00012/slurm_script: line 88: nexa_hold: No such file or directory",
        "/w/runs/train_20251101_143200/runner/sampler.sh: line 12: /proc/1/io: Permission denied"
      })
  void aShellsComplaintAboutOurOwnScriptIsNoCause(String line) {
    assertThat(cause(line + "\nepoch 1 done\n")).isEqualTo("none");
    assertThat(cause(line + "\nRuntimeError: CUDA out of memory.\n")).isEqualTo("gpu-memory:2");
    assertThat(LogLine.of(1, line).isOurs()).isTrue();
  }

  @Test
  void aShellsComplaintAboutTheUsersScriptStaysACause() {
    assertThat(cause("environment: line 1: conda: command not found\n"))
        .isEqualTo("missing-file:1");
  }

  @Test
  void whatTheCheckOfANodeFoundIsTheCauseWhateverElseWasPrinted() {
    String log =
        """
        module: command not found
        RuntimeError: CUDA out of memory.
        slurmstepd: error: Detected 1 oom_kill event in StepId=7.0.
        nexa-slurm: node n2 is not well: it has no network interface eth99
        nexa-slurm: node n1 is not well: it has no network interface eth99
        """;

    assertThat(cause(log)).isEqualTo("node-failure:4");
    assertThat(cause("RuntimeError: CUDA out of memory.\n", log)).isEqualTo("node-failure:4");
  }

  /** A missing environment is why the module is missing; a missing file is not. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "slurm_script: line 4: module: command not found | missing-file:1",
        "slurm_script: line 5: /home/u/venv/bin/activate: No such file or directory | missing-file:1",
        "CommandNotFoundError: Your shell has not been properly configured to use 'conda activate'. | missing-file:1",
        "EnvironmentNameNotFound: Could not find conda environment: nlp | missing-file:1",
        "cp: cannot stat 'old.json': No such file or directory | missing-module:5",
      })
  void anEnvironmentThatIsNotThereIsWhyAModuleIsMissing(String line, String cause) {
    assertThat(
            cause(
                line
                    + """

                    Traceback (most recent call last):
                      File "train.py", line 3, in <module>
                        import torch
                    ModuleNotFoundError: No module named 'torch'
                    """))
        .isEqualTo(cause);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:"
      })
  void ofChainedExceptionsTheOneThatASignatureKnowsCounts(String chain) {
    String log =
        """
        Traceback (most recent call last):
          File "a.py", line 1, in <module>
            cache[key]
        KeyError: 'w1'

        %s

        Traceback (most recent call last):
          File "a.py", line 3, in <module>
            torch.save(state)
        OSError: [Errno 122] Disk quota exceeded
        """;

    assertThat(cause(log.formatted(chain))).isEqualTo("disk-full:11");
    assertThat(cause(log.formatted("a new try"))).isEqualTo("python-error:4");
  }

  @Test
  void aMessageOfMoreLinesIsReadToItsEnd() {
    assertThat(
            cause(
                """
                Traceback (most recent call last):
                  File "a.py", line 1, in <module>
                    build()
                mypackage.Odd: the workers failed
                  worker 3: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB
                """))
        .isEqualTo("gpu-memory:5");
  }

  @Test
  void anExceptionThatPythonIgnoredIsNoCause() {
    assertThat(
            cause(
                """
                Exception ignored in: <function _Iter.__del__ at 0x7f760335bca0>
                Traceback (most recent call last):
                  File "dataloader.py", line 1478, in __del__
                    self._shutdown_workers()
                AssertionError: can only test a child process
                finished
                """))
        .isEqualTo("none");
  }

  @Test
  void anErrorOfOurOwnProgramsIsTheCauseInTheirWords() {
    Finding finding =
        read("""
                nexa-slurm: the accuracy is 0.41, but must be at least 0.5 [gate-failed]
                  → look at the metrics
                """)
            .root()
            .orElseThrow();

    assertThat(finding.failure()).isEqualTo("nexa-slurm");
    assertThat(finding.means()).isEqualTo("the accuracy is 0.41, but must be at least 0.5");
    assertThat(finding.advice()).contains("look at the metrics");
    assertThat(read("nexa-slurm: it is odd [data-invalid]\n").root().orElseThrow().advice())
        .contains("This says more: nexa-slurm explain data-invalid");
    assertThat(
            cause(
                """
                nexa-slurm: it is odd [data-invalid]
                Traceback (most recent call last):
                  File "a.py", line 1, in <module>
                    f()
                torch.OutOfMemoryError: CUDA out of memory.
                """))
        .isEqualTo("gpu-memory:5");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "RuntimeError: expected scalar type Half but found Float | python-error",
        "RuntimeError: mat1 and mat2 must have the same dtype, but got BFloat16 and Float | python-error",
        "TypeError: __init__() got an unexpected keyword argument 'use_fast' | python-error",
        "AttributeError: 'AdamW' object has no attribute 'train' | python-error",
        "slurm_script: line 33: TASK: unbound variable | config",
        "bash: ./a.sh: /bin/bash: bad interpreter: Text file busy | file-system",
        "srun: error: Munge encode failed: Failed to access socket | slurm-refused",
      })
  void aBugOfAScriptIsNoOption(String line, String failure) {
    assertThat(cause("Traceback (most recent call last):\n  File \"a.py\", line 1\n" + line + "\n"))
        .isEqualTo(failure + ":3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-11-23 10:00:00.1: W external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:1] could not find cuda drivers on your machine, GPU will not be used.",
        "'(ReadTimeoutError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Read timed out.\"))' thrown while requesting HEAD https://huggingface.co/gpt2",
      })
  void aRemarkOfALibraryIsNoCause(String line) {
    assertThat(cause(line + "\n")).isEqualTo("none");
  }

  /** A framework checks its arguments; a script that checks its own data is no option. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "/e/lib/python3.12/site-packages/trl/trainer.py | raise ValueError( | ValueError: the steps do not fit | config",
        "/w/axolotl/src/axolotl/cli.py | raise ValueError(f'x') | ValueError: the steps do not fit | config",
        "/w/verl/verl/trainer/main.py | assert n > 0, f'x' | AssertionError: the batch is 0 | config",
        "/w/verl/run.py | raise ValueError( | ValueError: the steps do not fit | python-error",
        "/e/lib/python3.12/site-packages/numpy/core.py | raise ValueError( | ValueError: the steps do not fit | python-error",
        "/e/lib/python3.12/site-packages/trl/trainer.py | n = int(text) | ValueError: the steps do not fit | python-error",
        "/e/lib/python3.12/site-packages/trl/trainer.py | assert a == b | AssertionError | python-error",
        "/e/lib/python3.12/site-packages/trl/trainer.py | raise ValueError( | ValueError: memory leak was detected | python-error",
        "/e/lib/python3.12/site-packages/trl/trainer.py | raise ValueError( | RuntimeError: the steps do not fit | python-error",
      })
  void aFrameworkThatRefusesItsArgumentsIsAnOption(
      String file, String source, String exception, String failure) {
    for (String prefix : List.of("", "[rank3]: ")) {
      for (String begin : List.of("Traceback (most recent call last):\n", "")) {
        LogReading reading =
            read(
                ((begin + "  File \"a.py\", line 9, in <module>\n    main()\n  File \"")
                            + (file + "\", line 3, in f\n    " + source + "\n" + exception))
                        .replaceAll("(?m)^", Matcher.quoteReplacement(prefix))
                    + "\n");

        assertThat(reading.root().map(Finding::failure))
            .as(begin + prefix + exception)
            .hasValue(failure);
        assertThat(reading.root().orElseThrow().sentence()).contains(exception);
      }
    }
  }

  @Test
  void theTracebackOfRichHasItsFramesToo() {
    String log =
        """
        ╭───────────── Traceback (most recent call last) ─────────────╮
        │ /home/u/a.py:9 in <module>                                   │
        │ ❱  9 main()                                                  │
        │ /e/lib/python3.10/site-packages/trl/FILE:282 in              │
        │ check                                                        │
        │ ❱ 282 │   │   │   raise ValueError(                          │
        ╰──────────────────────────────────────────────────────────────╯
        ValueError: the steps do not fit
        """;

    assertThat(cause(log)).isEqualTo("config:8");
    assertThat(cause(log.replace("site-packages/trl", "site-packages/pandas")))
        .isEqualTo("python-error:8");
  }

  /** Slurm's plugin prints the log of a container; it says more than that the plugin failed. */
  @Test
  void theLogOfAContainerIsReadInsideSlurmsLines() {
    assertThat(
            cause(
                """
                slurmstepd: error: pyxis: failed to import docker image
                slurmstepd: error: pyxis: printing enroot log file:
                slurmstepd: error: pyxis:     [INFO] Creating squashfs filesystem...
                slurmstepd: error: pyxis:     Write failed because No space left on device
                slurmstepd: error: pyxis: couldn't start container
                """))
        .isEqualTo("disk-full:4");
  }

  @Test
  void anExceptionIsFoundBehindATime() {
    assertThat(cause("2026-11-23 02:08:36.029 OddError: no such thing\n"))
        .isEqualTo("python-error:1");
    assertThat(cause("finished with 1 Error\n")).isEqualTo("none");
  }
}
